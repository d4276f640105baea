#ifndef HTTP_FILENAME_H_
#define HTTP_FILENAME_H_

#include <stddef.h>

/*
 * From the name a client sent to the name we show (files-api contract section
 * 7).  Never the name of anything on disk.
 */

/* Opaque type. */
struct buf;

#define FILENAME_MAX_CHARS 255
#define FILENAME_SIZE (4 * FILENAME_MAX_CHARS + 1)

enum filename_rc {
	FILENAME_OK,
	FILENAME_NUL,    /* It holds a NUL. */
	FILENAME_LONG,   /* Over FILENAME_MAX_CHARS characters. */
	FILENAME_STRICT, /* One of < > : " | ? * where that is refused. */
	FILENAME_MEMORY
};

/* The forms a part header gives; NULL where it gives none. */
struct filename_raw {
	const char *plain; /* filename, quotes and \" \\ undone. */
	size_t plain_len;
	const char *ext; /* filename*, undecoded. */
	size_t ext_len;
};

/**
 * filename_form(raw, mime, strict, name):
 * Write the display name for ${raw} to ${name}: filename* if valid, else
 * filename, %22 %0D %0A decoded, made UTF-8, its last component, control
 * characters made '_'; "unnamed" and the extension of ${mime} if nothing is
 * left.  ${strict} refuses < > : " | ? *.
 */
enum filename_rc filename_form(
    const struct filename_raw *, const char *, int, char[static FILENAME_SIZE]);

/**
 * filename_decode(raw, b):
 * Append the whole of what ${raw} says, decoded and made UTF-8, but nothing
 * taken from it; it may hold NULs.  Return 0, or -1 if memory ran out.
 */
int filename_decode(const struct filename_raw *, struct buf *);

/**
 * filename_text(s, len, mime, strict, name):
 * The same for a name that came as plain text, in JSON or from a sandbox:
 * nothing is decoded.
 */
enum filename_rc filename_text(
    const char *, size_t, const char *, int, char[static FILENAME_SIZE]);

#endif /* !HTTP_FILENAME_H_ */
