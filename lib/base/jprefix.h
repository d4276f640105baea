#ifndef BASE_JPREFIX_H_
#define BASE_JPREFIX_H_

#include <stddef.h>

/*
 * The beginning of a JSON object, as it comes in pieces: how far it is still
 * one, whether it is whole, and what would make it whole.  The bytes are taken
 * to be UTF-8, its code points not cut in two at the end.
 */

#define JPREFIX_DEPTH 128

/* Opaque type. */
struct buf;

/* Begins zeroed.  jprefix.c's own. */
struct jprefix {
	int state;
	int stuck;         /* A byte did not fit. */
	int key;           /* The string under way is a key. */
	unsigned int left; /* Digits of the escape under way. */
	const char *rest;  /* Of the literal under way. */
	unsigned int depth;
	unsigned char array[JPREFIX_DEPTH / 8]; /* A bit a level. */
};

/**
 * jprefix_feed(J, p, len):
 * Read the next ${len} bytes.  Return how many of them still belong to an
 * object of at most JPREFIX_DEPTH levels, space around it included; once this
 * is less than ${len}, it is 0 for ever.
 */
size_t jprefix_feed(struct jprefix *, const char *, size_t);

/**
 * jprefix_whole(J):
 * Were all bytes so far one object and space?
 */
int jprefix_whole(const struct jprefix *);

/**
 * jprefix_close(J, b):
 * Append what makes an object of the bytes that were accepted, which is nothing
 * if they are one.  Return 0, or -1 with ${b} spoiled.
 */
int jprefix_close(const struct jprefix *, struct buf *);

#endif /* !BASE_JPREFIX_H_ */
