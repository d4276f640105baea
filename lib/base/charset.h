#ifndef BASE_CHARSET_H_
#define BASE_CHARSET_H_

#include <stddef.h>

/*
 * The encoding of a text, and the text in UTF-8.  Nothing is guessed from how
 * often a letter occurs: a byte order mark decides, else the bytes are UTF-8 if
 * they are valid as that, else what is declared counts, else windows-1252.
 */

/* Opaque type. */
struct buf;

#define CHARSET_SIZE 64 /* Of a name with its NUL. */

enum charset_rc {
	CHARSET_SURE, /* Marked, valid or declared. */
	CHARSET_REST, /* Nothing else was left. */
	CHARSET_NONE  /* The same, and it holds what no text holds. */
};

/**
 * charset_of(mime, p, len, whole, name):
 * Write the ${name} of the encoding of a text of type ${mime} (NULL: unknown),
 * which may declare one as its parameter, as XML and HTML may near their start.
 * Unless the ${len} bytes at ${p} are the ${whole} text, they may end within a
 * code point.
 */
enum charset_rc
charset_of(const char *, const char *, size_t, int, char[static CHARSET_SIZE]);

/**
 * charset_put(b, name, p, len, max, used):
 * Append the text at ${p} as UTF-8 without a byte order mark, each broken piece
 * as U+FFFD: as much of it as makes ${max} bytes (more only of broken UTF-8).
 * Set ${used} to how many of the ${len} bytes that is.  Return 0 or -1.
 */
int
charset_put(struct buf *, const char *, const char *, size_t, size_t, size_t *);

#endif /* !BASE_CHARSET_H_ */
