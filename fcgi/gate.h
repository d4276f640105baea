#ifndef FCGI_GATE_H_
#define FCGI_GATE_H_

#include <stddef.h>
#include <stdint.h>

/*
 * Who of a process's threads may be inside a body at once: three quarters of
 * them, while a few more wait for a place.  Nobody may hold more than twice the
 * places that are free, so that one user leaves a third of them to others, two
 * of them a fifth, and so on; the same goes for waiting.
 */

/* Opaque type. */
struct gate;

enum gate_rc {
	GATE_NOTHING,
	GATE_PLACE,
	GATE_QUICK, /* No place, but leave to read what must come soon. */
	GATE_SHARE, /* Nothing: this user has his share. */
	GATE_FULL   /* Nothing: there is no more. */
};

/**
 * gate_new(threads):
 * The gate of a process with that many threads, or NULL if memory ran out.
 */
struct gate *gate_new(size_t);

/**
 * gate_free(g):
 * Free ${g}, which nobody may be using.  NULL is allowed.
 */
void gate_free(struct gate *);

/**
 * gate_enter(g, who):
 * Take a place for the user ${who}, after five seconds of waiting if need be.
 * Return GATE_PLACE, GATE_SHARE or GATE_FULL.
 */
enum gate_rc gate_enter(struct gate *, uint64_t);

/**
 * gate_slip_in(g, who):
 * The same without a wait.  Return GATE_PLACE, GATE_QUICK or GATE_FULL.
 */
enum gate_rc gate_slip_in(struct gate *, uint64_t);

/**
 * gate_leave(g, who, held):
 * Give back what was returned, if that was a place or the leave to be quick.
 */
void gate_leave(struct gate *, uint64_t, enum gate_rc);

#endif /* !FCGI_GATE_H_ */
