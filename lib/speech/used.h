#ifndef SPEECH_USED_H_
#define SPEECH_USED_H_

#include <stddef.h>

#include "speech/event.h"

/*
 * The tokens that an answer says it took, noticed as it is passed on untouched:
 * of a stream the events that speak of them are read, of one JSON text that
 * member.  A provider that does not say leaves them unknown.
 */

/* Opaque types. */
struct used;
struct wire;

/**
 * used_new(w, stream):
 * Return a watch over an answer of ${w}, an event ${stream} or one JSON text;
 * or NULL if memory ran out.
 */
struct used *used_new(const struct wire *, int);

/**
 * used_see(U, p, len):
 * The next ${len} bytes of the answer.  Never fails: what cannot be read is not
 * noticed.
 */
void used_see(struct used *, const void *, size_t);

/**
 * used_end(U, u):
 * Set ${u} to what was noticed.
 */
void used_end(struct used *, struct usage *);

/**
 * used_free(U):
 * Free ${U}.  NULL is allowed.
 */
void used_free(struct used *);

#endif /* !SPEECH_USED_H_ */
