#ifndef SPEECH_PICK_H_
#define SPEECH_PICK_H_

#include <stdint.h>

#include "base/jspan.h"

#include "speech/text.h"

/* Values out of JSON text that jspan_check() has passed. */

/* Opaque types. */
struct arena;
struct buf;

/**
 * pick_text(mem, v, x):
 * Set ${x} to the decoded string ${v}: where it holds no escape, the bytes of
 * ${v} themselves, else a copy in ${mem}.  Return 0; -1 if ${v} is no string;
 * or -2 if memory ran out.
 */
int pick_text(struct arena *, struct jspan, struct text *);

/**
 * pick_decoded(b, v, x):
 * As pick_text(), but a string with escapes is decoded into ${b}, in place of
 * what is there.
 */
int pick_decoded(struct buf *, struct jspan, struct text *);

/**
 * pick_member(o, key):
 * The member ${key} of ${o}; null if there is none, or ${o} is no object.
 */
struct jspan pick_member(struct jspan, const char *);

/**
 * pick_str(mem, v):
 * The decoded string ${v} in ${mem}, NUL-terminated; NULL if it is none, holds
 * a NUL, or memory ran out.
 */
const char *pick_str(struct arena *, struct jspan);

/**
 * pick_u64(v, x):
 * Set ${x} to the whole number ${v}.  Return 0; or -1 if it is none, negative,
 * or past UINT64_MAX.
 */
int pick_u64(struct jspan, uint64_t *);

/**
 * pick_tokens(v, x):
 * Set ${x} to the number ${v} of tokens that a provider says it counted.
 * Return 0; or -1, with ${x} as it was, if it is no whole number, or past what
 * anybody's tokens come to: a million such must add up without overflow.
 */
#define TOKENS_MAX (UINT64_C(1) << 40)
int pick_tokens(struct jspan, uint64_t *);

/**
 * pick_is(v, c):
 * Is ${v} of the type whose first byte is ${c}: '{', '[', '"', 'n' (null), 't'
 * (true), 'f' (false)?
 */
int pick_is(struct jspan, char);

#endif /* !SPEECH_PICK_H_ */
