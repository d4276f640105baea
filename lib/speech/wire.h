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
struct arena;
struct buf;
struct refusal;
struct talk;

/* What changes from one round of a turn to the next. */
struct round {
	const char *model;   /* The upstream's name for it. */
	uint64_t max_tokens; /* What is left; 0: no limit. */
	int relaxed;         /* Code has run: no call is forced any more. */
	int last;            /* No more calls. */
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

	/* Write the request of one round; NULL: not built yet.  Return 0, or
	 * -1 with the buffer spoiled. */
	int (*write)(struct buf *, const struct talk *, const struct round *);

	/* Read a whole JSON answer (checked by jspan_check()) into events.
	 * Return 0; or -1 if it is none, or if the function stopped it. */
	int (*read)(struct arena *, struct jspan, event_fn *, void *);
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

#endif /* !SPEECH_WIRE_H_ */
