#include <string.h>

#include "base/arena.h"
#include "base/jget.h"
#include "base/jset.h"

#include "data/caller.h"
#include "data/file.h"

#include "speech/outcome.h"
#include "speech/refusal.h"
#include "speech/talk.h"

#include "run/collect.h"
#include "run/ptc_stored.h"
#include "run/ptc_turn.h"
#include "run/room.h"
#include "run/room_container.h"
#include "run/seed.h"

#define ERR_MAX (1U << 20)

/* A session of the code's own, with what the container holds. */
static enum run_rc
open_side(const struct room *room, struct room *side)
{
	struct refusal why;

	*side = *room;
	side->session[0] = '\0';
	side->lost = 1; /* So that it is filled. */
	side->npending = 0;
	return (room_open(side, &why));
}

/* ---- It has ended */

/* Its stderr, and what is to be said of its end. */
static struct text
errors(const struct run_env *env, const struct ptc_round *p)
{
	const struct sandbox_result *res = &p->x.ran.res;
	struct text x = {res->err, res->errlen};
	struct buf b = BUF_INIT(ERR_MAX);
	char *copy;

	if (p->detail[0] == '\0' ||
	    buf_put(&b, res->err != NULL ? res->err : "", res->errlen) ||
	    buf_puts(&b, p->detail) ||
	    (copy = arena_strndup(env->mem, b.p, b.len)) == NULL) {
		buf_free(&b);
		return (x);
	}
	x.p = copy;
	x.len = b.len;
	buf_free(&b);
	return (x);
}

static void
fill(const struct run_env *env, const struct ptc_round *p, struct outcome *o)
{
	const struct sandbox_ran *ran = &p->x.ran;

	o->kind = ran->end == SANDBOX_TIMEOUT ? OUTCOME_TIMEOUT : OUTCOME_RAN;
	o->timeout_s = p->x.program.timeout_s;
	o->out = (struct text){ran->res.out, ran->res.outlen};
	o->err = errors(env, p);
	o->out_gap = ran->res.out_gap;
	o->err_gap = ran->res.err_gap;
	o->code = 1;
	if (ran->end == SANDBOX_EXIT)
		o->code = ran->res.return_code;
	else if (ran->signal != 0)
		o->code = 128 + ran->signal;
}

/* Put what was kept into the container's session too. */
static enum run_rc
hand_over(struct room *room, const struct outcome *o)
{
	const struct run_env *env = room->env;
	const struct outcome_file *x;
	struct container_put *put;
	struct refusal why;
	struct file f;
	size_t n;

	if ((put = collect_puts(env->mem, o, &n)) != NULL)
		(void)container_file_put(
		    env->db, room->container.row, put, n, room_now(room));
	for (x = o->files; x != NULL; x = x->next) {
		if (room_is_open(room) &&
		    file_find(env->db, env->mem, &env->caller->owner, x->id,
			env->caller->now, &f) == DATA_OK &&
		    seed_put(env, &room->sandbox, room->session, &f, x->path,
			&why) == RUN_GONE)
			return (RUN_GONE);
	}
	return (RUN_OK);
}

static enum run_rc
keep(struct room *room, const struct room *side, const struct sandbox_ran *ran,
    struct outcome *o)
{
	const struct run_env *env = room->env;
	struct sandbox_file *files;
	enum run_rc rc;
	size_t i, n = 0;

	if (ran->end != SANDBOX_EXIT)
		return (RUN_OK);
	files = arena_alloc(env->mem, (ran->nchanges + 1) * sizeof(*files));
	if (files == NULL)
		return (RUN_OK);
	for (i = 0; i < ran->nchanges; i++)
		if (ran->change[i].state != SANDBOX_DELETED)
			files[n++] = (struct sandbox_file){
			    ran->change[i].path, ran->change[i].bytes};
	rc = collect(env, &side->sandbox, side->session, files, n, o);
	return (rc == RUN_OK ? hand_over(room, o) : rc);
}

/* ---- A round */

/* The round ${p} of the code ${s} in an open session. */
static enum run_rc
run_in(struct ptc_turn *x, struct ptc_stored *s, const struct room *side,
    struct ptc_round *p, struct outcome *o)
{
	struct refusal why;
	enum run_rc rc;

	p->x.room = *side;
	if ((rc = ptc_round_go(p, &why)) != RUN_OK)
		return (rc);
	if (p->end != PTC_ASKED) {
		ptc_stored_end(x->room->env, s);
		fill(x->room->env, p, o);
		return (keep(x->room, side, &p->x.ran, o));
	}
	if (ptc_stored_ask(x->room->env, s, p->call, p->ncalls,
		room_now(x->room)) != DATA_OK)
		return (RUN_REFUSED);
	x->id = s->id;
	x->asked = p->call;
	x->nasked = p->ncalls;
	return (RUN_OK);
}

