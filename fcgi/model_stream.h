#ifndef FCGI_MODEL_STREAM_H_
#define FCGI_MODEL_STREAM_H_

#include "base/buf.h"

#include "speech/model_dialect.h"

/*
 * A streamed answer on its way to the client: a writer that passes events to
 * the dialect's, and sends what that one made.  The answer begins with its
 * first byte, so that until then any status can be given.
 */

/* Opaque types. */
struct refusal;
struct req;

struct model_stream {
	struct writer w; /* First: what the turn loop is given. */
	struct writer *inner;
	struct req *r;
	struct buf out;
	uint64_t last; /* clock_ms() when something was last sent. */
};

/**
 * model_stream_begin(s, r, d, t):
 * Prepare ${s} for the answer to ${t} in the dialect ${d}.  Return 0; or -1 if
 * memory ran out.  model_stream_end() must follow.
 */
int model_stream_begin(struct model_stream *, struct req *,
    const struct model_dialect *, const struct talk *);

/**
 * model_stream_wait(s):
 * A upstream_wait_fn: send a sign of life if the client has long heard nothing.
 */
int model_stream_wait(void *);

/**
 * model_stream_finish(s):
 * The turn is over; send what is left.  Returns as a handler.
 */
int model_stream_finish(struct model_stream *);

/**
 * model_stream_fail(s, why):
 * The answer has begun but cannot go on: say so in the stream and end it.
 * Returns as a handler.
 */
int model_stream_fail(struct model_stream *, const struct refusal *);

/**
 * model_stream_end(s):
 * Free what ${s} holds.
 */
void model_stream_end(struct model_stream *);

#endif /* !FCGI_MODEL_STREAM_H_ */
