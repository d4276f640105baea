#ifndef RUN_LEASES_H_
#define RUN_LEASES_H_

#include <stdint.h>

/*
 * The leases on containers that the requests of a process hold, renewed by one
 * thread for all of them for as long as there are any: a worker that dies lets
 * go of its containers within CONTAINER_LEASE_MS, one that waits for a slow
 * model does not.
 */

/* Opaque types. */
struct db;
struct leases;

/* One of them; lives with its holder. */
struct lease {
	struct lease *next, *prev;
	uint64_t row, token;
};

/**
 * leases_new(db):
 * Return an empty set, or NULL after logging why not.  Its thread is started
 * by the first that is held.
 */
struct leases *leases_new(struct db *);

/**
 * leases_hold(L, l):
 * Renew ${l}, of which row and token are set, from now on.  ${L} may be NULL.
 */
void leases_hold(struct leases *, struct lease *);

/**
 * leases_let(L, l):
 * Renew ${l} no more.  One that is not held is left alone.
 */
void leases_let(struct leases *, struct lease *);

/**
 * leases_free(L):
 * End the thread and free ${L}, of which none may be held.  NULL is allowed.
 */
void leases_free(struct leases *);

#endif /* !RUN_LEASES_H_ */
