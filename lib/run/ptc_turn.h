#ifndef RUN_PTC_TURN_H_
#define RUN_PTC_TURN_H_

#include <stddef.h>

#include <json.h>

#include "run/our_call.h"
#include "run/ptc.h"

/*
 * Code of a turn that calls its caller's functions (executor contract 1.5 and
 * 9.3 b).  Nothing waits: what the code is and what it has been told is kept
 * under the id of the call that runs it, and with the next results it is run
 * again from its beginning (run/ptc.h).  Each time that is in a session of its
 * own, which holds the files of the container, so that what it wrote before it
 * was stopped is not there twice; what it writes in the end goes into both.
 */

/* Opaque types. */
struct outcome;
struct part;
struct refusal;
struct room;
struct talk;

struct ptc_turn {
	struct room *room; /* Entered. */
	struct talk *talk;
	json_object *tools; /* Of ptc_offer(); NULL: new code calls none. */

	/* Found: the calls for which the code ${id} has been stopped. */
	const char *id;
	const struct ptc_call *asked;
	size_t nasked; /* 0: it has ended. */
};

/**
 * ptc_turn_run(x, id, c, o):
 * Run the call ${c}, shown as ${id}.  RUN_OK with ${x}->nasked calls, or with
 * what came of it in ${o}; RUN_GONE.
 */
enum run_rc ptc_turn_run(
    struct ptc_turn *, const char *, const struct call *, struct outcome *);

/**
 * ptc_turn_waits(t, p, why):
 * Does the newest turn of ${t} answer calls of code?  Then set ${p} to the part
 * that is to hold what comes of it, or else to NULL.  RUN_REFUSED if it cannot
 * go on.
 */
enum run_rc
ptc_turn_waits(const struct talk *, struct part **, struct refusal *);

/**
 * ptc_turn_resume(x, id, c, o, why):
 * Go on with the code of our call ${id}, which ${c} becomes.  As
 * ptc_turn_run(), or RUN_REFUSED.
 */
enum run_rc ptc_turn_resume(struct ptc_turn *, const char *, struct call *,
    struct outcome *, struct refusal *);

#endif /* !RUN_PTC_TURN_H_ */
