#ifndef FCGI_LIST_ASK_H_
#define FCGI_LIST_ASK_H_

#include <stddef.h>

#include "data/file.h"

/* What a list of files is asked for, read from the query and judged. */

/* Opaque type. */
struct req;

#define LIST_IDS_MAX 100

struct list_ask {
	size_t limit; /* Never 0. */
	int ascending;
	int backward;        /* The rows before ${pos}, not those after it. */
	int from_pos;        /* ${pos} counts. */
	int nothing;         /* Asked for what there is none of here. */
	const char *purpose; /* NULL = any. */
	struct file_pos pos;
	const char **ids; /* Of ids[], without repeats; NULL = not asked. */
	size_t nids;
};

/**
 * list_ask_read(r, ask):
 * Read ${r}'s query into ${ask}.  Return 0, or -1 after answering.
 */
int list_ask_read(struct req *, struct list_ask *);

#endif /* !FCGI_LIST_ASK_H_ */
