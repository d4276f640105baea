#ifndef SPEECH_WIRE_CHAT_CALLS_H_
#define SPEECH_WIRE_CHAT_CALLS_H_

#include "base/jspan.h"

#include "speech/wire.h"

/*
 * The calls of a chat answer, put together from the fragments in which they
 * come.  Servers disagree on what tells one call from the next: an index that
 * rises or is always 0 or not there, an id that comes once, always or never,
 * a name that is repeated (executor contract section 9, rows 25 to 30).  One
 * call at a time is passed on as it comes; what belongs to another waits until
 * the one before it is whole.
 */

/* Opaque types. */
struct buf;
struct chat_call;

#define CHAT_CALLS_MAX 128

struct chat_calls {
	const struct wire_reader *r; /* Where its events go. */
	struct chat_call *first, **end;
	struct chat_call *open; /* Begun and not ended. */
	unsigned int n;
};

/**
 * chat_calls_init(C, r):
 * Begin with no call; the events will go to ${r}'s function.
 */
void chat_calls_init(struct chat_calls *, const struct wire_reader *);

/**
 * chat_calls_take(C, scratch, item, function, whole):
 * Take the fragment ${item}, which says its name and arguments in ${function};
 * with ${whole} it is a call of its own.  ${scratch} is overwritten.
 */
enum wire_rc chat_calls_take(
    struct chat_calls *, struct buf *, struct jspan, struct jspan, int);

/**
 * chat_calls_settle(C):
 * Something else is to follow: end the calls that are whole.
 */
enum wire_rc chat_calls_settle(struct chat_calls *);

/**
 * chat_calls_end(C):
 * The answer is over: end all calls, whole or not.
 */
enum wire_rc chat_calls_end(struct chat_calls *);

/**
 * chat_calls_free(C):
 * Free what ${C} holds.
 */
void chat_calls_free(struct chat_calls *);

#endif /* !SPEECH_WIRE_CHAT_CALLS_H_ */
