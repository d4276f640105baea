#ifndef FCGI_LC_PTC_H_
#define FCGI_LC_PTC_H_

#include <stddef.h>

#include <json.h>

#include "run/ptc.h"

/* Programs that call tools, as LibreChat's client speaks of them. */

/* Opaque type. */
struct req;

#define LC_PTC_FAILED "Execution failed or timed out"

/* A request of the route. */
struct lc_ptc {
	struct req *r;
	struct run_env env;
	struct ptc_round round;
	const char *request_id; /* It may be cancelled by that; or NULL. */

	char token[PTC_TOKEN_SIZE];
	struct ptc_run run; /* id 0: not stored yet. */
};

/**
 * lc_ptc_setup(p, o):
 * Make of the JSON object ${o}, a request's or one that was stored, the round
 * that it asks for.  Return 0, or -1 after answering.
 */
int lc_ptc_setup(struct lc_ptc *, json_object *);

/**
 * lc_ptc_go(p):
 * Run the round and answer with what it came to.  Returns as a handler.
 */
int lc_ptc_go(struct lc_ptc *);

/**
 * lc_ptc_continue(p, o):
 * Answer the continuation ${o}.  Returns as a handler.
 */
int lc_ptc_continue(struct lc_ptc *, json_object *);

/**
 * lc_ptc_error(r, error, detail, session):
 * Answer 200 with an error that the client understands; ${session} may be NULL.
 * Returns as reply_json().
 */
int lc_ptc_error(struct req *, const char *, const char *, const char *);

#endif /* !FCGI_LC_PTC_H_ */
