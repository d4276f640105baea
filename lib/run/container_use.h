#ifndef RUN_CONTAINER_USE_H_
#define RUN_CONTAINER_USE_H_

#include "run/env.h"

/*
 * Putting files into a container and taking them out, between the requests that
 * run code there: in its session, if one is alive, and in what it remembers.
 */

/* Opaque types. */
struct container_file;
struct file;
struct refusal;

/**
 * container_add(env, id, f, out, why):
 * Put the live file ${f} into the container with the bare ${id}, under a name
 * that nothing there has, and fill in ${out}.  RUN_REFUSED: unknown, expired,
 * busy, or it does not fit.
 */
enum run_rc container_add(const struct run_env *, const char *,
    const struct file *, struct container_file *, struct refusal *);

/**
 * container_remove(env, id, file, why):
 * Take the file with the bare id ${file} out again; the stored file stays.
 */
enum run_rc container_remove(
    const struct run_env *, const char *, const char *, struct refusal *);

#endif /* !RUN_CONTAINER_USE_H_ */
