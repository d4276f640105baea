#ifndef SPEECH_MODEL_DIALECT_H_
#define SPEECH_MODEL_DIALECT_H_

#include <stddef.h>

#include "base/conf.h"
#include "base/jspan.h"

#include "speech/dialect.h"
#include "speech/event.h"

/*
 * One way in which a caller asks a model: how the request is read into a talk,
 * and how the answer's events become what he is sent.
 */

/* Opaque types. */
struct buf;
struct refusal;
struct talk;

/*
 * Takes an answer event by event and puts it in the caller's words.  Each kind
 * of writer begins with one of these.
 *
 * One that streams appends to the buffer given at its birth whatever an event
 * makes him be sent, in whole events of the stream; whoever owns the buffer
 * empties it.  What opens the stream is written with the first event that has
 * something to show, not with EVENT_ROUND, so that an upstream that refuses at
 * once is still answered with a status.
 */
struct writer {
	/* Take one event.  Return 0, or -1 if it cannot go on. */
	int (*event)(struct writer *, const struct event *);

	/* After EVENT_STOP: append what is left to be sent.  A writer that
	 * gathers gives the whole body here.  Return 0 or -1. */
	int (*finish)(struct writer *, struct buf *);

	/* Only of one that streams: append a sign of life, opening the stream
	 * first if need be.  Return 0 or -1. */
	int (*alive)(struct writer *);

	/* Only of one that streams: the answer breaks off here.  Append an
	 * error of that row, message and request id, and what ends the
	 * stream.  Return 0 or -1. */
	int (*fail)(struct writer *, const struct problem_row *, const char *,
	    const char *);

	/* After EVENT_STOP: append the answer as one object, for whoever keeps
	 * it; NULL: answers of this dialect are not kept.  Return 0 or -1. */
	int (*object)(struct writer *, struct buf *);

	/* Send on what has been written; NULL: nothing is kept back.  Not of
	 * the dialects' writers.  Return 0, or -1 once the client has gone. */
	int (*flush)(struct writer *);

	/* Free it. */
	void (*free)(struct writer *);
};

struct model_dialect {
	enum conf_wire wire;           /* The wire that needs no translation. */
	const struct dialect *dialect; /* Its words for errors. */

	/* Read a request (checked by jspan_check()) into a talk whose ours,
	 * quiet and model are set.  Return 0, or -1 with the refusal filled
	 * in. */
	int (*read)(struct jspan, struct talk *, struct refusal *);

	/* Return a writer that gathers the answer for the model named so, or
	 * NULL if memory ran out. */
	struct writer *(*gather)(const struct talk *);

	/* The same, but it streams into that buffer. */
	struct writer *(*stream)(const struct talk *, struct buf *);
};

extern const struct model_dialect model_messages;
extern const struct model_dialect model_responses;
extern const struct model_dialect model_chat;

#endif /* !SPEECH_MODEL_DIALECT_H_ */
