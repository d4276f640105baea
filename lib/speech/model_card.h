#ifndef SPEECH_MODEL_CARD_H_
#define SPEECH_MODEL_CARD_H_

#include <stddef.h>
#include <stdint.h>

/* What a caller is told of a model, in each dialect. */

/* Opaque types. */
struct buf;
struct dialect;

struct model_card {
	const char *id;                 /* What a caller asks for. */
	const char *name;               /* To be shown; NULL: the id. */
	uint64_t created;               /* Seconds since 1970; 0: not known. */
	uint64_t max_input, max_output; /* Tokens; 0: not known. */
};

/**
 * model_card_put(b, d, card):
 * Append the object of one model.  Return 0 or -1.
 */
int
model_card_put(struct buf *, const struct dialect *, const struct model_card *);

/**
 * model_cards_put(b, d, cards, n, has_more):
 * Append a list of ${n} models, one page of more where ${has_more}.  Return 0
 * or -1.
 */
int model_cards_put(struct buf *, const struct dialect *,
    const struct model_card *, size_t, int);

#endif /* !SPEECH_MODEL_CARD_H_ */
