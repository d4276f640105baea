#ifndef RUN_RECALL_H_
#define RUN_RECALL_H_

#include "run/env.h"

/* Opaque types. */
struct refusal;
struct talk;

/* Results of ours that the caller's history holds, for the model. */

#define RECALL_TEXT 32768 /* Of output, in the last two results. */
#define RECALL_SHORT 8192 /* In those before. */

/**
 * recall_results(env, t, why):
 * Write the text of every result of ours that ${t} was given back as a block,
 * with the names of the files where they are still the owner's; so of those
 * that the caller's client has dropped or was never shown, where they are kept
 * (run/remember.h).  A call whose arguments it has dropped gets them back.
 */
enum run_rc
recall_results(const struct run_env *, struct talk *, struct refusal *);

#endif /* !RUN_RECALL_H_ */
