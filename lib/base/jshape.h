#ifndef BASE_JSHAPE_H_
#define BASE_JSHAPE_H_

#include <stddef.h>
#include <stdint.h>

#include "base/jspan.h"

/*
 * A JSON object of a declared shape.  A table has a row for each member: its
 * name, its kind, its bounds and where it goes in a struct; one pass reads an
 * object into the struct or says which member is wrong.  Nothing is converted:
 * "5" is not a number, 1 is not a boolean, 3600.0 is not an integer.
 *
 * A member that is null counts as absent, and an absent one leaves the struct
 * as it is, so that defaults are put there first.
 */

/* Opaque types. */
struct arena;
struct buf;

enum jshape_kind {
	JSHAPE_TEXT,  /* const char *: a string of min to max bytes, no NUL. */
	JSHAPE_BYTES, /* struct jspan: the same, but it may hold NULs. */
	JSHAPE_BOOL,  /* int */
	JSHAPE_U64,   /* uint64_t: an integer of min to max. */
	JSHAPE_U64_CLAMP, /* The same, but brought to the nearer bound. */
	JSHAPE_OBJECT,    /* struct jspan, a part of the text. */
	JSHAPE_ARRAY      /* struct jspan, a part of the text. */
};

/* Flags of a row. */
#define JSHAPE_REQUIRED 1

struct jshape {
	const char *name;
	enum jshape_kind kind;
	size_t at; /* offsetof() in the struct. */
	unsigned int flags;
	uint64_t min, max;
	const char *want; /* What would be right; NULL: kind and bounds say. */
};

enum jshape_rc {
	JSHAPE_OK,
	JSHAPE_ABSENT,   /* A required member is not there, or is null. */
	JSHAPE_TYPE,     /* A member has another type. */
	JSHAPE_RANGE,    /* A member has the type but not the bounds. */
	JSHAPE_REPEATED, /* A member of the table appears twice. */
	JSHAPE_UNKNOWN,  /* With ${strict}: a member that has no row. */
	JSHAPE_MEMORY
};

/* What was wrong. */
struct jshape_fault {
	const struct jshape *row; /* NULL with JSHAPE_UNKNOWN and _MEMORY. */
	struct jspan key;         /* With JSHAPE_UNKNOWN: with its quotes. */
};

/**
 * jshape_read(mem, o, rows, n, strict, out, fault):
 * Read the object ${o}, of a text that passed jspan_check(), into the struct at
 * ${out} by the ${n} rows at ${rows} (at most 64), its strings into ${mem}.  A
 * member without a row is an error if ${strict}, else it is ignored.  Unless
 * JSHAPE_OK, ${fault} says what was wrong and the struct may be filled in part.
 */
enum jshape_rc jshape_read(struct arena *, struct jspan, const struct jshape *,
    size_t, int, void *, struct jshape_fault *);

/**
 * jshape_want(b, row):
 * Append what a member must be: "a whole number from 1 to 25".  Return 0, or -1
 * with ${b} spoiled.
 */
int jshape_want(struct buf *, const struct jshape *);

#endif /* !BASE_JSHAPE_H_ */
