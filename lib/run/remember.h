#ifndef RUN_REMEMBER_H_
#define RUN_REMEMBER_H_

#include <stdint.h>

#include "speech/text.h"

#include "run/env.h"

/*
 * What came of calls of ours, kept for the requests to come: common clients
 * drop a result they do not know, and some callers are never shown it.
 */

/* Opaque types. */
struct call;
struct outcome;

/**
 * remember_put(env, container, id, nth, c, o):
 * Keep the outcome ${o} of the call ${c}, run in ${container} (bare id, or
 * NULL), under the ${id} and ${nth}.  A failure is logged and costs no more
 * than the memory of it.
 */
void remember_put(const struct run_env *, const char *, const char *, uint64_t,
    const struct call *, const struct outcome *);

/**
 * remember_find(env, id, nth, c, o):
 * Find what was kept under that and is the caller's own; ${c} may be NULL.
 * Return 1 with ${c} and ${o} filled in (in ${env}->mem), 0 if there is none,
 * or -1 if nobody knows.
 */
int remember_find(const struct run_env *, const char *, uint64_t, struct call *,
    struct outcome *);

#endif /* !RUN_REMEMBER_H_ */
