#ifndef RUN_SEED_H_
#define RUN_SEED_H_

#include <stddef.h>

#include "data/file.h"
#include "io/sandbox_client.h"
#include "run/env.h"

/*
 * The files that a conversation refers to, on their way into a sandbox
 * (executor contract 7.1): each once, under a name of its own, announced to the
 * model by a marker in place of the reference.
 */

/* Opaque types. */
struct refusal;
struct talk;

struct seed {
	struct seed *next;
	struct file file;
	const char *name; /* In the workspace. */
};

struct seeds {
	struct seed *first, **end;
	uint64_t bytes;
	size_t sought; /* References that were looked up. */
};

/**
 * seed_resolve(env, t, seeds, why):
 * Find every stored file that ${t} refers to, choose its name into ${seeds},
 * and write the markers.  RUN_REFUSED if one that the newest turn names is
 * unknown, expired or another owner's, or if all together are too large or too
 * many; one that only an older turn names is said to be gone.
 */
enum run_rc seed_resolve(
    const struct run_env *, struct talk *, struct seeds *, struct refusal *);

/**
 * seed_place(env, s, session, seeds, why):
 * Copy the ${seeds} into the ${session}.
 */
enum run_rc seed_place(const struct run_env *, const struct sandbox *,
    const char *, const struct seeds *, struct refusal *);

#endif /* !RUN_SEED_H_ */
