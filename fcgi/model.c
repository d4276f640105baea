#include <string.h>

#include "base/conf.h"
#include "base/jget.h"

#include "data/caller.h"
#include "speech/wire.h"

#include "fcgi/model.h"
#include "fcgi/req.h"

int
model_refuse(struct model_req *m)
{
	struct problem_row row = *problem_row(m->why.kind);

	if (m->why.code[0] != '\0')
		row.openai_code = m->why.code;
	if (m->why.retry_after > 0)
		row.retry_after = m->why.retry_after;
	if (m->why.ran)
		row.no_retry = 1;
	return (reply_row(m->r, &row,
	    m->why.param[0] != '\0' ? m->why.param : NULL, m->why.message));
}

static int
read_request(struct model_req *m)
{
	struct jspan_info info;
	json_object *o;

	if (req_json(m->r, m->r->srv->conf->body_max_bytes, &o, &m->text.p,
		&m->text.len))
		return (-1);

	/* The tree has judged the text; from here on the text itself counts,
	 * so that nothing in it is respelled. */
	json_object_put(o);
	if (jspan_check(m->text.p, m->text.len, JGET_DEPTH, &info) !=
	    JSPAN_OK) {
		(void)reply_problem(m->r, P_BAD_JSON, NULL,
		    "The request body is not valid JSON");
		return (-1);
	}
	m->root = info.root;
	return (0);
}

/* ---- Whose model it is */

/* Does ${s} fit the pattern, in which '*' is any text? */
static int
fits(const char *pattern, const char *s)
{
	const char *star = NULL, *from = s;

	while (*s != '\0') {
		if (*pattern == '*') {
			star = pattern++;
			from = s;
		} else if (*pattern == *s) {
			pattern++;
			s++;
		} else if (star != NULL) {
			pattern = star + 1;
			s = ++from;
		} else
			return (0);
	}
	return (pattern[strspn(pattern, "*")] == '\0');
}

static int
serves(const struct conf_provider *p, const char *model)
{
	char **m;

	for (m = p->models; m != NULL && *m != NULL; m++)
		if (fits(*m, model))
			return (1);
	return (p->models == NULL);
}

static int
refuse_model(struct model_req *m)
{

	return (refuse(&m->why, P_MODEL, "model",
	    "The model '%.200s' does not exist here", m->peek.model));
}

/* "NAME:MODEL" if there is a provider NAME, else the first that serves it. */
static int
choose_provider(struct model_req *m)
{
	const struct conf *c = m->r->srv->conf;
	const struct conf_provider *p, *end = c->providers + c->nproviders;
	const char *model = m->peek.model;
	size_t len = strcspn(model, ":");

	m->model = model;
	for (p = c->providers; p < end && model[len] == ':'; p++)
		if (strlen(p->name) == len &&
		    strncmp(p->name, model, len) == 0) {
			m->provider = p;
			m->model = model + len + 1;
			return (serves(p, m->model) ? 0 : refuse_model(m));
		}
	for (p = c->providers; p < end; p++)
		if (serves(p, model)) {
			m->provider = p;
			return (0);
		}
	return (refuse_model(m));
}

/* ---- Who runs code */

/* Refuse in the words that belong to ${runs}. */
static int
refuse_runs(struct model_req *m, enum runs runs)
{

	switch (runs) {
	case RUNS_NO_SANDBOX:
		(void)refuse(&m->why, P_NO_SANDBOX, "tools",
		    "This gateway has no sandbox to run code in.");
		break;
	case RUNS_DISABLED:
		(void)refuse(&m->why, P_POLICY, "tools",
		    "Code execution is turned off for this workspace.");
		break;
	default:
		(void)refuse(&m->why, P_NO_EXECUTION, "tools",
		    "The model '%.200s' cannot be offered the tool '%.80s'.",
		    m->peek.model, m->peek.type);
		break;
	}
	return (model_refuse(m));
}

static int
answer(struct model_req *m, enum runs runs)
{

	switch (runs) {
	case RUNS_NOBODY:
		if (m->dialect->wire == (enum conf_wire)m->provider->wire)
			return (model_relay(m));
		return (model_run(m));
	case RUNS_UPSTREAM:
		reply_header(m->r, "X-Code-Execution-Ran", "provider");
		return (model_relay(m));
	case RUNS_LOCAL:
		return (model_run(m));
	case RUNS_NO_SANDBOX:
	case RUNS_UNAVAILABLE:
	case RUNS_DISABLED:
		break;
	}
	return (refuse_runs(m, runs));
}

int
model_handle(struct req *r, const struct model_dialect *d)
{
	struct model_req m = {.r = r, .dialect = d};
	enum runs runs = RUNS_NOBODY;

	r->dialect = d->dialect;
	if (read_request(&m))
		return (0);
	if (model_header(&m) || peek_read(r->mem, m.root, &m.peek, &m.why) ||
	    choose_provider(&m) || model_decide(&m, &runs))
		return (model_refuse(&m));
	return (answer(&m, runs));
}
