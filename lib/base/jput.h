#ifndef BASE_JPUT_H_
#define BASE_JPUT_H_

#include <stddef.h>

/* JSON written straight into a buffer, without a tree in between. */

/* Opaque type. */
struct buf;

/**
 * jput_chars(b, s, len):
 * Append the ${len} bytes of UTF-8 at ${s} as they stand inside a JSON string,
 * without quotes.  A text may be cut anywhere and put in pieces.  Return 0, or
 * -1 with ${b} spoiled.
 */
int jput_chars(struct buf *, const char *, size_t);

/**
 * jput_text(b, s, len), jput_str(b, s):
 * Append a whole JSON string; jput_str() takes a NUL-terminated one, and writes
 * null for NULL.  Return 0 or -1.
 */
int jput_text(struct buf *, const char *, size_t);
int jput_str(struct buf *, const char *);

#endif /* !BASE_JPUT_H_ */
