#ifndef RUN_TURN_H_
#define RUN_TURN_H_

#include "base/conf.h"

#include "run/env.h"

/*
 * The loop of a turn, the only one (executor contract 3): it asks the model,
 * passes on what belongs to the caller, holds back calls of ours, runs them,
 * tells the writer, adds them to the talk, and goes round.
 */

/* Opaque types. */
struct refusal;
struct talk;
struct writer;

struct turn_job {
	const struct run_env *env;
	const struct conf_provider *provider;
	const char *model; /* The provider's name for it. */
	struct talk *talk; /* Settled. */
	struct writer *writer;
	int ran; /* Set once code has run. */
};

/**
 * turn_run(job, why):
 * Answer ${job}->talk.  RUN_OK with EVENT_STOP given to the writer; RUN_GONE;
 * or RUN_REFUSED, with ${why}->ran set if code has run.
 */
enum run_rc turn_run(struct turn_job *, struct refusal *);

#endif /* !RUN_TURN_H_ */
