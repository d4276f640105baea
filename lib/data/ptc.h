#ifndef DATA_PTC_H_
#define DATA_PTC_H_

#include <stddef.h>
#include <stdint.h>

#include "data/rc.h"

/*
 * Programs that call their caller's tools, between two rounds (librechat
 * contract 10.4 and 10.8): what is to be run, which calls it has made and what
 * they came to.  Only who has claimed a run may go on with it; a claim lapses,
 * so that a worker that died does not hold it for ever.
 */

/* Opaque types. */
struct arena;
struct db;

#define PTC_TOKEN_RANDOM 64 /* Hex digits after "pt_". */
#define PTC_TOKEN_SIZE (PTC_TOKEN_RANDOM + 4)
#define PTC_TTL_S 3600 /* From the end of a round on. */

enum ptc_state { PTC_WAITING, PTC_RUNNING, PTC_DONE };

struct ptc_run {
	uint64_t id;
	enum ptc_state state;
	uint64_t calls;   /* Made so far... */
	uint64_t pending; /* ...of which so many, the last, have no result. */
	uint64_t bytes;   /* Of all results. */
	uint64_t busy_until;
	const char *session;
	const char *request;  /* JSON. */
	const char *answered; /* SHA-256 of the results of the last round. */
	const char *answer;   /* JSON: what it came to, or NULL. */
};

struct ptc_call {
	uint64_t number; /* From 1. */
	const char *tool, *input;
	const char *result; /* JSON; NULL: none yet. */
	int is_error;       /* The result is a text. */
};

/**
 * ptc_token(token):
 * Make a new token.  Return 0 or -1.
 */
int ptc_token(char[static PTC_TOKEN_SIZE]);

/**
 * ptc_begin(db, owner, token, r, call, n, now):
 * Keep the new run ${r} (session, request and answer) of ${owner}, which waits
 * for the ${n} calls ${call}.
 */
enum data_rc ptc_begin(struct db *, const struct owner *, const char *,
    const struct ptc_run *, const struct ptc_call *, size_t, uint64_t);

/**
 * ptc_find(db, mem, owner, token, now, r):
 * Look up a run.  DATA_NONE also if it has expired or is another owner's.
 */
enum data_rc ptc_find(struct db *, struct arena *, const struct owner *,
    const char *, uint64_t, struct ptc_run *);

/**
 * ptc_pending(db, mem, r, call, n):
 * Set ${call} to the ${n} calls of ${r} without a result.
 */
enum data_rc ptc_pending(struct db *, struct arena *, const struct ptc_run *,
    struct ptc_call **, size_t *);

/**
 * ptc_claim(db, r, answered, call, n, bytes, until, now):
 * Begin the next round of ${r} until ${until}: store the results of the ${n}
 * calls ${call}, ${bytes} in all, whose hash is ${answered}.  DATA_STATE if
 * somebody else has begun it.
 */
enum data_rc ptc_claim(struct db *, const struct ptc_run *, const char *,
    const struct ptc_call *, size_t, uint64_t, uint64_t, uint64_t);

/**
 * ptc_each(db, r, fn, cookie):
 * Call ${fn}(${cookie}, call) for every call of ${r} in order; ${call} lives
 * only during it.  It returns 0, or -1 to stop, which is DATA_FAIL.
 */
enum data_rc ptc_each(struct db *, const struct ptc_run *,
    int (*)(void *, const struct ptc_call *), void *);

/**
 * ptc_ask(db, r, call, n, answer, now):
 * The round of the claimed ${r} has ended with the ${n} new calls ${call}.
 */
enum data_rc ptc_ask(struct db *, const struct ptc_run *,
    const struct ptc_call *, size_t, const char *, uint64_t);

/**
 * ptc_end(db, r, answer, now):
 * The claimed ${r} is over.
 */
enum data_rc
ptc_end(struct db *, const struct ptc_run *, const char *, uint64_t);

/**
 * ptc_release(db, r):
 * Give up the claim on ${r}: its round may be run again with the same results.
 */
void ptc_release(struct db *, const struct ptc_run *);

/* --- runs that may be cancelled --- */

enum request_state { REQUEST_RUNNING, REQUEST_DONE, REQUEST_CANCELLED };

#define REQUEST_ID_LEN 36

/**
 * request_id_ok(s):
 * Is ${s} a UUID?
 */
int request_id_ok(const char *);

/**
 * request_begin(db, owner, id, now):
 * A run of the request ${id} begins.  DATA_OK; DATA_STATE if it has been
 * cancelled before; DATA_TAKEN if the id is in use.
 */
enum data_rc
request_begin(struct db *, const struct owner *, const char *, uint64_t);

/**
 * request_sandbox(db, id, session):
 * It runs in the sandbox's ${session}.  DATA_STATE: it has been cancelled.
 */
enum data_rc request_sandbox(struct db *, const char *, const char *);

/**
 * request_end(db, id):
 * It is over.  Return whether it had been cancelled.
 */
int request_end(struct db *, const char *);

/**
 * request_cancel(db, mem, owner, id, now, state, session):
 * Cancel the request ${id}, which may not have come yet.  DATA_OK with ${state}
 * as it was and, if it was running, its sandbox's ${session}, which may be "";
 * DATA_TAKEN if it is another owner's.
 */
enum data_rc request_cancel(struct db *, struct arena *, const struct owner *,
    const char *, uint64_t, enum request_state *, const char **);

#endif /* !DATA_PTC_H_ */
