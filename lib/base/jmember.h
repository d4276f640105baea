#ifndef BASE_JMEMBER_H_
#define BASE_JMEMBER_H_

#include <stddef.h>
#include <stdint.h>

/*
 * The string that a JSON object has under one key, decoded while the object is
 * still coming in pieces.  Broken JSON gives what came before the break.
 */

/* Opaque type. */
struct buf;

/* Begins zeroed but for its key.  jmember.c's own. */
struct jmember {
	const char *key; /* Without escapes, at most 31 bytes. */
	int state;
	int inside;          /* The string under way is the member's. */
	int escape;          /* Within an escape: 1, or 1 + digits to come. */
	unsigned int depth;  /* Objects and arrays that are open. */
	uint32_t unit, high; /* A \u escape, and half a pair before it. */
	char name[32];
	size_t len; /* Of the key under way. */
};

/**
 * jmember_feed(J, p, len, out):
 * Read the next ${len} bytes and append what they add to the string to ${out}.
 * Return 0, or -1 with ${out} spoiled.
 */
int jmember_feed(struct jmember *, const char *, size_t, struct buf *);

#endif /* !BASE_JMEMBER_H_ */
