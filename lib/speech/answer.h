#ifndef SPEECH_ANSWER_H_
#define SPEECH_ANSWER_H_

#include <stddef.h>

#include "speech/event.h"

/*
 * An upstream's answer with status 200 as its bytes come: a stream of events,
 * or one JSON text, whichever the server sends, asked for or not.  Both become
 * the same events (struct event).
 */

/* Opaque types. */
struct answer;
struct conf_provider;
struct refusal;

enum answer_rc {
	ANSWER_MORE,
	ANSWER_DONE,  /* It is whole; what may follow is nothing. */
	ANSWER_FAILED /* answer_end() tells why. */
};

/**
 * answer_new(p, fn, cookie):
 * Return a reader of an answer of ${p} that calls ${fn}(${cookie}, ...) for
 * each event, or NULL if memory ran out.
 */
struct answer *answer_new(const struct conf_provider *, event_fn *, void *);

/**
 * answer_feed(A, p, len):
 * Read the next ${len} bytes.  Nothing is read any more after ANSWER_DONE or
 * ANSWER_FAILED.
 */
enum answer_rc answer_feed(struct answer *, const void *, size_t);

/* What a caller is told whose provider sent HTML with status 200. */
#define ANSWER_PAGE                                       \
	"The model provider answered with a web page in " \
	"place of an answer."

/**
 * answer_end(A, cut, why):
 * There are no more bytes; ${cut}: the connection broke off.  Give the last
 * events and return 0; or -1 with ${why} filled in (its kind is P_SERVER if
 * ${fn} stopped it).
 */
int answer_end(struct answer *, int, struct refusal *);

/**
 * answer_free(A):
 * Free ${A}.  NULL is allowed.
 */
void answer_free(struct answer *);

#endif /* !SPEECH_ANSWER_H_ */
