#ifndef IO_DB_POOL_H_
#define IO_DB_POOL_H_

#include <stddef.h>
#include <stdint.h>

/*
 * A bounded pool of things that are worth keeping.  It knows how many there may
 * be and which are idle; making and ending them is its user's business.
 */

/* Opaque type. */
struct db_pool;

/**
 * db_pool_new(max):
 * Return a pool of at most ${max} things, none made yet, or NULL.
 */
struct db_pool *db_pool_new(size_t);

/**
 * db_pool_take(P, ms, thing):
 * Wait at most ${ms} for a turn.  Return 0 with ${thing} the one put back last,
 * or NULL if the taker must make one himself; or -1 if none came free.  A turn
 * ends with db_pool_put().
 */
int db_pool_take(struct db_pool *, uint64_t, void **);

/**
 * db_pool_put(P, thing):
 * Give a turn back, and ${thing} with it unless it is NULL.  Return 0, or -1 if
 * ${thing} is the caller's to end.
 */
int db_pool_put(struct db_pool *, void *);

/**
 * db_pool_retire(P):
 * Keep nothing that is put back from now on.
 */
void db_pool_retire(struct db_pool *);

/**
 * db_pool_idle(P):
 * Take out and return an idle thing, or NULL if there is none.  For the end,
 * and after db_pool_retire().
 */
void *db_pool_idle(struct db_pool *);

/**
 * db_pool_free(P):
 * Free ${P}, from which all idle things have been taken.  NULL is allowed.
 */
void db_pool_free(struct db_pool *);

#endif /* !IO_DB_POOL_H_ */
