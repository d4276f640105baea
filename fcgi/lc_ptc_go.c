#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/jget.h"
#include "base/jset.h"
#include "speech/refusal.h"

#include "fcgi/lc.h"
#include "fcgi/lc_exec.h"
#include "fcgi/lc_ptc.h"
#include "fcgi/req.h"

#define REQUEST_MAX (10UL << 20) /* Of what is stored of a request. */
#define TAIL 4096                /* Of stdout, where an error would hide it. */
#define STDERR_MAX (1 << 20)

/* What the next rounds need of the request: no credential among it. */
static const char *
stored_request(struct lc_ptc *p)
{
	static const char *const names[] = {"tools", "files", "entity_id"};
	struct ptc_round *round = &p->round;
	json_object *o, *v;
	const char *s = NULL;
	char *copy = NULL;

	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "code", jstr(round->code)) ||
	    jset(
		o, "lang", jstr(round->lang == PTC_BASH ? "bash" : "python")) ||
	    jset(o, "timeout", jint(round->x.program.timeout_s * 1000)))
		goto done;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (json_object_object_get_ex(p->r->json, names[i], &v) &&
		    jset(o, names[i], json_object_get(v)))
			goto done;
	s = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN);
	if (s != NULL && strlen(s) <= REQUEST_MAX &&
	    (copy = strdup(s)) != NULL &&
	    arena_cleanup(p->r->mem, free, copy)) {
		free(copy);
		copy = NULL;
	}

done:
	json_object_put(o);
	return (copy);
}

static json_object *
begin_answer(const struct lc_ptc *p, const char *status)
{
	json_object *o;

	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "status", jstr(status)) ||
	    jset(o, "session_id", jstr(p->round.x.session))) {
		json_object_put(o);
		return (NULL);
	}
	return (o);
}

static json_object *
call_json(const struct ptc_call *c)
{
	json_object *e, *input = NULL;
	char id[32];
	size_t at;

	(void)snprintf(id, sizeof(id), "call_%03" PRIu64, c->number);
	if (jget_parse(c->input, strlen(c->input), &input, &at) !=
	    JGET_PARSE_OK)
		return (NULL);
	if ((e = json_object_new_object()) == NULL || jset(e, "id", jstr(id)) ||
	    jset(e, "name", jstr(c->tool))) {
		json_object_put(input);
		json_object_put(e);
		return (NULL);
	}
	if (jset(e, "input", input) == 0)
		return (e);
	json_object_put(e);
	return (NULL);
}

static json_object *
asked(const struct lc_ptc *p)
{
	json_object *o, *a;

	if ((o = begin_answer(p, "tool_call_required")) == NULL ||
	    jset(o, "continuation_token", jstr(p->token)) ||
	    jset(o, "tool_calls", a = json_object_new_array()))
		goto err1;
	for (size_t i = 0; i < p->round.ncalls; i++)
		if (jadd(a, call_json(&p->round.call[i])))
			goto err1;
	return (o);

err1:
	json_object_put(o);
	return (NULL);
}

static json_object *
completed(const struct lc_ptc *p)
{
	const struct exec *x = &p->round.x;
	const struct sandbox_ran *ran = &x->ran;
	json_object *o;

	if ((o = begin_answer(p, "completed")) == NULL ||
	    lc_put_text(o, "stdout", ran->res.out, ran->res.outlen) ||
	    lc_put_text(o, "stderr", ran->res.err, ran->res.errlen) ||
	    lc_put_outcome(p->r, x, o)) {
		json_object_put(o);
		return (NULL);
	}
	return (o);
}

