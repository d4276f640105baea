#ifndef RUN_PTC_STORED_H_
#define RUN_PTC_STORED_H_

#include <stddef.h>

#include <json.h>

#include "base/buf.h"

#include "data/ptc.h"

#include "speech/text.h"

#include "run/env.h"

/*
 * Code of a turn between two rounds, as the rows of data/ptc.h keep it: under
 * the id of our call that runs it, which its owner alone can use.
 */

/* Opaque types. */
struct refusal;
struct talk;

struct ptc_stored {
	const char *id, *container; /* Set by the caller; the rest 0. */

	struct text args; /* Of the call, as the model made it. */
	const char *code;
	json_object *tools; /* As ptc_tools_read() made them. */
	struct ptc_run run; /* id 0: it is not stored yet. */

	/* Found by ptc_stored_claim(): it has gone on with these results
	 * before, and asked for these. */
	const struct ptc_call *asked;
	size_t nasked;
};

/**
 * ptc_stored_make(env, s, args, tools):
 * Make of a call's arguments new code, which calls ${tools}.  Return 0, or -1
 * if they are none.
 */
int ptc_stored_make(
    const struct run_env *, struct ptc_stored *, struct text, json_object *);

/**
 * ptc_stored_claim(env, s, t, now, for_ms, why):
 * Begin the next round with the results that the newest turn of ${t} holds, for
 * at most ${for_ms}.  RUN_REFUSED if they are not those that are waited for.
 */
enum run_rc ptc_stored_claim(const struct run_env *, struct ptc_stored *,
    const struct talk *, uint64_t, uint64_t, struct refusal *);

/**
 * ptc_stored_history(env, s, b):
 * Append all answered calls to ${b}, for struct ptc_round.
 */
enum data_rc ptc_stored_history(
    const struct run_env *, const struct ptc_stored *, struct buf *);

/**
 * ptc_stored_ask(env, s, call, n, now):
 * Its round has ended with the ${n} new calls ${call}.
 */
enum data_rc ptc_stored_ask(const struct run_env *, struct ptc_stored *,
    const struct ptc_call *, size_t, uint64_t);

/**
 * ptc_stored_end(env, s):
 * Its round has ended otherwise; it can be run again with the same results,
 * for a caller who lost the answer.
 */
void ptc_stored_end(const struct run_env *, const struct ptc_stored *);

#endif /* !RUN_PTC_STORED_H_ */
