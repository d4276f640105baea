#include <poll.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/conf.h"

#include "speech/outcome.h"
#include "speech/refusal.h"

#include "run/collect.h"
#include "run/room.h"

#define QUEUE_MS 5000      /* Waited for a place in the sandbox. */
#define RETRY_S 5          /* After which a caller may come again. */
#define AGAIN_MS 250       /* Between two tries. */
#define STREAM_MAX 262144  /* Of stdout and stderr each. */
#define WALL_LIMIT 124     /* Exit code of a run stopped by its limit. */
#define CLOCKS_MS 250      /* By which two clocks may differ about that. */
#define LIFETIME_SPARE 120 /* Seconds a session outlives a turn's budget. */

static enum run_rc
refuse_sandbox(struct refusal *why)
{

	(void)refuse(why, P_SANDBOX, NULL,
	    "The code sandbox cannot take work right now.");
	why->retry_after = RETRY_S;
	return (RUN_REFUSED);
}

/* Wait a little; return whether the client left meanwhile. */
static int
pause_gone(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLRDHUP};

	return (poll(&p, fd != -1, AGAIN_MS) > 0);
}

/* Start a session, asking again for as long as the sandbox is only full. */
static enum run_rc
start(struct room *room, struct refusal *why)
{
	const struct conf *c = room->env->conf;
	uint64_t end = clock_ms() + QUEUE_MS;
	uint64_t life = c->turn_budget_s + LIFETIME_SPARE;
	enum sandbox_rc rc;

	for (;;) {
		rc = sandbox_create(&room->sandbox,
		    life < c->sandbox_idle_s ? life : c->sandbox_idle_s,
		    life < c->sandbox_lifetime_s ? life : c->sandbox_lifetime_s,
		    room->session);
		if (rc == SANDBOX_OK)
			return (RUN_OK);
		room->session[0] = '\0';
		if (rc == SANDBOX_GONE)
			return (RUN_GONE);
		if (rc != SANDBOX_BUSY || clock_ms() + AGAIN_MS > end)
			return (refuse_sandbox(why));
		if (pause_gone(room->sandbox.gone_fd))
			return (RUN_GONE);
	}
}

void
room_init(struct room *room, const struct run_env *env, uint64_t deadline)
{

	*room = (struct room){.env = env,
	    .sandbox = {env->conf->sandbox_url, env->conf->sandbox_token,
		env->gone_fd, env->on_wait, env->wait_cookie},
	    .deadline = deadline};
	room->seeds.end = &room->seeds.first;
}

enum run_rc
room_open(struct room *room, struct refusal *why)
{
	enum run_rc rc;

	if ((rc = start(room, why)) != RUN_OK)
		return (rc);
	return (seed_place(
	    room->env, &room->sandbox, room->session, &room->seeds, why));
}

/* Seconds that a run may take: its own limit, or what is left of the turn. */
static uint64_t
time_left(const struct room *room)
{
	uint64_t now = clock_ms(), left = 1;

	if (room->deadline > now + 1000)
		left = (room->deadline - now) / 1000;
	return (left < room->env->exec_timeout_s ? left
						 : room->env->exec_timeout_s);
}

int
room_is_open(const struct room *room)
{

	return (room->session[0] != '\0');
}

/* The session has died under us: the next call gets another one. */
static void
forget(struct room *room)
{

	(void)sandbox_destroy(&room->sandbox, room->session);
	room->session[0] = '\0';
	room->lost = 1;
	room->npending = 0;
}

/* Was the run stopped by its limit?  A program may well exit 124 itself. */
static int
timed_out(const struct sandbox_result *res, uint64_t timeout_s)
{

	return ((res->return_code == WALL_LIMIT || res->return_code == -1) &&
	    res->ms + CLOCKS_MS >= timeout_s * 1000);
}

static void
fill(struct outcome *o, const struct sandbox_result *res, uint64_t timeout_s)
{

	o->kind = timed_out(res, timeout_s) ? OUTCOME_TIMEOUT : OUTCOME_RAN;
	o->timeout_s = timeout_s;
	o->out.p = res->out;
	o->out.len = res->outlen;
	o->err.p = res->err;
	o->err.len = res->errlen;
	o->code = res->return_code;
}

static int
is_pending(const struct room *room, const char *path)
{
	size_t i;

	for (i = 0; i < room->npending; i++)
		if (strcmp(room->pending[i], path) == 0)
			return (1);
	return (0);
}

/* What the run wrote, then what the editor wrote before it. */
static enum run_rc
collect_all(
    struct room *room, const struct sandbox_result *res, struct outcome *o)
{
	const char **all;
	size_t i, n = 0;

	all = arena_alloc(
	    room->env->mem, (res->npaths + room->npending + 1) * sizeof(*all));
	if (all == NULL) {
		o->failed += (unsigned int)res->npaths;
		return (RUN_OK);
	}
	for (i = 0; i < res->npaths; i++)
		if (!is_pending(room, res->paths[i]))
			all[n++] = res->paths[i];
	for (i = 0; i < room->npending; i++)
		all[n++] = room->pending[i];
	room->npending = 0;
	return (collect(room->env, &room->sandbox, room->session, all, n, o));
}

enum run_rc
room_run(struct room *room, enum our_tool tool, struct jspan input,
    struct outcome *o)
{
	struct sandbox_result res;
	uint64_t timeout_s = time_left(room);
	enum sandbox_rc rc;

	o->kind = OUTCOME_UNAVAILABLE;
	rc = sandbox_exec(&room->sandbox, room->env->mem, room->session,
	    our_rows[tool].name, input, timeout_s, STREAM_MAX, &res);
	switch (rc) {
	case SANDBOX_OK:
		break;
	case SANDBOX_GONE:
		return (RUN_GONE);
	case SANDBOX_BAD:
		o->kind = OUTCOME_BAD_INPUT;
		return (RUN_OK);
	case SANDBOX_SLOW:
		o->kind = OUTCOME_TIMEOUT;
		o->timeout_s = timeout_s;
		forget(room);
		return (RUN_OK);
	default:
		forget(room);
		return (RUN_OK);
	}
	fill(o, &res, timeout_s);
	o->lost = room->lost;
	room->lost = 0;
	return (collect_all(room, &res, o));
}

int
room_written(struct room *room, const char *path)
{
	const char *copy;

	if (is_pending(room, path))
		return (0);
	if (room->npending == ROOM_PENDING ||
	    (copy = arena_strndup(room->env->mem, path, strlen(path))) == NULL)
		return (-1);
	room->pending[room->npending++] = copy;
	return (0);
}

enum run_rc
room_collect(struct room *room, struct outcome *o)
{
	enum run_rc rc;

	if (room->npending == 0 || !room_is_open(room))
		return (RUN_OK);
	rc = collect(room->env, &room->sandbox, room->session, room->pending,
	    room->npending, o);
	room->npending = 0;
	return (rc);
}

void
room_close(struct room *room)
{

	if (room_is_open(room))
		(void)sandbox_destroy(&room->sandbox, room->session);
	room->session[0] = '\0';
}
