#ifndef FCGI_MODEL_INLINE_H_
#define FCGI_MODEL_INLINE_H_

#include <stddef.h>

#include "base/jspan.h"

/*
 * The changes that a request undergoes on its way to a provider who speaks its
 * caller's own protocol: the model's name, and the files that only we have.
 */

/* Opaque types. */
struct arena;
struct model_req;

struct edits {
	struct jspan_edit *list;
	size_t n, room;
	uint64_t added; /* Bytes of their texts. */
};

/**
 * edits_add(m, e, at, text, len):
 * Put a copy of the ${len} bytes at ${text} in the place of ${at}.  Return 0,
 * or -1 with ${m}->why filled in.
 */
int edits_add(
    struct model_req *, struct edits *, struct jspan, const char *, size_t);

/**
 * edits_sort(e):
 * Put them in the order that jspan_splice() wants; one inside another goes.
 */
void edits_sort(struct edits *);

/**
 * model_inline(m, e):
 * Add to ${e} what gives the provider of ${m} the stored files it names.
 * Return 0, or -1 with ${m}->why filled in, or 1 if the client has gone.
 */
int model_inline(struct model_req *, struct edits *);

/**
 * model_unecho(m, e):
 * Add to ${e} what puts the runs and ids that ${m}'s history has from this
 * gateway into words that its provider understands.  Return 0, or -1
 * with ${m}->why filled in.
 */
int model_unecho(struct model_req *, struct edits *);

#endif /* !FCGI_MODEL_INLINE_H_ */
