#ifndef BASE_ENDS_H_
#define BASE_ENDS_H_

#include <stddef.h>
#include <stdint.h>

/*
 * A text that is too long is told by its two ends, with a line between them
 * that says how many bytes are missing.  A text that has such a line may be cut
 * again, and its new line counts what both leave out.
 */

/* Opaque type. */
struct buf;

/* Where a text's middle is missing. */
struct gap {
	uint64_t bytes; /* So many; 0: it is whole. */
	size_t at;      /* The line begins there, */
	size_t line;    /* and is so long. */
};

/* Two ends of a text. */
struct ends {
	const char *head, *tail;
	size_t nhead, ntail;
	uint64_t between; /* Bytes that are missing between them. */
};

/**
 * ends_join(b, e, g):
 * Append ${e} to ${b}, with the line if anything is missing, and tell in ${g},
 * counted from what ${b} had, where it is.  Return 0 or -1.
 */
int ends_join(struct buf *, const struct ends *, struct gap *);

/**
 * ends_put(b, s, len, was, max, g):
 * Append to ${b} the ${len} bytes of UTF-8 at ${s}, of which ${was} is missing;
 * if they are more than ${max}, only the first and the last half of that, whole
 * characters.  ${g} as ends_join() tells it; it may be NULL.  Return 0 or -1.
 */
int ends_put(struct buf *, const char *, size_t, const struct gap *, size_t,
    struct gap *);

/**
 * ends_find(s, len, g):
 * Where a line of ends_put() is in ${s}, a text of ours that has been away: the
 * one nearest to the middle.
 */
void ends_find(const char *, size_t, struct gap *);

#endif /* !BASE_ENDS_H_ */
