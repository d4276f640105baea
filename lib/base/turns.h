#ifndef BASE_TURNS_H_
#define BASE_TURNS_H_

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/*
 * How many of a pool's threads look for requests, or have just begun one, at
 * once.  Whoever is done with a request keeps its turn and looks for the next,
 * which then needs no thread to be woken; the others sleep.  A request that is
 * not over soon gives up its turn, so that it never keeps others waiting.
 *
 * Everything here happens with one lock of the caller's held.
 */

#define TURNS_MS 5 /* How often turns_tick() is due. */

/* One thread's. */
struct turn {
	pthread_cond_t given;
	struct turn *next; /* Who sleeps below us. */
	uint32_t gen;      /* When our request was begun. */
	int held;
};

struct turns {
	size_t spare;       /* Turns that nobody has. */
	size_t looking;     /* Those of threads that look for a request, */
	size_t young;       /* that began one since the last tick, */
	size_t old;         /* that began one before it. */
	uint32_t gen;       /* Ticks so far. */
	uint64_t next_ms;   /* When the next is due. */
	unsigned int tense; /* So many ticks are still wanted. */
	int over;
	struct turn *sleeping; /* The last to come first: it is warmest. */
};

/**
 * turns_init(T, n):
 * There shall be ${n} turns.
 */
void turns_init(struct turns *, size_t);

/**
 * turns_take(T, turn, lock, ms):
 * Sleep until ${turn} is held, for ${ms} milliseconds at most, giving up
 * ${lock} meanwhile.  Return 0, or -1 if it is not held by then, or after
 * turns_over().
 */
int turns_take(struct turns *, struct turn *, pthread_mutex_t *, uint64_t);

/**
 * turns_hire(T, turn):
 * Have ${turn} held if there is one that nobody has: its thread, which is yet
 * to be started, looks for a request.  Return 0, or -1 if there is none.
 */
int turns_hire(struct turns *, struct turn *);

/**
 * turns_leave(T, turn):
 * Its thread, which holds ${turn}, looks for requests no more.
 */
void turns_leave(struct turns *, struct turn *);

/**
 * turns_begin(T, turn):
 * Its thread has found a request.  Return non-zero if turns_tick() must be
 * called from now on, which was not so before.
 */
int turns_begin(struct turns *, struct turn *);

/**
 * turns_yield(T, turn):
 * The request will take its time: let somebody else have ${turn}.
 */
void turns_yield(struct turns *, struct turn *);

/**
 * turns_done(T, turn):
 * The request is over.  ${turn} may not be held any more.
 */
void turns_done(struct turns *, struct turn *);

/**
 * turns_tick(T, ms):
 * It is now ${ms}: have those sleep no longer whose turns are held up by
 * requests that take their time.  Return the ms until the next call, or -1 if
 * none is needed for now.
 */
int turns_tick(struct turns *, uint64_t);

/**
 * turns_over(T):
 * Wake everybody, and let nobody sleep any more.
 */
void turns_over(struct turns *);

#endif /* !BASE_TURNS_H_ */
