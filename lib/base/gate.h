#ifndef BASE_GATE_H_
#define BASE_GATE_H_

#include <stddef.h>
#include <stdint.h>

/*
 * A number of places that a process's threads share out among those they work
 * for.  Nobody takes more who holds twice the places that are free, so that one
 * alone leaves a third of them to others, two of them a fifth, and so on; the
 * same goes for waiting, which happens in turn.
 */

/* Opaque type. */
struct gate;

enum gate_rc {
	GATE_NOTHING,
	GATE_PLACE,
	GATE_QUICK, /* No place, but leave to read what must come soon. */
	GATE_SHARE, /* Nothing: this one has its share. */
	GATE_FULL   /* Nothing: there is no more. */
};

struct gate_size {
	size_t threads; /* That use it; each for one at a time. */
	size_t places;
	size_t quick; /* Leaves besides the places. */
	size_t queue; /* Threads that may wait at once. */
};

/**
 * gate_new(size):
 * A gate of that ${size}, or NULL if memory ran out.
 */
struct gate *gate_new(const struct gate_size *);

/**
 * gate_free(g):
 * Free ${g}, which nobody may be using.  NULL is allowed.
 */
void gate_free(struct gate *);

/**
 * gate_enter(g, who, n, wait_s):
 * Take ${n} places (all there are if that is more) for ${who}, after waiting up
 * to ${wait_s} seconds if need be.  Return GATE_PLACE, GATE_SHARE or GATE_FULL.
 */
enum gate_rc gate_enter(struct gate *, uint64_t, size_t, uint64_t);

/**
 * gate_slip_in(g, who):
 * Take one place without a wait.  Return GATE_PLACE, GATE_QUICK or GATE_FULL.
 */
enum gate_rc gate_slip_in(struct gate *, uint64_t);

/**
 * gate_leave(g, who, n, held):
 * Give back what was returned for ${n} places (a leave to be quick: 1), if
 * anything was.
 */
void gate_leave(struct gate *, uint64_t, size_t, enum gate_rc);

#endif /* !BASE_GATE_H_ */
