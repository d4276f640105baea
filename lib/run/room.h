#ifndef RUN_ROOM_H_
#define RUN_ROOM_H_

#include "base/jspan.h"

#include "io/sandbox_client.h"

#include "data/container.h"

#include "speech/ours.h"
#include "speech/talk.h"

#include "run/env.h"
#include "run/leases.h"
#include "run/seats.h"
#include "run/seed.h"

/*
 * Where the code of one request runs: a container, leased for as long as the
 * request lasts, and a sandbox session, which is the container's last one if
 * that is alive, and is put together again from the container's files when it
 * has died.
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
	uint64_t born;                   /* clock_ms() */

	struct container container; /* row 0: none was taken. */
	struct lease lease;
	struct seat seat;  /* Without a container: that of the session. */
	int reads;         /* It is for reading a document only. */
	struct talk *talk; /* Is told of it. */
	int fresh;         /* It was made for this request. */
	int ran;           /* Something has run in it, or was to. */

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
 * room_enter(room, t, why):
 * Take the container that ${t} asks for, or make one, and tell ${t}; the seeds
 * can be resolved then.  Whatever the outcome, room_close() must follow.
 */
enum run_rc room_enter(struct room *, struct talk *, struct refusal *);

/**
 * room_open(room, why):
 * Have a session: the container's own, or a new one, waiting up to five seconds
 * for a place.  Copy the seeds there.  Without a container it is this request's
 * own, and ends with it.
 */
enum run_rc room_open(struct room *, struct refusal *);

/**
 * room_is_open(room):
 * Is there a session?
 */
int room_is_open(const struct room *);

/**
 * room_time(room):
 * Seconds that a run may take: its own limit, or what is left of the turn.
 */
uint64_t room_time(const struct room *);

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
 * room_close(room, answered):
 * Give the container back, its session with it.  Both end here if they were
 * made for a caller who will not know of them, because nothing has run or he is
 * not ${answered}.
 */
void room_close(struct room *, int);

#endif /* !RUN_ROOM_H_ */
