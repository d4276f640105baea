#ifndef SPEECH_MESSAGES_BLOCK_H_
#define SPEECH_MESSAGES_BLOCK_H_

#include "speech/event.h"

/* JSON of the Messages dialect that a gathered and a streamed answer share. */

/* Opaque types. */
struct buf;
struct outcome;

/**
 * messages_put_result(b, id, o):
 * Append the block that shows the outcome ${o} of our call ${id} (executor
 * contract 5.1).  Return 0, or -1 with ${b} spoiled.
 */
int messages_put_result(struct buf *, const char *, const struct outcome *);

/**
 * messages_put_usage(b, u):
 * Append the usage object.
 */
int messages_put_usage(struct buf *, const struct usage *);

/**
 * messages_stop_reason(s):
 * The vendor's word for ${s}.
 */
const char *messages_stop_reason(enum stop);

#endif /* !SPEECH_MESSAGES_BLOCK_H_ */
