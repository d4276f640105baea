#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/conf.h"
#include "base/log.h"
#include "base/seldom.h"

#include "data/caller.h"
#include "run/catalog.h"
#include "speech/reader.h"
#include "speech/wire.h"

#include "fcgi/model.h"
#include "fcgi/req.h"

struct problem_row
model_problem(const struct refusal *why)
{
	struct problem_row row = *problem_row(why->kind);

	if (why->code[0] != '\0')
		row.openai_code = why->code;
	if (why->retry_after > 0)
		row.retry_after = why->retry_after;
	if (why->ran)
		row.no_retry = 1;
	return (row);
}

int
model_data(struct model_req *m, enum data_rc rc)
{

	if (rc == DATA_DOWN)
		return (refuse(&m->why, P_DATABASE, NULL,
		    "The database is not available at the moment"));
	return (refuse(&m->why, P_SERVER, NULL, "Internal server error"));
}

int
model_refuse(struct model_req *m)
{
	struct problem_row row = model_problem(&m->why);

	return (reply_row(m->r, &row,
	    m->why.param[0] != '\0' ? m->why.param : NULL, m->why.message));
}

/* The text itself counts, so that nothing in it is respelled. */
static int
read_request(struct model_req *m)
{

	return (req_span(
	    m->r, m->r->srv->conf->body_max_bytes, &m->text, &m->root));
}

/* "llama3:8b" is a name of its own, but "opnai:gpt-5" is a slip; a name that is
 * configured as it is was meant so. */
static void
note_prefix(const struct model_req *m)
{
	const struct conf_provider *p = m->provider;
	const char *colon = strchr(m->peek.model, ':');
	char prefix[64];
	char **name;

	if (colon == NULL || m->model != m->peek.model)
		return;
	for (name = p->models; name != NULL && *name != NULL; name++)
		if (strcmp(*name, m->model) == 0)
			return;
	(void)snprintf(
	    prefix, sizeof(prefix), "%.*s", (int)(colon - m->model), m->model);
	if (seldom("prefix", prefix))
		log_warn("model %.200s: no provider is called %s; %s is asked "
			 "for it by its whole name",
		    m->model, prefix, p->name);
}

static int
choose_provider(struct model_req *m)
{

	m->provider = catalog_choose(m->r->srv->conf, m->peek.model, &m->model);
	if (m->provider != NULL) {
		note_prefix(m);
		return (0);
	}
	return (refuse(&m->why, P_MODEL, "model",
	    "The model '%.200s' does not exist here", m->peek.model));
}

/* ---- Who runs code */

/* Refuse in the words that belong to ${runs}. */
static int
refuse_runs(struct model_req *m, enum runs runs)
{

	switch (runs) {
	case RUNS_NO_SANDBOX:
		(void)refuse(&m->why, P_NO_SANDBOX, "tools",
		    "No sandbox is configured here, so no code can be run.");
		break;
	case RUNS_DISABLED:
		(void)refuse(&m->why, P_POLICY, "tools",
		    "Code execution is turned off for this workspace.");
		break;
	default:
		if (m->r->srv->conf->sandbox_url == NULL)
			(void)refuse(&m->why, P_NO_EXECUTION, "tools",
			    "The model '%.200s' cannot be offered the tool "
			    "'%.80s': no sandbox is configured here.",
			    m->peek.model, m->peek.type);
		else
			(void)refuse(&m->why, P_NO_EXECUTION, "tools",
			    "The model '%.200s' cannot be offered the tool "
			    "'%.80s'.",
			    m->peek.model, m->peek.type);
		break;
	}
	return (model_refuse(m));
}

/* A request without a conversation would be a round that is paid for and says
 * nothing. */
static int
check_messages(struct model_req *m)
{
	struct jspan_iter it;
	struct jspan v;

	if (m->dialect->wire == WIRE_RESPONSES)
		return (0); /* What it goes on from may hold it all. */
	if (!reader_member(m->root, "messages", &v))
		return (refuse(&m->why, P_MISSING_PARAMETER, "messages",
		    "messages: is required"));
	if (jspan_iter(&it, v) || it.object || !jspan_next(&it, NULL, &v))
		return (refuse(&m->why, P_BAD_REQUEST, "messages",
		    "messages: must be a list that is not empty"));
	return (0);
}

/* Pass it on; what is kept here is unknown there. */
static int
relay(struct model_req *m)
{

	if (check_messages(m) || model_continue(m, 1) || model_refer(m, 1) ||
	    model_disown(m))
		return (model_refuse(m));
	return (model_relay(m, NULL));
}

/* Does a message have parts, where its provider takes texts only? */
static int
has_parts(const struct model_req *m)
{
	struct jspan list, v, content;
	struct jspan_iter it;

	if (!m->provider->no_arrays || m->dialect->wire != WIRE_CHAT ||
	    jspan_get(m->root, "messages", &list) == 0 || jspan_iter(&it, list))
		return (0);
	while (jspan_next(&it, NULL, &v))
		if (jspan_get(v, "content", &content) > 0 &&
		    content.p[0] == '[')
			return (1);
	return (0);
}

static int
answer(struct model_req *m, enum runs runs)
{

	switch (runs) {
	case RUNS_NOBODY:
		if (m->dialect->wire == (enum conf_wire)m->provider->wire &&
		    !has_parts(m))
			return (relay(m));
		return (model_run(m));
	case RUNS_UPSTREAM:
		reply_header(m->r, "X-Code-Execution-Ran", "provider");
		return (relay(m));
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
model_open(struct model_req *m)
{

	m->r->dialect = m->dialect->dialect;
	if (read_request(m))
		return (-1);
	if (model_header(m) == 0 &&
	    peek_read(m->r->mem, m->root, &m->peek, &m->why) == 0 &&
	    choose_provider(m) == 0)
		return (0);
	(void)model_refuse(m);
	return (-1);
}

int
model_handle(struct req *r, const struct model_dialect *d)
{
	struct model_req m = {.r = r, .dialect = d, .tally = {.mem = r->mem}};
	const uint64_t since = clock_ms();
	enum runs runs = RUNS_NOBODY;
	int rc = 0;

	if (model_open(&m) == 0)
		rc = model_decide(&m, &runs) ? model_refuse(&m)
					     : answer(&m, runs);
	model_usage(&m, runs, since);
	return (rc);
}
