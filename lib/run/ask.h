#ifndef RUN_ASK_H_
#define RUN_ASK_H_

#include <stddef.h>
#include <stdint.h>

#include "io/upstream.h"
#include "speech/wire.h"
#include "run/env.h"

/* Asking a provider: its address, its credential, its ways of failing. */

/* Opaque types. */
struct refusal;
struct talk;

#define ASK_HEADERS 8
#define ASK_ERROR_MAX 65536 /* Of an error's body that is looked at. */
#define ASK_WORDS 200       /* Of an answer's words that are logged. */

/* What the log is told of an answer that is none. */
struct ask_heard {
	uint64_t since; /* clock_ms() when it was asked for. */
	int status;
	char words[ASK_WORDS + 1]; /* The last that came. */
};

/* The address and the headers of a request to a provider. */
struct ask_head {
	char *base;                    /* Freed by ask_head_free(). */
	char *header[ASK_HEADERS + 1]; /* Likewise. */
	size_t n;
};

/**
 * ask_head_new(h, p):
 * Fill in ${h} for a JSON request to ${p}: address, type and credential.
 * Return 0, or -1 if memory ran out.  ask_head_free() must follow.
 */
int ask_head_new(struct ask_head *, const struct conf_provider *);

/**
 * ask_head_add(h, name, value):
 * Add a header, in place of one of that name.  Return 0, or -1 if memory ran
 * out or there are too many.
 */
int ask_head_add(struct ask_head *, const char *, const char *);

/**
 * ask_head_more(h, more):
 * Add the headers ${more} (NULL: none), which ends with a NULL name.  Return as
 * ask_head_add().
 */
int ask_head_more(struct ask_head *, const struct run_header *);

/**
 * ask_head_free(h):
 * Free what ${h} holds.
 */
void ask_head_free(struct ask_head *);

/**
 * ask_failed(rc, why):
 * Fill in ${why} for an exchange that came to ${rc}, which is not UPSTREAM_OK.
 * Return RUN_REFUSED; or RUN_GONE if it was the client.
 */
enum run_rc ask_failed(enum upstream_rc, struct refusal *);

/**
 * ask_hear(h, p, len):
 * Keep the beginning of the ${len} bytes at ${p}, in place of what was kept.
 */
void ask_hear(struct ask_heard *, const void *, size_t);

/**
 * ask_log(p, path, h):
 * Log, as a warning, that ${p} has answered with an error at ${path}.
 */
void
ask_log(const struct conf_provider *, const char *, const struct ask_heard *);

/* Where an answer goes as it comes. */
struct ask_sink {
	event_fn *fn;

	/* Send on what the events so far made; NULL: nothing is kept back.
	 * Return 0, or -1 once the caller's client has gone. */
	int (*flush)(void *);
	void *cookie; /* Of both. */
};

/**
 * ask_round(env, p, t, r, total_ms, sink, why):
 * Ask ${p} for the round ${r} of ${t}, for at most ${total_ms}, and give
 * EVENT_ROUND and its answer's events to ${sink}.
 */
enum run_rc ask_round(const struct run_env *, const struct conf_provider *,
    const struct talk *, const struct round *, uint64_t,
    const struct ask_sink *, struct refusal *);

#endif /* !RUN_ASK_H_ */
