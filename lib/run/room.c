#include <inttypes.h>
#include <poll.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/conf.h"

#include "data/caller.h"

#include "speech/outcome.h"
#include "speech/refusal.h"

#include "run/collect.h"
#include "run/room.h"
#include "run/room_container.h"

#define QUEUE_MS 5000     /* Waited for a place in the sandbox. */
#define RETRY_S 5         /* After which a caller may come again. */
#define AGAIN_MS 250      /* Between two tries. */
#define STREAM_MAX 262144 /* Of stdout and stderr each. */
#define WALL_LIMIT 124    /* Exit code of a run stopped by its limit. */
#define CLOCKS_MS 250     /* By which two clocks may differ about that. */
#define SPARE_S 60        /* Seconds a session outlives its container. */

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

/* Make room: the session of a container that nobody is working in, of ${owner}
 * unless that is NULL, has to go, and will be put together again when it is
 * wanted. */
static int
evict(struct room *room, const struct owner *owner)
{
	const struct run_env *env = room->env;
	const char *session;

	if (container_evict(
		env->db, env->mem, owner, room_now(room), &session) != DATA_OK)
		return (-1);
	(void)sandbox_destroy(&room->sandbox, session);
	return (0);
}

/*
 * May the user have one more session now?  Those of his own make room in which
 * nobody is working.  Whoever cannot be counted is let through.
 */
static int
may_start(struct room *room)
{
	const struct run_env *env = room->env;
	const struct owner *owner = &env->caller->owner;
	uint64_t n, most = env->conf->sandbox_sessions_per_user, seats;

	if (room->container.row == 0 && !room->reads)
		return (seat_take(env->seats, env->slot, owner->user, most,
			    &room->seat) == 0);
	if (container_sessions(env->db, env->mem, owner, &room->container,
		room_now(room), &n) != DATA_OK)
		return (1);
	seats = seats_of(env->seats, owner->user);
	for (; n + seats >= most && evict(room, owner) == 0; n--)
		;
	if (!room->reads)
		return (n + seats < most);
	/* The container that this very request has must not keep it from
	 * reading: one document at a time is read beside any number of them. */
	return (seat_take(env->seats, env->slot, owner->user,
		    n < most ? most - n : 1, &room->seat) == 0);
}

/* Wait until the user has fewer sessions than he may. */
static enum run_rc
limit(struct room *room, struct refusal *why)
{
	const uint64_t end = clock_ms() + QUEUE_MS;

	while (!may_start(room)) {
		if (clock_ms() + AGAIN_MS > end) {
			(void)refuse(why, P_RATE, NULL,
			    "Code of yours runs in %" PRIu64 " %s, which is as"
			    " many as may run at once.",
			    room->env->conf->sandbox_sessions_per_user,
			    room->container.row != 0 ? "containers"
						     : "sessions");
			why->retry_after = RETRY_S;
			return (RUN_REFUSED);
		}
		if (pause_gone(room->sandbox.gone_fd))
			return (RUN_GONE);
	}
	return (RUN_OK);
}

/* Start a session, asking again for as long as the sandbox is only full. */
static enum run_rc
start(struct room *room, struct refusal *why)
{
	const struct conf *c = room->env->conf;
	const uint64_t end = clock_ms() + QUEUE_MS;
	const uint64_t idle = room->container.row != 0 ? room->container.idle_s
	    : room->reads                              ? c->documents_timeout_s
						       : c->turn_budget_s;
	enum sandbox_rc rc;

	for (;;) {
		rc = sandbox_create(&room->sandbox, idle + SPARE_S,
		    c->sandbox_lifetime_s + SPARE_S, room->session);
		if (rc == SANDBOX_OK)
			return (RUN_OK);
		room->session[0] = '\0';
		if (rc == SANDBOX_GONE)
			return (RUN_GONE);
		if (rc != SANDBOX_BUSY || clock_ms() + AGAIN_MS > end)
			return (refuse_sandbox(why));
		if (evict(room, NULL) == 0)
			continue;
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
	    .deadline = deadline,
	    .born = clock_ms()};
	room->seeds.end = &room->seeds.first;
}

enum run_rc
room_enter(struct room *room, struct talk *t, struct refusal *why)
{

	return (container_take(room, t, why));
}

