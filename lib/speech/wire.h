#ifndef SPEECH_WIRE_H_
#define SPEECH_WIRE_H_

#include <stddef.h>
#include <stdint.h>

#include "base/conf.h"
#include "base/jspan.h"

#include "speech/event.h"

/*
 * An upstream's protocol: where it is asked, how a talk is written to it, how
 * its answers read.
 */

/* Opaque types. */
struct buf;
struct refusal;
struct talk;

/* What changes from one round of a turn to the next. */
struct round {
	const struct conf_provider *provider;
	const char *model;   /* The upstream's name for it. */
	uint64_t max_tokens; /* What is left; 0: no limit. */
	int relaxed;         /* Code has run: no call is forced any more. */
	int last;            /* No more calls. */
};

enum wire_rc {
	WIRE_OK,
	WIRE_DONE,    /* The answer is whole; what may follow is nothing. */
	WIRE_CUT,     /* It ends, but is not whole. */
	WIRE_BAD,     /* Not what this wire's servers say. */
	WIRE_STOPPED, /* The function that takes events said so. */
	WIRE_MEMORY
};

/*
 * Reads a streamed answer into events.  Each wire's own begins with one of
 * these; answer.h drives it.
 */
struct wire_reader {
	event_fn *fn; /* Set by answer.c, with its cookie. */
	void *cookie;

	/* Take what the data of one event of the stream says (checked by
	 * jspan_check()), unless it is an error (wire_error()). */
	enum wire_rc (*take)(struct wire_reader *, struct jspan);

	/* The stream is over; ${done}: it said so itself, by WIRE_DONE or
	 * with "[DONE]".  Give the last events, EVENT_STOP among them.
	 * WIRE_OK if the answer was whole. */
	enum wire_rc (*end)(struct wire_reader *, int);

	void (*free)(struct wire_reader *);
};

struct wire {
	enum conf_wire kind;
	const char *name;
	const char *path; /* After the provider's base. */

	/* The header in which its key is sent, and what stands before the
	 * key; and a header line that it must have, or NULL. */
	const char *auth_header, *auth_scheme, *version;

	/* The member without which a JSON answer of status 200 is none. */
	const char *answer;

	/* Write the request of one round, streamed if the talk says so.  Return
	 * 0, or -1 with the buffer spoiled. */
	int (*write)(struct buf *, const struct talk *, const struct round *);

	/* Read a whole JSON answer (checked by jspan_check()) into events.
	 * Return 0; or -1 if it is none, or if the function stopped it. */
	int (*read)(
	    const struct conf_provider *, struct jspan, event_fn *, void *);

	/* Take into the usage, which begins zeroed, what a whole answer or the
	 * data of an event (checked by jspan_check()) says of it. */
	void (*usage)(struct usage *, struct jspan);

	/* Return a reader of a streamed answer, or NULL if memory ran out. */
	struct wire_reader *(*stream)(const struct conf_provider *);
};

/**
 * wire_of(kind):
 * The wire of that ${kind}.  Never NULL.
 */
const struct wire *wire_of(enum conf_wire);

/**
 * wire_refuse(p, status, retry_after, text, len, why):
 * Fill in ${why} for an upstream's answer with an error ${status}, whose body
 * is ${text}: its own words only where they are meant for the caller and give
 * away nothing of the provider ${p} (executor contract 2.6).  Returns -1.
 */
int wire_refuse(const struct conf_provider *, int, const char *, const char *,
    size_t, struct refusal *);

/**
 * wire_seconds(s):
 * The seconds that the Retry-After ${s} (may be NULL) of an upstream asks for;
 * 0 if it does not say.
 */
int wire_seconds(const char *);

#endif /* !SPEECH_WIRE_H_ */
