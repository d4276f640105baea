#ifndef JAIL_WORDS_H_
#define JAIL_WORDS_H_

#include <stddef.h>

#include "base/buf.h"

/*
 * A list of texts as one text, for a message: each is its length in decimal,
 * ':', and its bytes.
 */

/**
 * words_put(b, s, len):
 * Append the word of ${len} bytes at ${s}, which holds no NUL.  Return 0, or -1
 * with ${b} spoiled.
 */
int words_put(struct buf *, const char *, size_t);

/**
 * words_read(s, most, n):
 * Read the list ${s}; NULL is an empty one.  Return a NULL-terminated array of
 * its words, to be freed as one piece, with their number in ${n}; or NULL if
 * ${s} is no such list, has more than ${most} words, or memory ran out.
 */
char **words_read(const char *, size_t, size_t *);

#endif /* !JAIL_WORDS_H_ */