/* Have the container, if there is one, remember ${n} files. */
static void
remember(struct room *room, const struct container_put *put, size_t n)
{

	if (room->container.row != 0)
		(void)container_file_put(
		    room->env->db, room->container.row, put, n, room_now(room));
}

/* Put in what the container does not have yet, and have it remembered. */
static enum run_rc
place(struct room *room, struct refusal *why)
{
	const struct run_env *env = room->env;
	struct container_put *put;
	const struct seed *s;
	enum run_rc rc = RUN_OK;
	size_t n = 0;

	for (s = room->seeds.first; s != NULL; s = s->next)
		n++;
	if ((put = arena_alloc(env->mem, (n + 1) * sizeof(*put))) == NULL) {
		(void)refuse(why, P_SERVER, NULL, "out of memory");
		return (RUN_REFUSED);
	}
	n = 0;
	for (s = room->seeds.first; s != NULL && rc == RUN_OK; s = s->next) {
		if (seed_held(&room->seeds, s->file.id) != NULL)
			continue;
		rc = seed_put(
		    env, &room->sandbox, room->session, &s->file, s->name, why);
		if (rc == RUN_OK)
			put[n++] =
			    (struct container_put){s->file.id, s->name, 0};
	}
	remember(room, put, n);
	return (rc);
}

enum run_rc
room_open(struct room *room, struct refusal *why)
{
	enum run_rc rc;

	if (room_is_open(room))
		return (place(room, why));
	if ((rc = limit(room, why)) != RUN_OK ||
	    (rc = start(room, why)) != RUN_OK ||
	    (room->container.row != 0 && (!room->fresh || room->lost) &&
		(rc = container_restore(room, why)) != RUN_OK) ||
	    (rc = place(room, why)) != RUN_OK)
		return (rc);
	/* Only now: a session that is found counts as complete. */
	if (room->container.row != 0)
		(void)container_note(
		    room->env->db, &room->container, room->session);
	return (RUN_OK);
}

uint64_t
room_time(const struct room *room)
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
	o->out_gap = res->out_gap;
	o->err_gap = res->err_gap;
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

/* Keep ${n} files, and have the container remember them. */
static enum run_rc
keep(struct room *room, const struct sandbox_file *files, size_t n,
    struct outcome *o)
{
	const struct run_env *env = room->env;
	struct container_put *put;
	enum run_rc rc;
	size_t kept;

	rc = collect(env, &room->sandbox, room->session, files, n, o);
	if ((put = collect_puts(env->mem, o, &kept)) != NULL)
		remember(room, put, kept);
	return (rc);
}

/* Take what the editor has written; how much. */
static size_t
take_pending(struct room *room, struct sandbox_file *files)
{
	const size_t n = room->npending;
	size_t i;

	for (i = 0; i < n; i++)
		files[i] =
		    (struct sandbox_file){room->pending[i], SANDBOX_UNKNOWN};
	room->npending = 0;
	return (n);
}

/* What the run wrote, then what the editor wrote before it. */
static enum run_rc
collect_all(
    struct room *room, const struct sandbox_result *res, struct outcome *o)
{
	struct sandbox_file *all;
	size_t i, n = 0;

	all = arena_alloc(
	    room->env->mem, (res->nfiles + room->npending + 1) * sizeof(*all));
	if (all == NULL) {
		o->failed += (unsigned int)res->nfiles;
		return (RUN_OK);
	}
	for (i = 0; i < res->nfiles; i++)
		if (!is_pending(room, res->files[i].path))
			all[n++] = res->files[i];
	n += take_pending(room, all + n);
	return (keep(room, all, n, o));
}

enum run_rc
room_run(struct room *room, enum our_tool tool, struct jspan input,
    struct outcome *o)
{
	struct sandbox_result res;
	uint64_t timeout_s = room_time(room);
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
	struct sandbox_file all[ROOM_PENDING];

	if (room->npending == 0 || !room_is_open(room))
		return (RUN_OK);
	return (keep(room, all, take_pending(room, all), o));
}

void
room_close(struct room *room, int answered)
{

	if (room->container.row != 0)
		container_give_back(room, answered);
	else if (room_is_open(room))
		(void)sandbox_destroy(&room->sandbox, room->session);
	seat_leave(&room->seat);
	room->container.row = 0;
	room->session[0] = '\0';
}
