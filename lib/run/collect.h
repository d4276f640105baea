#ifndef RUN_COLLECT_H_
#define RUN_COLLECT_H_

#include <stddef.h>

#include "io/sandbox_client.h"
#include "run/env.h"

/* Opaque types. */
struct arena;
struct container_put;
struct outcome;

/*
 * What a run wrote, on its way into the store (executor contract 7.2): streamed
 * through a bound, one row and one blob a file; the rows of many by one commit.
 * A file that cannot be kept never fails the run; the outcome says what was not
 * kept.
 */

/**
 * collect(env, s, session, files, n, o):
 * Keep the ${n} ${files} of the ${session} within the deployment's bounds of
 * number and bytes, and add them to ${o}.  What cannot be kept costs nothing
 * where its size is known; of files whose size is not, not all are asked for.
 * RUN_OK or RUN_GONE.
 */
enum run_rc collect(const struct run_env *, const struct sandbox *,
    const char *, const struct sandbox_file *, size_t, struct outcome *);

/**
 * collect_puts(mem, o, n):
 * The files of ${o} as what a container is to remember; their number in ${n}.
 * NULL: memory ran out.
 */
struct container_put *
collect_puts(struct arena *, const struct outcome *, size_t *);

#endif /* !RUN_COLLECT_H_ */
