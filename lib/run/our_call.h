#ifndef RUN_OUR_CALL_H_
#define RUN_OUR_CALL_H_

#include "speech/ours.h"
#include "speech/text.h"

#include "run/room.h"

/*
 * One call of ours, as a model made it: what it means, and running it.  Models
 * misname the functions and their arguments; what can be understood is put in
 * the words of a function that was offered, so that caller and model see the
 * same call.
 */

/* Opaque types. */
struct outcome;
struct talk;

struct call {
	enum our_tool tool; /* One that was offered. */
	struct text args;   /* JSON text; an object unless ${bad}. */
	int bad;            /* Nothing that could be run. */
};

/**
 * call_read(t, meant, args, c):
 * Read the arguments ${args} of a call of the function ${meant} into ${c}.
 * Return 0, or -1 if memory ran out.
 */
int call_read(const struct talk *, enum our_tool, struct text, struct call *);

/**
 * call_begins(tool, args):
 * Do the arguments of a call of the offered function ${tool}, so far ${args},
 * begin as they should, so that they will be shown as they are?  Return 1; 0 if
 * it is too early to tell; or -1 if not.
 */
int call_begins(enum our_tool, struct text);

/**
 * call_run(room, c, o):
 * Run ${c} and fill in ${o}, starting another session if the last one died.
 * RUN_OK, whatever came of it, or RUN_GONE.
 */
enum run_rc call_run(struct room *, const struct call *, struct outcome *);

#endif /* !RUN_OUR_CALL_H_ */
