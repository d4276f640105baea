#ifndef RUN_SEED_H_
#define RUN_SEED_H_

#include <stddef.h>

#include "data/container.h"
#include "data/file.h"
#include "io/sandbox_client.h"
#include "run/env.h"

/*
 * The files that a conversation refers to, on their way into a sandbox
 * (executor contract 7.1): each once, under a name of its own, announced to the
 * model by a marker in place of the reference.
 */

/* Opaque types. */
struct arena;
struct conf;
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

	/* What the container remembers, and what lies at its top. */
	const struct container_file *held;
	size_t nheld;
	const struct sandbox_entry *there;
	size_t nthere;
};

/**
 * seed_resolve(env, t, seeds, why):
 * Find every stored file that ${t} refers to, choose its name into ${seeds},
 * whose container is known, and write the markers.  RUN_REFUSED if one that the
 * newest turn names is unknown, expired or another owner's, or if all together
 * are too large or too many; one that only an older turn names is said to be
 * gone, unless the container still has its copy.
 */
enum run_rc seed_resolve(
    const struct run_env *, struct talk *, struct seeds *, struct refusal *);

/**
 * seed_name(mem, seeds, shown):
 * A name that nothing in ${seeds} and its container has, for a file called
 * ${shown}; NULL if memory ran out.
 */
const char *seed_name(struct arena *, struct seeds *, const char *);

/**
 * seed_held(seeds, id):
 * What the container remembers of the file ${id}, or NULL.
 */
const struct container_file *seed_held(const struct seeds *, const char *);

/**
 * seed_put(env, s, session, file, path, why):
 * Copy the live ${file} to ${path} of the ${session}.
 */
enum run_rc seed_put(const struct run_env *, const struct sandbox *,
    const char *, const struct file *, const char *, struct refusal *);

/**
 * seed_budget(conf):
 * How many bytes the inputs of one session may have together: its workspace but
 * for what is left to its runs.
 */
uint64_t seed_budget(const struct conf *);

#endif /* !RUN_SEED_H_ */
