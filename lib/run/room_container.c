#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/conf.h"
#include "base/log.h"

#include "data/caller.h"

#include "speech/refusal.h"
#include "speech/talk.h"

#include "run/room.h"
#include "run/room_container.h"

#define BUSY_MS 5000 /* Waited for somebody else's request to end. */
#define AGAIN_MS 250

#define NAME "auto" /* Of a container that a request makes for itself. */
#define MEMORY "1g"

uint64_t
room_now(const struct room *room)
{

	return (room->env->caller->now + (clock_ms() - room->born));
}

static enum run_rc
refuse_data(enum data_rc rc, struct refusal *why)
{

	if (rc == DATA_DOWN || rc == DATA_UNSURE)
		(void)refuse(why, P_DATABASE, NULL,
		    "The database is not available right now.");
	else
		(void)refuse(
		    why, P_SERVER, NULL, "An internal error occurred.");
	return (RUN_REFUSED);
}

/* Say why the container that is asked for cannot be had. */
static enum run_rc
refuse_asked(const struct talk *t, enum data_rc rc, struct refusal *why)
{
	const char *where = t->ask.where != NULL ? t->ask.where : "container";

	switch (rc) {
	case DATA_NONE:
		(void)refuse(why, P_CONTAINER, where,
		    "%s: there is no such container", where);
		return (RUN_REFUSED);
	case DATA_EXPIRED:
		if (t->ask.said != NULL)
			(void)refuse(why, P_CONTAINER_EXPIRED, where,
			    "%s: the container %.80s has expired.", where,
			    t->ask.said);
		else
			(void)refuse(why, P_CONTAINER_EXPIRED, where,
			    "Container is expired.");
		return (RUN_REFUSED);
	case DATA_STATE:
		(void)refuse(why, P_CONTAINER_BUSY, where,
		    "The container is in use by another request.");
		return (RUN_REFUSED);
	default:
		return (refuse_data(rc, why));
	}
}

/* Has the client left within the next moment? */
static int
pause_gone(const struct room *room)
{
	struct pollfd p = {.fd = room->sandbox.gone_fd, .events = POLLRDHUP};

	return (poll(&p, p.fd != -1, AGAIN_MS) > 0);
}

static enum data_rc
lease(struct room *room, const char *id)
{
	const struct run_env *env = room->env;

	return (container_lease(env->db, env->mem, &env->caller->owner, id,
	    room_now(room), &room->container));
}

static enum run_rc make(struct room *, struct refusal *);

/* Let the new container have the files that the ${old} one remembers. */
static enum data_rc
inherit(struct room *room, const struct container *old)
{
	const struct run_env *env = room->env;
	struct container_file *f;
	struct container_put *put;
	size_t i, n, k = 0;
	enum data_rc rc;

	rc = container_files(env->db, env->mem, &env->caller->owner, old->row,
	    room_now(room), &f, &n);
	if (rc != DATA_OK)
		return (rc);
	if ((put = arena_alloc(env->mem, (n + 1) * sizeof(*put))) == NULL)
		return (DATA_FAIL);
	for (i = 0; i < n; i++)
		if (f[i].rc == DATA_OK)
			put[k++] = (struct container_put){
			    f[i].id, f[i].path, f[i].produced};
	return (container_file_put(
	    env->db, room->container.row, put, k, room_now(room)));
}

/* The time of the one that ${t} names is over: another takes its place, and the
 * next run says what has been lost. */
static enum run_rc
renew(struct room *room, const struct talk *t, struct refusal *why)
{
	const struct run_env *env = room->env;
	struct container old;
	enum data_rc rc;
	enum run_rc made;

	rc = container_find(env->db, env->mem, &env->caller->owner, t->ask.id,
	    room_now(room), &old);
	if (rc == DATA_NONE) {
		old.row = 0;
		rc = container_forgotten(env->db, t->ask.id, room_now(room));
		if (rc == DATA_NONE)
			return (refuse_asked(t, rc, why));
	} else if (rc == DATA_EXPIRED)
		rc = DATA_OK;
	if (rc != DATA_OK)
		return (refuse_data(rc, why));
	if ((made = make(room, why)) != RUN_OK)
		return (made);
	room->lost = 1;
	if (old.row != 0 && (rc = inherit(room, &old)) != DATA_OK)
		return (refuse_data(rc, why));
	return (RUN_OK);
}

/* Does code wait in the container for results that have come now?  Nothing can
 * take its place. */
static int
is_awaited(const struct talk *t)
{
	const struct code_use *u;

	for (u = t->uses; u != NULL; u = u->next)
		if (u->newest)
			return (1);
	return (0);
}

/* Lease the one that ${t} names.  RUN_OK with none if that is no error. */
static enum run_rc
take_asked(struct room *room, const struct talk *t, struct refusal *why)
{
	const uint64_t end = clock_ms() + BUSY_MS;
	enum data_rc rc;

	while ((rc = lease(room, t->ask.id)) == DATA_STATE &&
	    clock_ms() + AGAIN_MS < end)
		if (pause_gone(room))
			return (RUN_GONE);
	if (rc == DATA_OK)
		return (RUN_OK);
	room->container.row = 0;
	if (t->ask.mild && (rc == DATA_NONE || rc == DATA_EXPIRED))
		return (RUN_OK);
	if (t->ask.renew && !is_awaited(t) &&
	    (rc == DATA_NONE || rc == DATA_EXPIRED))
		return (renew(room, t, why));
	return (refuse_asked(t, rc, why));
}

