#ifndef RUN_SEATS_H_
#define RUN_SEATS_H_

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/*
 * How many sessions each user has that belong to no container: those in which
 * documents are read, and those of LibreChat's programs, whose requests have no
 * time to ask the database.  All processes of a pool count together, in memory
 * that they share.
 */

/* Opaque type. */
struct seats;

/* One of them; lives with its holder, and is nobody's while all 0. */
struct seat {
	_Atomic uint64_t *user;
};

/**
 * seats_new(slots):
 * Return seats, all free, that ${slots} processes forked from now on share, or
 * NULL after logging why not.
 */
struct seats *seats_new(size_t);

/**
 * seat_take(S, slot, user, most, seat):
 * Take ${seat} for ${user} (not 0) in the process ${slot}.  Return 0; or -1 if
 * they have ${most} already.  With NULL for ${S} nobody is counted.  Safe from
 * any thread.
 */
int seat_take(struct seats *, size_t, uint64_t, uint64_t, struct seat *);

/**
 * seats_of(S, user):
 * How many seats has ${user}?  0 with NULL for ${S}.
 */
uint64_t seats_of(const struct seats *, uint64_t);

/**
 * seat_leave(seat):
 * Free ${seat}, unless it is nobody's.
 */
void seat_leave(struct seat *);

/**
 * seats_gone(S, slot):
 * The process ${slot} has ended: what it had taken is free.
 */
void seats_gone(struct seats *, size_t);

#endif /* !RUN_SEATS_H_ */
