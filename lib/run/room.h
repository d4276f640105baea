#ifndef RUN_ROOM_H_
#define RUN_ROOM_H_

#include "base/jspan.h"

#include "io/sandbox_client.h"

#include "speech/ours.h"

#include "run/env.h"
#include "run/seed.h"

/*
 * The sandbox session of one request: seeded when it is opened, replaced when
 * it has died, ended with the request whatever came of it.
 */

/* Opaque types. */
struct outcome;
struct refusal;

#define ROOM_PENDING 64

struct room {
	const struct run_env *env;
	struct sandbox sandbox;
	struct seeds seeds;
	char session[SANDBOX_IDMAX + 1]; /* "": none is open. */
	int lost;                        /* One died; the next is to say so. */
	uint64_t deadline;               /* clock_ms() no run may pass. */

	/* Written by the editor, reported with the next run. */
	const char *pending[ROOM_PENDING];
	size_t npending;
};

/**
 * room_init(room, env, deadline):
 * Prepare ${room}; its seeds are empty.
 */
void room_init(struct room *, const struct run_env *, uint64_t);

/**
 * room_open(room, why):
 * Start a session, waiting up to five seconds for a place, and copy the seeds
 * there.  Whatever the outcome, room_close() must follow.
 */
enum run_rc room_open(struct room *, struct refusal *);

/**
 * room_is_open(room):
 * Is there a session?
 */
int room_is_open(const struct room *);

/**
 * room_run(room, tool, input, o):
 * Run ${tool} (not the editor) with the JSON object ${input} in the open
 * session, and fill in ${o} with what it printed and the files it wrote.
 * RUN_OK, whatever came of it, or RUN_GONE.
 */
enum run_rc
room_run(struct room *, enum our_tool, struct jspan, struct outcome *);

/**
 * room_written(room, path):
 * Remember that the editor wrote ${path}, below the workspace.  Return 0, or -1
 * if memory ran out or too many wait.
 */
int room_written(struct room *, const char *);

/**
 * room_collect(room, o):
 * Keep what the editor wrote since the last run, in ${o}.  RUN_OK or RUN_GONE.
 */
enum run_rc room_collect(struct room *, struct outcome *);

/**
 * room_close(room):
 * End the session.
 */
void room_close(struct room *);

#endif /* !RUN_ROOM_H_ */
