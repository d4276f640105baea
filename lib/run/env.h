#ifndef RUN_ENV_H_
#define RUN_ENV_H_

#include <stddef.h>
#include <stdint.h>

/* What a run may use, and for whom it is. */

/* Opaque types. */
struct arena;
struct caller;
struct conf;
struct db;
struct leases;
struct seats;
struct store;
struct tally;

/* A header for the provider. */
struct run_header {
	const char *name, *value;
};

struct run_env {
	const struct conf *conf;
	struct db *db;
	struct store *store;
	struct tally *tally;   /* NULL: nobody counts. */
	struct leases *leases; /* NULL: a single request, too short for it. */
	struct seats *seats;   /* NULL: nobody's sessions are counted. */
	size_t slot;           /* Of this process among them. */
	const struct caller *caller;
	struct arena *mem;                /* Of this request. */
	const struct run_header *headers; /* Ends with a NULL name; or NULL. */
	int gone_fd;                      /* See struct upstream_call... */
	int (*on_wait)(void *);           /* ...and this too. */
	void *wait_cookie;

	/* The deployment's limits, as policy narrows them. */
	uint64_t max_rounds, exec_timeout_s;
};

/* What a step of a run came to. */
enum run_rc {
	RUN_OK,
	RUN_GONE,   /* The client has left. */
	RUN_REFUSED /* A refusal says why. */
};

#endif /* !RUN_ENV_H_ */
