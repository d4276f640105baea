#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/conf.h"
#include "base/jget.h"
#include "base/jset.h"
#include "io/sandbox_client.h"

#include "fcgi/lc.h"
#include "fcgi/lc_exec.h"
#include "fcgi/lc_ptc.h"
#include "fcgi/lc_refs.h"
#include "fcgi/req.h"
#include "fcgi/routes.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define WHY_SIZE 512

int
lc_ptc_error(
    struct req *r, const char *error, const char *detail, const char *session)
{
	json_object *o;

	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "status", jstr("error")) || jset(o, "error", jstr(error)) ||
	    jset(o, "stderr", jstr(detail)) ||
	    (session != NULL && jset(o, "session_id", jstr(session)))) {
		json_object_put(o);
		o = NULL;
	}
	return (reply_json(r, 200, o));
}

/* "language" wins over "lang"; neither: Python. */
static int
read_lang(struct req *r, json_object *o, enum ptc_lang *lang)
{
	static const struct {
		const char *name;
		enum ptc_lang lang;
	} langs[] = {
	    {"py", PTC_PYTHON},
	    {"python", PTC_PYTHON},
	    {"bash", PTC_BASH},
	};
	const char *s;
	enum jget rc;

	*lang = PTC_PYTHON;
	if ((rc = jget_str(o, "language", &s)) == JGET_ABSENT)
		rc = jget_str(o, "lang", &s);
	if (rc == JGET_ABSENT || rc == JGET_NULL)
		return (0);
	for (size_t i = 0; rc == JGET_OK && i < NELEM(langs); i++) {
		if (strcmp(s, langs[i].name) == 0) {
			*lang = langs[i].lang;
			return (0);
		}
	}
	(void)lc_reply(r, 400, "lang must be python or bash", NULL);
	return (-1);
}

static void
put_json(void *o)
{

	json_object_put(o);
}

static int
read_tools(struct lc_ptc *p, json_object *o)
{
	json_object *list = NULL;
	char why[WHY_SIZE];

	(void)json_object_object_get_ex(o, "tools", &list);
	if (ptc_tools_read(
		list, p->round.lang, &p->round.tools, why, sizeof(why))) {
		(void)lc_reply(p->r, 400, why, NULL);
		return (-1);
	}
	if (arena_cleanup(p->r->mem, put_json, p->round.tools) == 0)
		return (0);
	json_object_put(p->round.tools);
	(void)reply_problem(p->r, P_SERVER, NULL, "Internal server error");
	return (-1);
}

int
lc_ptc_setup(struct lc_ptc *p, json_object *o)
{
	struct ptc_round *round = &p->round;

	lc_env(p->r, &p->env);
	round->x.env = &p->env;
	return (lc_code(p->r, o, &round->code) ||
		    lc_timeout(p->r, o, &round->x.program.timeout_s) ||
		    read_lang(p->r, o, &round->lang) || read_tools(p, o) ||
		    lc_refs(p->r, o, 1, &round->x.input, &round->x.ninputs)
		? -1
		: 0);
}

/* The header by which a client may cancel.  Return 0, or -1 after answering. */
static int
take_request_id(struct lc_ptc *p)
{
	struct req *r = p->r;
	const char *id = req_header(r, "X-LibreChat-Code-Request-ID");

	if (id == NULL || *id == '\0')
		return (0);
	if (!request_id_ok(id)) {
		(void)lc_reply(r, 400, "Invalid or missing request_id", NULL);
		return (-1);
	}
	switch (
	    request_begin(r->srv->db, &r->caller.owner, id, r->caller.now)) {
	case DATA_OK:
		p->request_id = id;
		return (0);
	case DATA_STATE:
		(void)lc_ptc_error(
		    r, LC_PTC_FAILED, "The request was cancelled.\n", NULL);
		return (-1);
	case DATA_TAKEN:
		(void)lc_reply(r, 409, "This request id is in use", NULL);
		return (-1);
	default:
		(void)reply_data(r, DATA_DOWN);
		return (-1);
	}
}

/*
 * POST /v1/exec/programmatic
 *
 * 200: a round has been run: more calls, the end, or an error.
 * 400, 403: a program that cannot be run at all.
 * 409: the request's id is in use.
 * 503: no database.
 */
int
lc_programmatic(struct req *r)
{
	struct lc_ptc p = {
	    .r = r, .round = {.history = BUF_INIT(PTC_GIVEN_MAX)}};
	const char *user = NULL, *token = NULL;
	json_object *o;
	int rc = 0;

	if (lc_json(r, &o))
		return (0);
	(void)jget_str(o, "user_id", &user);
	(void)jget_str(o, "continuation_token", &token);
	/* A program counts once, however many rounds it takes. */
	r->lc_counted = token != NULL && *token != '\0';
	if (lc_identify(r, user))
		return (0);
	if (r->srv->conf->sandbox_url == NULL)
		return (lc_reply(r, 503, "No sandbox is configured", NULL));
	if (take_request_id(&p))
		return (0);
	if (token != NULL && *token != '\0')
		rc = lc_ptc_continue(&p, o);
	else if (lc_ptc_setup(&p, o) == 0)
		rc = lc_ptc_go(&p);
	else if (r->status == 0)
		rc = -1;
	if (p.request_id != NULL)
		(void)request_end(r->srv->db, p.request_id);
	buf_free(&p.round.history);
	return (rc);
}

static int
cancelled(struct req *r, int status, const char *word)
{
	json_object *o;

	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "status", jstr(word))) {
		json_object_put(o);
		o = NULL;
	}
	return (reply_json(r, status, o));
}

/*
 * POST /v1/exec/programmatic/cancel
 *
 * 202: it will end, or not begin.
 * 200: it had ended.
 * 400, 403: no request id; another caller's.
 */
int
lc_cancel(struct req *r)
{
	const struct sandbox s = {.url = r->srv->conf->sandbox_url,
	    .token = r->srv->conf->sandbox_token,
	    .gone_fd = -1};
	const char *user = NULL, *id, *session;
	enum request_state state;
	json_object *o;

	if (lc_json(r, &o))
		return (0);
	(void)jget_str(o, "user_id", &user);
	if (lc_identify(r, user))
		return (0);
	if (jget_str(o, "request_id", &id) != JGET_OK || !request_id_ok(id))
		return (
		    lc_reply(r, 400, "Invalid or missing request_id", NULL));
	switch (request_cancel(r->srv->db, r->mem, &r->caller.owner, id,
	    r->caller.now, &state, &session)) {
	case DATA_OK:
		break;
	case DATA_TAKEN:
		return (lc_reply(r, 403,
		    "Programmatic request belongs to another principal", NULL));
	default:
		return (reply_data(r, DATA_DOWN));
	}
	if (state == REQUEST_DONE)
		return (cancelled(r, 200, "already_completed"));
	if (state == REQUEST_RUNNING && *session != '\0' && s.url != NULL)
		(void)sandbox_destroy(&s, session);
	return (cancelled(r, 202, "cancellation_requested"));
}
