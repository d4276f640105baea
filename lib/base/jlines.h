#ifndef BASE_JLINES_H_
#define BASE_JLINES_H_

#include <stddef.h>

/*
 * U+0085, U+2028 and U+2029 in JSON.  They may stand in a string as they are,
 * but clients that split text by Unicode's rules take them for the ends of
 * lines; so all JSON and all event streams of ours have them escaped.  In a
 * JSON text they can stand nowhere but in a string.
 */

/* Opaque type. */
struct buf;

/**
 * jlines_has(p, len):
 * Are there any in the ${len} bytes at ${p}?
 */
int jlines_has(const char *, size_t);

/**
 * jlines_put(b, p, len):
 * Append the ${len} bytes of JSON text at ${p} with them escaped.  Return 0, or
 * -1 with ${b} spoiled.
 */
int jlines_put(struct buf *, const char *, size_t);

/**
 * jlines_mend(b):
 * Escape them in ${b}.  Return 0 or -1.
 */
int jlines_mend(struct buf *);

#endif /* !BASE_JLINES_H_ */
