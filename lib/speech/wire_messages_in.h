#ifndef SPEECH_WIRE_MESSAGES_IN_H_
#define SPEECH_WIRE_MESSAGES_IN_H_

#include "base/jspan.h"

#include "speech/event.h"

/*
 * What the two readers of the Messages wire, of a whole answer and of a stream,
 * share.
 */

/* Opaque type. */
struct emit;

/**
 * wire_messages_block(e, v):
 * Emit the whole block ${v}; nothing if it is of a kind that no model of ours
 * is asked for.  Return as emit_text().
 */
int wire_messages_block(struct emit *, struct jspan);

/**
 * wire_messages_stop(why):
 * What the "stop_reason" ${why} means.
 */
enum stop wire_messages_stop(struct jspan);

#endif /* !SPEECH_WIRE_MESSAGES_IN_H_ */
