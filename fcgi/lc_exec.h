#ifndef FCGI_LC_EXEC_H_
#define FCGI_LC_EXEC_H_

#include <stddef.h>
#include <stdint.h>

#include <json.h>

#include "run/exec.h"

/*
 * What a run and a round of a program that calls tools share: the request's
 * members, the environment of a run, what a run came to in the client's words.
 */

/* Opaque types. */
struct refusal;
struct req;

/**
 * lc_code(r, o, code):
 * The member "code" of ${o}.  Return 0, or -1 after answering.
 */
int lc_code(struct req *, json_object *, const char **);

/**
 * lc_timeout(r, o, s):
 * Set ${s} to the seconds that the member "timeout", milliseconds, asks for,
 * within what the deployment allows.  Return 0, or -1 after answering.
 */
int lc_timeout(struct req *, json_object *, uint64_t *);

/**
 * lc_env(r, env):
 * The environment of a run for the caller.
 */
void lc_env(struct req *, struct run_env *);

/**
 * lc_refused(r, why):
 * Answer for a run that could not be.  Returns as reply_json().
 */
int lc_refused(struct req *, const struct refusal *);

/**
 * lc_put_text(o, key, p, len):
 * Put the ${len} bytes a program printed under the literal ${key} of ${o}, made
 * clean.  Return 0 or -1.
 */
int lc_put_text(json_object *, const char *, const char *, size_t);

/**
 * lc_cause(x, s, size):
 * Write to ${s} the line that says why the program of ${x} ended, where nothing
 * it printed can say so; "" where nothing needs to be said.
 */
void lc_cause(const struct exec *, char *, size_t);

/**
 * lc_put_outcome(r, x, o):
 * Put the files of ${x}, those that were deleted, and what could not be kept
 * into ${o}.  Return 0 or -1.
 */
int lc_put_outcome(struct req *, const struct exec *, json_object *);

#endif /* !FCGI_LC_EXEC_H_ */
