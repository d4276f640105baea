#ifndef RUN_PTC_H_
#define RUN_PTC_H_

#include <stddef.h>

#include <json.h>

#include "base/buf.h"
#include "data/ptc.h"
#include "run/exec.h"
#include "run/ptc_tools.h"

/*
 * One round of a program that calls its caller's tools: it is run from its
 * beginning, with the answers there are, until it ends or cannot go on without
 * more of them (librechat contract 10.4 to 10.7).
 */

/* Opaque type. */
struct refusal;

#define PTC_CALLS_MAX 200
#define PTC_GIVEN_MAX (96UL << 20)
#define PTC_ERROR_SIZE 256
#define PTC_DETAIL_SIZE 512

/* What runs the program; the files lib/run/ptc_*.py. */
extern const char ptc_python_source[], ptc_bash_source[];

enum ptc_end {
	PTC_COMPLETED, /* With code 0: x.ran. */
	PTC_ASKED,     /* For the calls. */
	PTC_FAILED     /* error says why, detail more for people. */
};

struct ptc_round {
	/* Set by the caller; the rest 0. */
	struct exec x; /* Its env and inputs. */
	enum ptc_lang lang;
	const char *code;
	json_object *tools;  /* As ptc_tools_read() made them. */
	struct buf history;  /* JSON texts of answered calls, with commas. */
	uint64_t made;       /* So many calls. */
	const char *session; /* Of earlier rounds, or NULL. */

	/* Asked, once the sandbox session is there: may it go on? */
	int (*opened)(void *, const char *);
	void *cookie;

	/* Found. */
	enum ptc_end end;
	struct ptc_call *call; /* New ones. */
	size_t ncalls;
	char error[PTC_ERROR_SIZE], detail[PTC_DETAIL_SIZE];
};

/**
 * ptc_history(b, call):
 * Append the answered ${call} to the history ${b}.  Return 0 or -1.
 */
int ptc_history(struct buf *, const struct ptc_call *);

/**
 * ptc_round_go(p, why):
 * Run the round in the session of ${p}->x.room, which is open, with what it
 * holds.  RUN_OK with ${p}->end, and ${p}->x.ran whatever that is; RUN_REFUSED;
 * RUN_GONE.
 */
enum run_rc ptc_round_go(struct ptc_round *, struct refusal *);

/**
 * ptc_round_run(p, why):
 * Run the round; what it made is kept if it has completed.  RUN_OK with
 * ${p}->end; RUN_REFUSED; RUN_GONE.  Whatever the outcome, exec_close() must
 * follow.
 */
enum run_rc ptc_round_run(struct ptc_round *, struct refusal *);

#endif /* !RUN_PTC_H_ */
