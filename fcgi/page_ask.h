#ifndef FCGI_PAGE_ASK_H_
#define FCGI_PAGE_ASK_H_

#include <stddef.h>

/* What a list other than that of files is asked for. */

/* Opaque type. */
struct req;

struct page_ask {
	size_t limit; /* Never 0. */
	int ascending;
	const char *after; /* As it was sent; NULL = from the end. */
};

/**
 * page_ask_read(r, def, most, ask):
 * Read limit, order and after of ${r}'s query; ${def} and ${most} are the
 * limit's default and maximum.  Return 0, or -1 after answering.
 */
int page_ask_read(struct req *, size_t, size_t, struct page_ask *);

#endif /* !FCGI_PAGE_ASK_H_ */
