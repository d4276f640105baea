#ifndef SPEECH_WIRE_RESPONSES_IN_H_
#define SPEECH_WIRE_RESPONSES_IN_H_

#include "base/jspan.h"

/*
 * What the two readers of the Responses wire, of a whole answer and of a
 * stream, share.  All return as emit_text().
 */

/* Opaque type. */
struct emit;

/**
 * wire_responses_item(e, v), wire_responses_items(e, list):
 * Emit the whole item ${v}, or all of the ${list}; nothing for an item of a
 * kind that no model of ours is asked for.  A ${list} that is none is -1.
 */
int wire_responses_item(struct emit *, struct jspan);
int wire_responses_items(struct emit *, struct jspan);

/**
 * wire_responses_end(e, root):
 * Emit how the answer, the response object ${root}, ends.
 */
int wire_responses_end(struct emit *, struct jspan);

#endif /* !SPEECH_WIRE_RESPONSES_IN_H_ */
