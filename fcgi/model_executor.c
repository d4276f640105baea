#include <string.h>

#include "base/buf.h"
#include "base/conf.h"

#include "data/caller.h"
#include "run/env.h"
#include "speech/talk.h"

#include "fcgi/io.h"
#include "fcgi/model.h"
#include "fcgi/req.h"

#define SYSTEM_MAX (64U << 20)

struct headers {
	struct executor_header *h;
	int bad;
};

static void
see_header(void *cookie, const char *name, const char *value)
{
	struct headers *all = cookie;

	if (strcmp(name, "HTTP_X_CODE_EXECUTION") == 0 ||
	    strcmp(name, "HTTP_X_OTARI_CODE_EXECUTION") == 0)
		all->bad |= executor_header_add(all->h, value);
}

int
model_header(struct model_req *m)
{
	struct headers all = {.h = &m->header};

	io_param_each(m->r->io, see_header, &all);
	if (!all.bad)
		return (0);
	(void)refuse(&m->why, P_BAD_REQUEST, NULL,
	    "X-Code-Execution must be auto, local or provider, and only one "
	    "of them");
	refuse_code(&m->why, "invalid_executor");
	return (-1);
}

static int
is_native(const struct model_req *m)
{
	enum conf_wire wire = (enum conf_wire)m->provider->wire;
	unsigned int kind;

	if (!m->provider->native_code || wire != m->dialect->wire)
		return (0);
	for (kind = DECLARED_EXPLICIT; kind <= DECLARED_OPENAI; kind++)
		if ((m->peek.kinds & (1U << kind)) &&
		    !executor_is_native(wire, (enum declared)kind))
			return (0);
	return (1);
}

/* Read the policy, where there is something that it can be about. */
static int
read_policy(struct model_req *m)
{
	enum data_rc rc;

	rc = policy_in_force(
	    m->r->srv->db, m->r->mem, m->r->caller.owner.workspace, &m->force);
	return (rc == DATA_OK ? 0 : model_data(m, rc));
}

int
model_decide(struct model_req *m, enum runs *runs)
{
	const struct conf *c = m->r->srv->conf;
	struct executor_case x = {
	    /* One explicit entry makes all of it ours. */
	    .declared = m->peek.kinds & (1U << DECLARED_EXPLICIT)
		? DECLARED_EXPLICIT
		: m->peek.declared,
	    .native = is_native(m),
	    .translated = m->dialect->wire != (enum conf_wire)m->provider->wire,
	    .sandbox = c->sandbox_url != NULL && c->sandbox_url[0] != '\0',
	};
	const int ask = x.sandbox && m->peek.kinds != 0;

	if (ask && read_policy(m))
		return (-1);
	if (executor_settle(&m->header, ask ? &m->force : NULL,
		(enum conf_executor)c->executor, &x))
		return (refuse(&m->why, P_PINNED, "tools",
		    "This workspace's code is run by the executor \"%s\" "
		    "whatever X-Code-Execution says.",
		    policy_word(m->force.policy.executor)));
	*runs = executor_decide(&x);
	return (0);
}

/* The smaller of the deployment's ${all} and a policy's ${own}, 0: none. */
static uint64_t
narrow(uint64_t all, uint64_t own)
{

	return (own != 0 && own < all ? own : all);
}

/* What the model is told besides, in the words of whoever is nearest. */
static int
add_hint(const struct model_req *m, struct talk *t)
{
	struct buf b = BUF_INIT(SYSTEM_MAX);
	const char *hint = m->peek.hint;
	int rc;

	if (hint == NULL)
		hint = m->force.policy.hint;
	if (hint == NULL)
		hint = m->r->srv->conf->purpose_hint;
	if (t->ours == 0 || hint == NULL || *hint == '\0')
		return (0);
	buf_put(&b, t->system.p, t->system.len);
	if (b.len > 0)
		buf_puts(&b, "\n\n");
	rc = buf_puts(&b, hint) || talk_text(t, b.p, b.len, &t->system);
	buf_free(&b);
	return (rc ? -1 : 0);
}

int
model_narrow(const struct model_req *m, struct talk *t, struct run_env *env)
{
	const struct policy *p = &m->force.policy;

	env->max_rounds = narrow(env->conf->max_iterations, p->max_iterations);
	env->exec_timeout_s =
	    narrow(env->conf->exec_timeout_s, p->exec_timeout_s);
	return (add_hint(m, t));
}
