#ifndef SPEECH_RESPONSES_ITEM_H_
#define SPEECH_RESPONSES_ITEM_H_

#include <stdint.h>

#include "base/buf.h"

#include "speech/cite.h"
#include "speech/event.h"
#include "speech/talk.h"

/*
 * JSON of the Responses dialect: the items of an answer and the object around
 * them, the same whether the answer is gathered or streamed.
 */

enum item_kind {
	ITEM_MESSAGE,
	ITEM_REASONING,
	ITEM_FUNCTION,
	ITEM_CUSTOM, /* A function whose argument is a text. */
	ITEM_RUN
};

enum item_status { ITEM_OPEN, ITEM_DONE, ITEM_CUT, ITEM_FAILED };

/* One item of the answer. */
struct item {
	struct item *next;
	enum item_kind kind;
	enum item_status status;
	char id[TALK_IDMAX + 1];
	const char *call_id, *name; /* FUNCTION, CUSTOM */
	struct buf body;        /* Text, arguments, input or code, so far. */
	struct buf json;        /* All of it, once it is done. */
	struct buf annotations; /* MESSAGE: with commas between. */
	struct buf outputs;     /* RUN: a list, or empty for none. */
	size_t cited;           /* MESSAGE: annotations. */
	uint64_t index;
};

/**
 * item_prefix(kind):
 * What begins an id of this ${kind}.
 */
const char *item_prefix(enum item_kind);

/**
 * item_id_bare(id):
 * What follows the prefix of an item of ours in ${id}: RESPONSE_IDLEN of
 * [0-9a-z], whose first RESPONSE_SEEDLEN are those of the answer that it is in.
 * NULL if ${id} has not that form.
 */
const char *item_id_bare(const char *);

/**
 * item_put(b, it, t):
 * Append ${it} as it stands.  One that is open is shown empty.  Return 0, or -1
 * with ${b} spoiled.
 */
int item_put(struct buf *, const struct item *, const struct talk *);

/**
 * item_put_part(b, it):
 * Append the one part of content that ${it}, a message or reasoning, has.
 */
int item_put_part(struct buf *, const struct item *);

/**
 * item_put_citation(b, c, x, t):
 * Append the annotation that cites ${c} in the message's text ${x}.
 */
int item_put_citation(
    struct buf *, const struct cited *, struct text, const struct talk *);

/**
 * item_put_outputs(b, o, t):
 * Append the list of what came of a run.
 */
int item_put_outputs(struct buf *, const struct outcome *, const struct talk *);

/* What of an answer is not in the talk. */
struct response {
	const char *id;     /* Without its prefix. */
	const char *status; /* The vendor's word. */
	const char *reason; /* Of one that is incomplete; NULL. */
	const char *error_code, *error_message; /* Of one that failed; NULL. */
	const struct buf *items;                /* With commas between. */
	const struct usage *usage;              /* NULL: not known yet. */
};

/**
 * response_put(b, r, t):
 * Append the object.
 */
int response_put(struct buf *, const struct response *, const struct talk *);

#endif /* !SPEECH_RESPONSES_ITEM_H_ */