static enum run_rc
make(struct room *room, struct refusal *why)
{
	const struct run_env *env = room->env;
	const struct container_new new = {.name = NAME,
	    .memory = MEMORY,
	    .idle_s = env->conf->sandbox_idle_s,
	    .life_s = env->conf->sandbox_lifetime_s,
	    .lease = 1};
	enum data_rc rc;

	rc = container_create(env->db, env->mem, &env->caller->owner, &new,
	    room_now(room), &room->container);
	if (rc == DATA_OK) {
		room->fresh = 1;
		return (RUN_OK);
	}
	room->container.row = 0;
	return (refuse_data(rc, why));
}

/* What the container remembers. */
static enum run_rc
remember(struct room *room, struct refusal *why)
{
	const struct run_env *env = room->env;
	struct container_file *f;
	size_t n;
	enum data_rc rc;

	rc = container_files(env->db, env->mem, &env->caller->owner,
	    room->container.row, room_now(room), &f, &n);
	if (rc != DATA_OK)
		return (refuse_data(rc, why));
	room->seeds.held = f;
	room->seeds.nheld = n;
	return (RUN_OK);
}

/* Is the session that the last request left still there? */
static enum run_rc
find_session(struct room *room)
{
	const char *id = room->container.session;
	struct sandbox_entry *list;
	size_t n;

	if (id == NULL)
		return (RUN_OK);
	if (*id == '\0') {
		room->lost = 1;
		return (RUN_OK);
	}
	switch (
	    sandbox_list(&room->sandbox, room->env->mem, id, ".", &list, &n)) {
	case SANDBOX_OK:
		(void)snprintf(room->session, sizeof(room->session), "%s", id);
		room->seeds.there = list;
		room->seeds.nthere = n;
		return (RUN_OK);
	case SANDBOX_GONE:
		return (RUN_GONE);
	default:
		room->lost = 1;
		return (RUN_OK);
	}
}

/* The writer is told, who may outlive the room. */
static int
tell(struct room *room, struct talk *t)
{
	const struct container *c = &room->container;
	const uint64_t idle = room_now(room) + c->idle_s * 1000;
	struct talk_container *shown;

	if ((shown = arena_alloc(room->env->mem, sizeof(*shown))) == NULL)
		return (-1);
	shown->id = c->id;
	shown->expires = (idle < c->ends ? idle : c->ends) / 1000;
	t->container = shown;
	room->talk = t;
	return (0);
}

enum run_rc
container_take(struct room *room, struct talk *t, struct refusal *why)
{
	enum run_rc rc = RUN_OK;

	if (t->ask.id != NULL)
		rc = take_asked(room, t, why);
	if (rc == RUN_OK && room->container.row == 0)
		rc = make(room, why);
	if (rc != RUN_OK)
		return (rc);
	room->lease.row = room->container.row;
	room->lease.token = room->container.lease;
	leases_hold(room->env->leases, &room->lease);
	if (tell(room, t))
		return (refuse_data(DATA_FAIL, why));
	if (room->fresh && !room->lost)
		return (RUN_OK);
	if ((rc = remember(room, why)) == RUN_OK && !room->fresh)
		rc = find_session(room);
	return (rc);
}

enum run_rc
container_restore(struct room *room, struct refusal *why)
{
	const struct container_file *h;
	struct refusal lost;
	enum run_rc rc;
	size_t i;

	/* A session that died may have been given more since it was taken. */
	if ((rc = remember(room, why)) != RUN_OK)
		return (rc);
	for (i = 0; i < room->seeds.nheld; i++) {
		h = &room->seeds.held[i];
		if (h->rc != DATA_OK || h->file.key == NULL)
			continue;
		rc = seed_put(room->env, &room->sandbox, room->session,
		    &h->file, h->path, &lost);
		if (rc == RUN_GONE)
			return (rc);
	}
	return (RUN_OK);
}

/* Can the caller come back to it?  A stream names it before anything has run,
 * an answer that is sent whole only where something did. */
static int
is_known(const struct room *room, int answered)
{
	const struct talk *t = room->talk;

	return (
	    t != NULL && !t->forgets && (t->stream || (room->ran && answered)));
}

void
container_give_back(struct room *room, int answered)
{
	struct container *c = &room->container;
	enum data_rc rc;

	leases_let(room->env->leases, &room->lease);
	if (room->talk != NULL && !room->ran && !room->talk->stream)
		room->talk->container = NULL;
	if (room->fresh && !is_known(room, answered)) {
		if (room_is_open(room))
			(void)sandbox_destroy(&room->sandbox, room->session);
		(void)container_drop(room->env->db, c);
		return;
	}
	if (room_is_open(room))
		c->session = room->session;
	else if (c->session != NULL || room->lost)
		c->session = ""; /* There was one: the next is to say so. */
	rc = container_release(room->env->db, c, room_now(room));
	if (rc == DATA_OK)
		return;
	log_warn("container %s: its lease was over before the request", c->id);
}
