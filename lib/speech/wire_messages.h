#ifndef SPEECH_WIRE_MESSAGES_H_
#define SPEECH_WIRE_MESSAGES_H_

#include "speech/wire.h"

/* The Anthropic Messages wire; see struct wire. */

/**
 * wire_messages_write(b, t, r):
 * Write the request of the round ${r} of ${t}.
 */
int
wire_messages_write(struct buf *, const struct talk *, const struct round *);

/**
 * wire_messages_read(p, root, fn, cookie):
 * Read the whole answer ${root}.
 */
int wire_messages_read(
    const struct conf_provider *, struct jspan, event_fn *, void *);

/**
 * wire_messages_usage(u, root):
 * Take into ${u} what the answer or event ${root} says of tokens.
 */
void wire_messages_usage(struct usage *, struct jspan);

/**
 * wire_messages_stream(p):
 * Return a reader of a streamed answer of ${p}.
 */
struct wire_reader *wire_messages_stream(const struct conf_provider *);

#endif /* !SPEECH_WIRE_MESSAGES_H_ */
