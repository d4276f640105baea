#ifndef RUN_HEARD_H_
#define RUN_HEARD_H_

#include "base/buf.h"

#include "speech/args.h"
#include "speech/event.h"

#include "run/our_call.h"

/*
 * What a model said in one round: its text is passed on to the writer as it
 * comes, its calls are kept back until the round is over.  Where the answer is
 * streamed, the caller's own calls are passed on too, and the first of ours if
 * its arguments begin as they should; the others are shown as they are run, so
 * that each stands with its result.
 */

/* Opaque types. */
struct arena;
struct outcome;
struct talk;
struct writer;

/* Whose a call is. */
enum whose {
	WHOSE_CALLER,
	WHOSE_OURS,
	WHOSE_NOBODY, /* No such function. */
	WHOSE_DROPPED /* Broken off by the token limit, or not allowed. */
};

struct heard_call {
	struct heard_call *next;
	const char *id;   /* Towards the upstream, and a caller's own. */
	const char *name; /* As the model said it. */
	struct text args; /* An object if they were meant to be one. */
	int bare;         /* It had none. */
	enum whose whose;
	struct call call;  /* Of ours. */
	const char *shown; /* The id under which the caller has been shown it
			    * already; NULL: he has not. */
	const struct outcome *outcome; /* Once it has run. */
};

/* How the call under way is passed on, if the talk is streamed. */
enum live { LIVE_NOT, LIVE_SOON, LIVE_NOW };

struct heard {
	struct arena *mem;
	struct talk *talk;
	struct writer *writer;

	struct buf text; /* Said in this round. */
	struct buf thought;
	struct buf args;                       /* Of the call under way... */
	struct args way;                       /* ...and where in them it is. */
	struct heard_call *first, **end, *now; /* now: NULL between calls. */
	enum live live;
	int last;          /* No call of ours is allowed. */
	int cut;           /* By heard_cut(). */
	uint64_t estimate; /* Tokens of the request. */
	struct usage usage;
	enum stop stop;
	struct text sequence;
};

/**
 * heard_init(h, talk, writer, last):
 * Begin a round, in which with ${last} no call of ours is allowed.
 * heard_free() must follow.
 */
void heard_init(struct heard *, struct talk *, struct writer *, int);

/**
 * heard_event(h, ev):
 * An event_fn that takes the round's events.
 */
int heard_event(void *, const struct event *);

/**
 * heard_flush(h):
 * Send on what the events so far made.  Return 0, or -1 once the client has
 * gone.
 */
int heard_flush(void *);

/**
 * heard_cut(h):
 * No more of the round will come: end the call that is under way, as if the
 * token limit had broken it off.  Return 1; 0 if nothing at all has come; or -1
 * if memory ran out.
 */
int heard_cut(struct heard *);

/**
 * heard_sort(h, max_tokens):
 * The round is over: find whose each call is.  ${max_tokens} is what the
 * upstream was allowed (0: no limit).  Return 0, or -1 if memory ran out.
 */
int heard_sort(struct heard *, uint64_t);

/**
 * heard_count(h, whose):
 * How many calls are of that kind.
 */
unsigned int heard_count(const struct heard *, enum whose);

/**
 * heard_free(h):
 * Free what ${h} holds besides the arena's.
 */
void heard_free(struct heard *);

#endif /* !RUN_HEARD_H_ */
