#ifndef RUN_COLLECT_H_
#define RUN_COLLECT_H_

#include <stddef.h>

#include "io/sandbox_client.h"
#include "run/env.h"

/* Opaque type. */
struct outcome;

/*
 * What a run wrote, on its way into the store (executor contract 7.2): streamed
 * through a bound, one row and one blob a file.  A file that cannot be kept
 * never fails the run; the outcome says what was not kept.
 */

/**
 * collect(env, s, session, paths, n, o):
 * Keep the files ${paths} of the ${session} within the deployment's bounds of
 * number and bytes, and add them to ${o}.  RUN_OK or RUN_GONE.
 */
enum run_rc collect(const struct run_env *, const struct sandbox *,
    const char *, const char *const *, size_t, struct outcome *);

#endif /* !RUN_COLLECT_H_ */