static enum run_rc
run_round(struct ptc_turn *x, struct ptc_stored *s, struct outcome *o)
{
	const struct run_env *env = x->room->env;
	struct ptc_round p = {
	    .x = {.env = env, .program = {.timeout_s = room_time(x->room)}},
	    .lang = PTC_PYTHON,
	    .code = s->code,
	    .tools = s->tools,
	    .history = BUF_INIT(PTC_GIVEN_MAX),
	    .made = s->run.calls};
	struct room side;
	enum run_rc rc;

	x->nasked = 0;
	x->room->ran = 1;
	o->kind = OUTCOME_UNAVAILABLE;
	rc = open_side(x->room, &side);
	if (rc == RUN_OK && ptc_stored_history(env, s, &p.history) != DATA_OK)
		rc = RUN_REFUSED;
	if (rc == RUN_OK)
		rc = run_in(x, s, &side, &p, o);
	if (room_is_open(&side))
		(void)sandbox_destroy(&side.sandbox, side.session);
	buf_free(&p.history);
	if (rc != RUN_OK)
		ptc_stored_end(env, s);
	return (rc == RUN_GONE ? RUN_GONE : RUN_OK);
}

enum run_rc
ptc_turn_run(
    struct ptc_turn *x, const char *id, const struct call *c, struct outcome *o)
{
	struct ptc_stored s = {.id = id, .container = x->room->container.id};

	*o = (struct outcome){.tool = OUR_CODE,
	    .kind = OUTCOME_BAD_INPUT,
	    .files_end = &o->files};
	x->nasked = 0;
	if (c->bad || ptc_stored_make(x->room->env, &s, c->args, x->tools))
		return (RUN_OK);
	return (run_round(x, &s, o));
}

/* ---- The next one */

static struct part *
result_of(const struct talk *t, const char *id)
{
	struct turn *u;
	struct part *p;

	for (u = t->first; u != NULL; u = u->next)
		for (p = u->first; p != NULL; p = p->next)
			if (p->kind == PART_RESULT && p->ours &&
			    strcmp(p->id, id) == 0)
				return (p);
	return (NULL);
}

enum run_rc
ptc_turn_waits(const struct talk *t, struct part **p, struct refusal *why)
{
	const struct code_use *u, *first = NULL;

	*p = NULL;
	for (u = t->uses; u != NULL; u = u->next) {
		if (!u->newest)
			continue;
		if (first == NULL)
			first = u;
		if (strcmp(u->run, first->run) == 0)
			continue;
		(void)refuse(why, P_BAD_REQUEST, u->where,
		    "%s: the calls answered here are not all of %.80s",
		    u->where, first->run);
		return (RUN_REFUSED);
	}
	if (first == NULL)
		return (RUN_OK);
	if ((*p = result_of(t, first->run)) == NULL) {
		(void)refuse(why, P_BAD_REQUEST, first->where,
		    "%s: it answers the code of %.80s, whose server_tool_use "
		    "must stand in the conversation, and tools declare code "
		    "execution",
		    first->where, first->run);
		return (RUN_REFUSED);
	}
	if (!talk_is_unanswered(*p))
		*p = NULL; /* It has ended, and was shown. */
	else if (t->ask.id == NULL) {
		(void)refuse(why, P_BAD_REQUEST, "container",
		    "container: must be the one that the answer with the "
		    "call %.80s named",
		    first->id);
		return (RUN_REFUSED);
	}
	return (RUN_OK);
}

enum run_rc
ptc_turn_resume(struct ptc_turn *x, const char *id, struct call *c,
    struct outcome *o, struct refusal *why)
{
	struct ptc_stored s = {.id = id, .container = x->room->container.id};
	enum run_rc rc;

	*o = (struct outcome){.tool = OUR_CODE, .files_end = &o->files};
	rc = ptc_stored_claim(x->room->env, &s, x->talk, room_now(x->room),
	    room_time(x->room) * 1000, why);
	if (rc != RUN_OK)
		return (rc);
	*c = (struct call){.tool = OUR_CODE, .args = s.args};
	if (s.nasked > 0) { /* It went on before: the answer was lost. */
		x->id = id;
		x->asked = s.asked;
		x->nasked = s.nasked;
		return (RUN_OK);
	}
	return (run_round(x, &s, o));
}
