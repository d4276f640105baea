#ifndef RUN_EDIT_H_
#define RUN_EDIT_H_

#include "base/jspan.h"

#include "run/room.h"

/*
 * The text editor function, made of nothing but reading and writing files of
 * the session, so that every sandbox of protocol version 1 gives the structured
 * answers that the callers' dialects need.
 */

/**
 * edit_run(room, input, o):
 * Do what the JSON object ${input} says in the open session, and fill in ${o}.
 * RUN_OK, whatever came of it, or RUN_GONE.
 */
enum run_rc edit_run(struct room *, struct jspan, struct outcome *);

#endif /* !RUN_EDIT_H_ */
