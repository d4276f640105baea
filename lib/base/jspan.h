#ifndef BASE_JSPAN_H_
#define BASE_JSPAN_H_

#include <stddef.h>

/*
 * JSON as the bytes it was sent as.  json-c reduces big integers, respells
 * escapes and hides repeated keys; whoever must pass a text on untouched, or
 * judge what it really says, finds the spans of its values here and replaces
 * only those.  jspan_check() comes first; every other function takes spans of a
 * text that passed it.
 */

#define JSPAN_DEPTH_MAX 512

/* Opaque type. */
struct buf;

/* Bytes of somebody else's text. */
struct jspan {
	const char *p;
	size_t len;
};

enum jspan_rc {
	JSPAN_OK,
	JSPAN_SYNTAX, /* Not one RFC 8259 text in UTF-8. */
	JSPAN_DEPTH   /* Nested too deep. */
};

/* What jspan_check() saw. */
struct jspan_info {
	struct jspan root;   /* The value, without the space around it. */
	size_t values;       /* At all levels, the root too. */
	const char *nul_key; /* The first key that holds \u0000, or NULL. */
	size_t at;           /* Unless JSPAN_OK: the offset of the error. */
};

/**
 * jspan_check(text, len, depth, info):
 * Check that the ${len} bytes at ${text} are one JSON value, nothing after it
 * but space, nested at most ${depth} deep (itself at most JSPAN_DEPTH_MAX), and
 * fill in ${info}.  Uses a fixed amount of stack.
 */
enum jspan_rc
jspan_check(const char *, size_t, unsigned int, struct jspan_info *);

/* A walk through one array or object. */
struct jspan_iter {
	const char *p, *end;
	int object;
};

/**
 * jspan_iter(it, v):
 * Begin a walk through ${v}.  Return 0, or -1 if it is neither an array nor an
 * object.
 */
int jspan_iter(struct jspan_iter *, struct jspan);

/**
 * jspan_next(it, key, v):
 * Step to the next element: set ${v}, and in an object ${key} to the key with
 * its quotes (${key} may be NULL).  Return 1, or 0 at the end.
 */
int jspan_next(struct jspan_iter *, struct jspan *, struct jspan *);

/**
 * jspan_step(it, key), jspan_value(it, v):
 * The halves of jspan_next(): step to the first byte of the next element, which
 * is it->p; and set ${v} to the value there and step behind it.  Whoever goes
 * down into a value begins a walk of his own at it->p + 1 that may go on to
 * it->end, and then sets it->p behind the bracket where that walk has ended; no
 * byte is then looked at more than once, however deep it lies.
 */
int jspan_step(struct jspan_iter *, struct jspan *);
void jspan_value(struct jspan_iter *, struct jspan *);

/**
 * jspan_is(v, s):
 * Is ${v} a string that, its escapes decoded, equals ${s}?
 */
int jspan_is(struct jspan, const char *);

/**
 * jspan_get(o, key, v):
 * Find the member ${key} of the object ${o} by its decoded name and set ${v}
 * (the last one's if there are several).  Return how many there are; 0 too if
 * ${o} is no object.
 */
size_t jspan_get(struct jspan, const char *, struct jspan *);

/**
 * jspan_repeated(v):
 * Does an object in ${v}, at any level, have a key twice, however spelled?
 * Return 1 or 0, or -1 if memory ran out.
 */
int jspan_repeated(struct jspan);

/**
 * jspan_str(b, v):
 * Append the string ${v} with its escapes decoded; half a surrogate pair gives
 * U+FFFD.  Return 0; or -1 if ${v} is no string, or with ${b} spoiled.
 */
int jspan_str(struct buf *, struct jspan);

/* Put ${text} in place of the bytes of ${at}. */
struct jspan_edit {
	struct jspan at;
	struct jspan text;
};

/**
 * jspan_splice(b, whole, edits, n):
 * Append ${whole} with the ${n} edits made, which must lie within it in rising
 * order without overlap.  Return 0, or -1 with ${b} spoiled.
 */
int jspan_splice(struct buf *, struct jspan, const struct jspan_edit *, size_t);

#endif /* !BASE_JSPAN_H_ */
