#ifndef BASE_JCATCH_H_
#define BASE_JCATCH_H_

#include <stddef.h>

/*
 * The object that a JSON object has under one key, as the bytes it was sent as,
 * caught while the whole is still coming in pieces; nothing else of it is kept.
 * What is caught is to be checked: broken JSON may give anything.
 */

/* Opaque type. */
struct buf;

/* Begins zeroed but for its key.  jcatch.c's own. */
struct jcatch {
	const char *key; /* Without escapes. */
	int state;
	int string, escape; /* Within one; after a backslash in it. */
	size_t depth;       /* Objects and arrays that are open. */
	size_t len, same;   /* Of the key under way, and as much as fits. */
};

/**
 * jcatch_feed(J, p, len, out):
 * Read the next ${len} bytes and append what they hold of the object to ${out}.
 * Return 1 once it is whole or can no longer come, 0 until then; or -1 with
 * ${out} spoiled.
 */
int jcatch_feed(struct jcatch *, const char *, size_t, struct buf *);

#endif /* !BASE_JCATCH_H_ */
