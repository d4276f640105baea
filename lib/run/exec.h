#ifndef RUN_EXEC_H_
#define RUN_EXEC_H_

#include <stddef.h>
#include <stdint.h>

#include "data/lc.h"
#include "io/blob.h"
#include "io/sandbox_client.h"
#include "run/env.h"
#include "run/room.h"

/*
 * A program run for LibreChat (librechat contract sections 6 to 8): a sandbox
 * session of its own, the inputs placed where the request says, one run, and
 * what it made kept as objects of a new storage session.
 *
 *	exec_open	-> a session with the inputs in it
 *	exec_run	-> the program has ended, however
 *	exec_keep	-> what it made is stored
 *	exec_close	-> the session is gone, always; exec_leave() where
 *			   nobody is to wait for that
 */

/* Opaque type. */
struct refusal;

/* A file that the request mounts. */
struct exec_input {
	struct lc_object o;
	const char *place; /* In the working directory. */

	/* Found by exec_keep(). */
	int changed, deleted;
};

/* A file that the run made. */
struct exec_output {
	const char *place;
	const struct sandbox_change *change;
	const struct exec_input *from; /* The input it was, or NULL. */
	struct lc_new *made;           /* NULL: it was not stored. */

	/* exec's own. */
	char key[BLOB_KEYLEN + 1]; /* Of its blob, */
	uint64_t row;              /* and the row that holds it. */
};

/* Why files were left out; each is a reason of the answer. */
enum exec_skip {
	EXEC_SKIP_COUNT,
	EXEC_SKIP_SIZE,
	EXEC_SKIP_DEPTH,
	EXEC_SKIP_NAME,
	EXEC_SKIPS
};
#define EXEC_SKIPPED_MAX 20 /* Of the paths that are told. */

struct exec {
	/* Set by the caller; the rest 0. */
	const struct run_env *env;
	struct sandbox_program program; /* Without inputs. */
	struct exec_input *input;
	size_t ninputs;

	/* Found. */
	struct sandbox_ran ran;
	char session[LC_IDLEN + 1]; /* Names the execution. */
	struct exec_output *output;
	size_t noutputs;
	size_t attempted, failed; /* Outputs to be stored; not stored. */
	size_t skipped[EXEC_SKIPS], nskipped;
	const char *skipped_path[EXEC_SKIPPED_MAX];

	/* exec's own. */
	struct room room;
	struct lc_new *made;
	size_t nmade;
};

/**
 * exec_open(x, why):
 * Start a session and place the inputs.  RUN_OK; RUN_REFUSED; RUN_GONE.
 * Whatever the outcome, exec_close() or exec_leave() must follow.
 */
enum run_rc exec_open(struct exec *, struct refusal *);

/**
 * exec_run(x, why):
 * Run the program in the open session.  RUN_OK with ${x}->ran, whatever came of
 * it; RUN_REFUSED, also for a language that the sandbox does not have;
 * RUN_GONE.
 */
enum run_rc exec_run(struct exec *, struct refusal *);

/**
 * exec_keep(x, why):
 * Store what the run made, all of it or what the limits allow.  RUN_REFUSED
 * only if the database failed, and then nothing is kept.
 */
enum run_rc exec_keep(struct exec *, struct refusal *);

/**
 * exec_close(x):
 * End the session.
 */
void exec_close(struct exec *);

/**
 * exec_leave(x):
 * Leave the session of ${x}, for exec_end() to end once the client has been
 * answered; ${x} and all that it points to may go before that.  Return what to
 * give to exec_end(), or NULL if nothing is left to end.
 */
void *exec_leave(struct exec *);
void exec_end(void *);

#endif /* !RUN_EXEC_H_ */
