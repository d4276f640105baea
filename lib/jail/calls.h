#ifndef JAIL_CALLS_H_
#define JAIL_CALLS_H_

#include <stddef.h>

#include "base/buf.h"

/*
 * The tool calls that a program asks for: it writes each on a descriptor that
 * it has inherited, as its length (4 bytes, big endian) and so many bytes, and
 * a length of 0 once there are no more.  What the bytes say is not looked at
 * here.
 */

#define CALLS_FD 3
#define CALLS_ONE_MAX (1U << 20) /* Bytes of one, */
#define CALLS_MAX (10U << 20)    /* of all, heads included, */
#define CALLS_COUNT 1000         /* and how many there may be. */

struct calls {
	struct buf raw;     /* All that came. */
	size_t whole;       /* So many bytes of it are whole calls; */
	size_t count;       /* so many calls. */
	int complete;       /* No more will come. */
	const char *broken; /* What is wrong with what came, or NULL. */
};

#define CALLS_INIT                         \
	{                                  \
		.raw = BUF_INIT(CALLS_MAX) \
	}

/**
 * calls_feed(C, p, len):
 * Take the next ${len} bytes that the program wrote.  Return 1 once nothing
 * more is of interest: all calls are there, or ${C} is broken.
 */
int calls_feed(struct calls *, const void *, size_t);

/**
 * calls_end(C):
 * The program writes no more: a call that is not whole breaks ${C}.
 */
void calls_end(struct calls *);

/**
 * calls_next(C, at, len):
 * The whole call at ${at}, which begins as 0 and steps on, and its length; or
 * NULL behind the last.
 */
const char *calls_next(const struct calls *, size_t *, size_t *);

/**
 * calls_free(C):
 * Free what ${C} holds.
 */
void calls_free(struct calls *);

#endif /* !JAIL_CALLS_H_ */
