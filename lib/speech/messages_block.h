#ifndef SPEECH_MESSAGES_BLOCK_H_
#define SPEECH_MESSAGES_BLOCK_H_

#include "speech/event.h"

/* JSON of the Messages dialect that a gathered and a streamed answer share. */

/* Opaque types. */
struct buf;
struct outcome;
struct talk_container;

/**
 * messages_put_result(b, id, o):
 * Append the block that shows the outcome ${o} of our call ${id} (executor
 * contract 5.1).  Return 0, or -1 with ${b} spoiled.
 */
int messages_put_result(struct buf *, const char *, const struct outcome *);

/**
 * messages_put_caller(b, ev):
 * Append the object that says who made the call ${ev}.
 */
int messages_put_caller(struct buf *, const struct event *);

/**
 * messages_put_usage(b, u):
 * Append the usage object.
 */
int messages_put_usage(struct buf *, const struct usage *);

/**
 * messages_put_delta_usage(b, u):
 * Append the smaller one that ends a stream.
 */
int messages_put_delta_usage(struct buf *, const struct usage *);

/**
 * messages_put_container(b, c):
 * Append the container object, null for NULL.
 */
int messages_put_container(struct buf *, const struct talk_container *);

/**
 * messages_stop_reason(s):
 * The vendor's word for ${s}.
 */
const char *messages_stop_reason(enum stop);

#endif /* !SPEECH_MESSAGES_BLOCK_H_ */
