#include <string.h>

#include "base/clock.h"
#include "base/conf.h"
#include "base/id.h"

#include "data/caller.h"
#include "data/usage.h"

#include "fcgi/model.h"
#include "fcgi/req.h"

static const char *
route_of(const struct model_req *m)
{

	if (m->dialect->wire == WIRE_MESSAGES)
		return ("messages");
	return (m->dialect->wire == WIRE_RESPONSES ? "responses" : "chat");
}

/* One word for what went wrong, NULL for nothing. */
static const char *
error_of(const struct model_req *m)
{
	const struct problem_row *row = problem_row(m->why.kind);

	if (m->r->gone)
		return ("client_left");
	if (m->why.message[0] == '\0')
		return (NULL);
	if (m->why.code[0] != '\0')
		return (m->why.code);
	return (row->openai_code != NULL ? row->openai_code : row->openai_type);
}

void
model_usage(struct model_req *m, enum runs runs, uint64_t since)
{
	static const char *const ran[] = {
	    [RUNS_NOBODY] = "nobody",
	    [RUNS_LOCAL] = "local",
	    [RUNS_UPSTREAM] = "provider",
	    [RUNS_NO_SANDBOX] = "nobody",
	    [RUNS_UNAVAILABLE] = "nobody",
	    [RUNS_DISABLED] = "nobody",
	};
	const struct req *r = m->r;
	const struct tally *t = &m->tally;
	const struct tally_run *x;
	char id[USAGE_IDLEN + 1];
	struct usage_row u = {.id = id,
	    .request = r->id,
	    .owner = r->caller.owner,
	    .key = r->caller.key,
	    .route = route_of(m),
	    .model = m->peek.model != NULL ? m->peek.model : "",
	    .provider = m->provider != NULL ? m->provider->name : "",
	    .ran = ran[runs],
	    .status = (uint64_t)r->status,
	    .error = error_of(m),
	    .counted = t->rounds > 0 || t->usage.known,
	    .input = t->usage.input,
	    .output = t->usage.output,
	    .cached = t->usage.cached,
	    .reasoning = t->usage.reasoning,
	    .rounds = t->rounds,
	    .runs = t->runs,
	    .priced = t->priced,
	    .run_ms = t->run_ms,
	    .bytes = t->bytes,
	    .price = t->priced * r->srv->conf->price_per_run,
	    .ms = clock_ms() - since,
	    .created = r->caller.now};

	m->r->log = (struct log_access){.model = u.model,
	    .provider = u.provider,
	    .upstream_ms = t->upstream_ms,
	    .counted = u.counted,
	    .input = u.input,
	    .output = u.output,
	    .runs = u.runs};

	/* Names that a column cannot hold are nobody's model. */
	if (strlen(u.model) > 255)
		u.model = "";
	if (id_base36(id, USAGE_IDLEN) || usage_put(r->srv->db, &u) != DATA_OK)
		return;
	for (x = t->first; x != NULL; x = x->next)
		(void)usage_put_run(r->srv->db, &u, &x->run);
}
