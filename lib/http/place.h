#ifndef HTTP_PLACE_H_
#define HTTP_PLACE_H_

#include <stddef.h>

/*
 * Where a file goes in a run's working directory: a relative path with slashes,
 * of LibreChat's routes (librechat contract 8.3).  Names keep every character
 * but those that could lead out or deceive.
 */

/* Opaque type. */
struct filename_raw;

#define PLACE_CHARS 256
#define PLACE_SIZE (4 * PLACE_CHARS + 1)
#define PLACE_LEVELS 10
#define PLACE_NAME 255 /* Bytes of one segment, as file systems have it. */

/**
 * place_ok(s, len):
 * Are the ${len} bytes at ${s} a place: 1 to PLACE_CHARS characters of UTF-8
 * without control characters or backslashes, at most PLACE_LEVELS segments,
 * none of them empty, hidden, "." or "..", or over PLACE_NAME bytes; and no
 * drive letter?
 */
int place_ok(const char *, size_t);

/**
 * place_form(raw, mime, place):
 * Write the place that the names ${raw} of a form's part ask for; one that
 * is not safe becomes its last component made safe.  Return 0, or -1 if memory
 * ran out.
 */
int
place_form(const struct filename_raw *, const char *, char[static PLACE_SIZE]);

/**
 * place_base(place):
 * The last segment of ${place}, inside it.
 */
const char *place_base(const char *);

#endif /* !HTTP_PLACE_H_ */
