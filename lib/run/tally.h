#ifndef RUN_TALLY_H_
#define RUN_TALLY_H_

#include <stdint.h>

#include "data/usage.h"

#include "speech/event.h"

/* What one model request used, counted on the way. */

/* Opaque types. */
struct arena;
struct outcome;

struct tally_run {
	struct tally_run *next;
	struct usage_run run;
};

struct tally {
	struct arena *mem; /* Of the runs. */
	uint64_t rounds, runs, priced, run_ms, bytes;
	uint64_t upstream_ms; /* That providers took. */
	struct usage usage;   /* Of all rounds. */
	struct tally_run *first, *last;
};

/**
 * tally_run(T, container, o, ms):
 * Count a run in ${container} (bare id, or NULL) that came to ${o}; one that
 * executed without a tool error is priced (ruling 23).  ${T} may be NULL.
 */
void tally_run(struct tally *, const char *, const struct outcome *, uint64_t);

#endif /* !RUN_TALLY_H_ */
