#ifndef SPEECH_PAGE_H_
#define SPEECH_PAGE_H_

#include "data/file.h"

/*
 * Page tokens: a place in a list and the list's direction, as text that a
 * caller only hands back.  A token carries the place itself, so it outlives the
 * row it was made from; it is not secret, for whose files are listed comes from
 * the key alone.
 */

#define PAGE_TOKENMAX 256 /* A token and its NUL. */

/**
 * page_write(pos, ascending, out):
 * Write the token of the place ${pos} in a list of this direction.
 */
void page_write(const struct file_pos *, int, char[static PAGE_TOKENMAX]);

/**
 * page_read(s, pos, ascending):
 * Read the token ${s}.  Return 0; or -1, with ${pos} and ${ascending}
 * untouched, for anything that page_write() of this version does not write.
 */
int page_read(const char *, struct file_pos *, int *);

#endif /* !SPEECH_PAGE_H_ */
