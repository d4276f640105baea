#ifndef RUN_HEARD_H_
#define RUN_HEARD_H_

#include "base/buf.h"

#include "speech/event.h"

#include "run/our_call.h"

/*
 * What a model said in one round: its text is passed on to the writer as it
 * comes, its calls are kept back until the round is over.
 */

/* Opaque types. */
struct arena;
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
	struct text args;
	enum whose whose;
	struct call call; /* Of ours. */
};

struct heard {
	struct arena *mem;
	struct talk *talk;
	struct writer *writer;

	struct buf text; /* Said in this round. */
	struct buf args; /* Of the call under way. */
	struct heard_call *first, **end, *now;
	struct usage usage;
	enum stop stop;
	struct text sequence;
};

/**
 * heard_init(h, talk, writer):
 * Begin a round.  heard_free() must follow.
 */
void heard_init(struct heard *, struct talk *, struct writer *);

/**
 * heard_event(h, ev):
 * An event_fn that takes the round's events.
 */
int heard_event(void *, const struct event *);

/**
 * heard_sort(h, max_tokens, last):
 * The round is over: find whose each call is.  ${max_tokens} is what the
 * upstream was allowed (0: no limit); with ${last} no call of ours is.  Return
 * 0, or -1 if memory ran out.
 */
int heard_sort(struct heard *, uint64_t, int);

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
