#ifndef SPEECH_WIRE_RESPONSES_H_
#define SPEECH_WIRE_RESPONSES_H_

#include "speech/wire.h"

/* The OpenAI Responses wire; see struct wire. */

/**
 * wire_responses_write(b, t, r):
 * Write the request of the round ${r} of ${t}.
 */
int
wire_responses_write(struct buf *, const struct talk *, const struct round *);

/**
 * wire_responses_read(p, root, fn, cookie):
 * Read the whole answer ${root}.
 */
int wire_responses_read(
    const struct conf_provider *, struct jspan, event_fn *, void *);

/**
 * wire_responses_usage(u, root):
 * Take into ${u} what the answer or event ${root} says of tokens.
 */
void wire_responses_usage(struct usage *, struct jspan);

/**
 * wire_responses_stream(p):
 * Return a reader of a streamed answer of ${p}.
 */
struct wire_reader *wire_responses_stream(const struct conf_provider *);

#endif /* !SPEECH_WIRE_RESPONSES_H_ */
