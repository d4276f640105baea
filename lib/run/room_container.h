#ifndef RUN_ROOM_CONTAINER_H_
#define RUN_ROOM_CONTAINER_H_

#include "run/env.h"

/*
 * The container behind a room: taken before the session, given back after it.
 * For room.c.
 */

/* Opaque types. */
struct refusal;
struct room;
struct talk;

/**
 * room_now(room):
 * The database's clock, as it stands by ours since the request came.
 */
uint64_t room_now(const struct room *);

/**
 * container_take(room, t, why):
 * Lease the container that ${t} asks for, waiting up to five seconds while
 * somebody else works in it, or make one; tell ${t} of it, and find out whether
 * its session is alive.  RUN_REFUSED: unknown, expired, busy, no database.
 */
enum run_rc container_take(struct room *, struct talk *, struct refusal *);

/**
 * container_restore(room, why):
 * Put all that the container remembers into ${room}'s new session; what cannot
 * be is lost.  RUN_OK, RUN_GONE or RUN_REFUSED (no database).
 */
enum run_rc container_restore(struct room *, struct refusal *);

/**
 * container_give_back(room, answered):
 * End the lease: keep the session for the next request, or drop both if no one
 * will know of them.
 */
void container_give_back(struct room *, int);

#endif /* !RUN_ROOM_CONTAINER_H_ */
