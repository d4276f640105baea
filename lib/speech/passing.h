#ifndef SPEECH_PASSING_H_
#define SPEECH_PASSING_H_

#include <stddef.h>

#include "speech/refusal.h"

/*
 * A model's stream on its way to a caller who speaks its wire: whole events
 * pass, changed only as fill.h says, and what breaks off in mid-event does not.
 * Whether it came to its end is judged as if it were read, because behind a
 * server that knows no length a body that is cut short looks whole.
 */

/* Opaque types. */
struct buf;
struct conf_provider;
struct passing;
struct problem_row;

enum passing_rc {
	PASSING_MORE,  /* Or, at the end: it did not come to its end. */
	PASSING_WHOLE, /* It has ended well. */
	PASSING_TOLD,  /* It says that it failed, as the wire's clients are
			* told. */
	PASSING_FAILED /* It says so in some other way, which is not passed. */
};

/**
 * passing_new(p, model):
 * Return a stream of ${p} whose caller calls the model ${model}, or NULL.
 */
struct passing *passing_new(const struct conf_provider *, const char *);

/**
 * passing_feed(P, p, len, out):
 * Take the next ${len} bytes and append to ${out} what is to be sent.  After
 * PASSING_FAILED nothing more is.
 */
enum passing_rc
passing_feed(struct passing *, const void *, size_t, struct buf *);

/**
 * passing_end(P, cut, out):
 * There are no more bytes; ${cut}: the connection broke off.
 */
enum passing_rc passing_end(struct passing *, int, struct buf *);

/**
 * passing_why(P, why):
 * After PASSING_TOLD or PASSING_FAILED: set ${why} to what the caller is to be
 * told if nothing was sent yet.
 */
void passing_why(const struct passing *, struct refusal *);

/**
 * passing_fail(P, row, message, id, out):
 * Append what ends the stream with an error, as struct writer's fail().  Return
 * 0 or -1.
 */
int passing_fail(struct passing *, const struct problem_row *, const char *,
    const char *, struct buf *);

/**
 * passing_free(P):
 * Free ${P}.  NULL is allowed.
 */
void passing_free(struct passing *);

#endif /* !SPEECH_PASSING_H_ */