/* The client shows stderr only: everything that helps goes there. */
static json_object *
failed(const struct lc_ptc *p)
{
	const struct sandbox_result *res = &p->round.x.ran.res;
	struct buf b = BUF_INIT(STDERR_MAX);
	const size_t cut = res->outlen > TAIL ? res->outlen - TAIL : 0;
	json_object *o;

	if (res->err != NULL)
		(void)buf_put(&b, res->err, res->errlen);
	if (b.len > 0 && b.p[b.len - 1] != '\n')
		(void)buf_puts(&b, "\n");
	(void)buf_puts(&b, p->round.detail);
	if (res->out != NULL && res->outlen > 0) {
		(void)buf_puts(&b, "[the end of stdout]\n");
		(void)buf_put(&b, res->out + cut, res->outlen - cut);
	}
	if ((o = begin_answer(p, "error")) == NULL ||
	    jset(o, "error", jstr(p->round.error)) || !buf_ok(&b) ||
	    lc_put_text(
		o, "stdout", res->out != NULL ? res->out : "", res->outlen) ||
	    lc_put_text(o, "stderr", b.p != NULL ? b.p : "", b.len)) {
		json_object_put(o);
		o = NULL;
	}
	buf_free(&b);
	return (o);
}

/* Store what the round came to.  ${now} is its end. */
static enum data_rc
store(struct lc_ptc *p, const char *answer, uint64_t now)
{
	struct ptc_round *round = &p->round;
	struct db *db = p->r->srv->db;

	if (p->run.id == 0 && round->end != PTC_ASKED)
		return (DATA_OK);
	if (round->end != PTC_ASKED)
		return (ptc_end(db, &p->run, answer, now));
	if (p->run.id != 0)
		return (ptc_ask(
		    db, &p->run, round->call, round->ncalls, answer, now));
	p->run.session = round->x.session;
	if ((p->run.request = stored_request(p)) == NULL)
		return (DATA_FAIL);
	return (ptc_begin(db, &p->r->caller.owner, p->token, &p->run,
	    round->call, round->ncalls, now));
}

static int
answer(struct lc_ptc *p, uint64_t now)
{
	json_object *(*const make[])(const struct lc_ptc *) = {
	    [PTC_COMPLETED] = completed,
	    [PTC_ASKED] = asked,
	    [PTC_FAILED] = failed,
	};
	enum data_rc rc;
	json_object *o;
	const char *s;

	if (p->run.id == 0 && p->round.end == PTC_ASKED && ptc_token(p->token))
		return (-1);
	if ((o = make[p->round.end](p)) == NULL)
		return (-1);
	s = json_object_to_json_string_ext(
	    o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
	rc = s != NULL ? store(p, s, now) : DATA_FAIL;
	if (rc == DATA_OK)
		return (reply_json(p->r, 200, o));
	json_object_put(o);
	if (rc == DATA_FAIL || rc == DATA_STATE)
		return (lc_ptc_error(p->r, LC_PTC_FAILED,
		    "The program's state could not be kept.\n", NULL));
	return (reply_data(p->r, rc));
}

static int
opened(void *cookie, const char *session)
{
	const struct lc_ptc *p = cookie;

	if (p->request_id == NULL)
		return (0);
	return (
	    request_sandbox(p->r->srv->db, p->request_id, session) != DATA_OK
		? -1
		: 0);
}

/* The round could not be run. */
static int
refused(struct lc_ptc *p, const struct refusal *why)
{
	char text[sizeof(why->message) + 2];

	if (p->run.id != 0)
		ptc_release(p->r->srv->db, &p->run);
	if (why->kind == P_DATABASE || why->kind == P_STORE)
		return (lc_refused(p->r, why));
	(void)snprintf(text, sizeof(text), "%s\n", why->message);
	return (lc_ptc_error(p->r, LC_PTC_FAILED, text, p->run.session));
}

int
lc_ptc_go(struct lc_ptc *p)
{
	const uint64_t since = clock_ms();
	struct refusal why = {0};
	enum run_rc rc;
	void *rest;

	p->round.opened = opened;
	p->round.cookie = p;
	p->round.session = p->run.session;
	p->round.made = p->run.calls;
	rc = ptc_round_run(&p->round, &why);
	if ((rest = exec_leave(&p->round.x)) != NULL)
		io_after(p->r->io, exec_end, rest);
	switch (rc) {
	case RUN_OK:
		return (answer(p, p->r->caller.now + (clock_ms() - since)));
	case RUN_GONE:
		if (p->run.id != 0)
			ptc_release(p->r->srv->db, &p->run);
		p->r->gone = 1;
		return (0);
	case RUN_REFUSED:
		break;
	}
	return (refused(p, &why));
}
