#ifndef FCGI_CREW_H_
#define FCGI_CREW_H_

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "base/turns.h"

/*
 * The threads that answer: started when none looks for requests any more, and
 * ended when they have had nothing to do for a while.  A machine that gives no
 * more of them is asked again soon; those that are there go on meanwhile.
 *
 * Everything but crew_join() happens with the front's lock held.
 */

/* A thread. */
struct hand {
	struct turn turn;
	void *cookie;
	pthread_t thread;
	enum { HAND_FREE, HAND_HERE, HAND_GONE } state;
};

struct crew {
	size_t max;  /* Threads at most... */
	size_t most; /* ...and for now, as far as the machine gives them. */
	size_t n;    /* There are. */
	const char *setting;
	void *(*run)(void *); /* Given its hand. */
	struct hand *hands;   /* Of max. */
	size_t gone;          /* Of these, to be joined. */
	uint64_t not_before;  /* ms: when to ask the machine again. */
	uint64_t told_ms;
};

/**
 * crew_open(c, max, run, cookie):
 * Begin with no thread; there shall be at most ${max}, which call ${run} with
 * their hand, whose cookie is ${cookie}.  Return 0, or -1 if memory ran out.
 */
int crew_open(struct crew *, size_t, void *(*)(void *), void *);

/**
 * crew_close(c):
 * Give back what crew_open() took, once all have been joined.
 */
void crew_close(struct crew *);

/**
 * crew_wanted(c, T):
 * Does nobody look for requests, while one more thread could?
 */
int crew_wanted(const struct crew *, const struct turns *);

/**
 * crew_grow(c, T, fresh, ms):
 * It is now ${ms}: start threads until one looks for requests, and one more for
 * each of ${fresh} connections.  Return the milliseconds until the next call,
 * or -1 if none is needed until something changes.
 */
int crew_grow(struct crew *, struct turns *, size_t, uint64_t);

/**
 * crew_leave(c, T, hand):
 * ${hand} has had nothing to do for long.  Return non-zero if its thread is to
 * end, which it then must at once.
 */
int crew_leave(struct crew *, struct turns *, struct hand *);

/**
 * crew_join(c):
 * Wait until all have ended.
 */
void crew_join(struct crew *);

#endif /* !FCGI_CREW_H_ */
