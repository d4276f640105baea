#ifndef SPEECH_WIRE_CHAT_H_
#define SPEECH_WIRE_CHAT_H_

#include "speech/wire.h"

/* The OpenAI chat wire (executor contract 2.1 and 2.2); see struct wire. */

/**
 * wire_chat_write(b, t, r):
 * Write the request of the round ${r} of ${t}.
 */
int wire_chat_write(struct buf *, const struct talk *, const struct round *);

/**
 * wire_chat_read(p, root, fn, cookie):
 * Read the whole answer ${root}.
 */
int
wire_chat_read(const struct conf_provider *, struct jspan, event_fn *, void *);

/**
 * wire_chat_usage(u, root):
 * Take into ${u} what the answer or event ${root} says of tokens.
 */
void wire_chat_usage(struct usage *, struct jspan);

/**
 * wire_chat_stream(p):
 * Return a reader of a streamed answer.
 */
struct wire_reader *wire_chat_stream(const struct conf_provider *);

#endif /* !SPEECH_WIRE_CHAT_H_ */
