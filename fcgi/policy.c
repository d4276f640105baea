#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/conf.h"
#include "base/jset.h"
#include "base/jshape.h"
#include "data/policy.h"
#include "http/query.h"
#include "speech/dialect.h"

#include "fcgi/req.h"
#include "fcgi/routes.h"

#define BODY_MAX 65536
#define ITERATIONS_MAX 25
#define EXECUTOR_WANT "null, \"auto\", \"local\" or \"provider\""

static int
put_time(json_object *o, const char *key, uint64_t ms)
{
	char s[CLOCK_RFC3339_SIZE];

	if (ms == 0)
		return (jnull(o, key));
	clock_rfc3339(ms, s);
	return (jset(o, key, jstr(s)));
}

/* ${n}, or null where the deployment's counts. */
static int
put_number(json_object *o, const char *key, uint64_t n)
{

	return (n == 0 ? jnull(o, key) : jset(o, key, jint(n)));
}

static json_object *
policy_object(struct req *r, const struct policy *p)
{
	const struct conf *c = r->srv->conf;
	json_object *o;

	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "workspace_id", jstr(r->arg[0])) ||
	    jset(o, "configured", jbool(p->configured)) ||
	    jset(o, "sandbox_configured", jbool(c->sandbox_url != NULL)) ||
	    jset(o, "enabled", jbool(p->enabled)) ||
	    jtext(o, "executor", p->pinned ? policy_word(p->executor) : NULL) ||
	    jtext(o, "default_purpose_hint", p->hint) ||
	    put_number(o, "max_iterations", p->max_iterations) ||
	    put_number(o, "exec_timeout_s", p->exec_timeout_s) ||
	    put_time(o, "created_at", p->created) ||
	    put_time(o, "updated_at", p->updated)) {
		json_object_put(o);
		return (NULL);
	}
	return (o);
}

/*
 * Find the workspace that ${r} names, if its key may know of it, and may change
 * it.  Return 0, or -1 after answering.
 */
static int
find(struct req *r, uint64_t *id, struct policy *p)
{
	enum data_rc rc;

	rc = policy_find(r->srv->db, r->mem, r->arg[0], id, p);
	if (rc != DATA_OK && rc != DATA_NONE) {
		(void)reply_data(r, rc);
		return (-1);
	}
	if (rc == DATA_NONE ||
	    (r->caller.role != ROLE_MANAGEMENT &&
		*id != r->caller.owner.workspace)) {
		(void)reply_problem(
		    r, P_NOT_FOUND, "id", "There is nothing of this id");
		return (-1);
	}
	if (r->caller.role != ROLE_USER)
		return (0);
	(void)reply_problem(r, P_DENIED, NULL,
	    "This needs a management key or one of a workspace administrator");
	return (-1);
}

/* The body of a PUT; what is absent or null is left to the deployment. */
struct body {
	int enabled;
	const char *executor, *hint;
	uint64_t max_iterations, exec_timeout_s;
};

/*
 * Read the body into ${p}.  Fields without a row are an operator's typing
 * errors.  Return 0, or -1 after answering.
 */
static int
take_policy(struct req *r, struct policy *p)
{
	const struct jshape rows[] = {
	    {"enabled", JSHAPE_BOOL, offsetof(struct body, enabled),
		JSHAPE_REQUIRED, 0, 0, NULL},
	    {"executor", JSHAPE_TEXT, offsetof(struct body, executor), 0, 0, 64,
		EXECUTOR_WANT},
	    {"default_purpose_hint", JSHAPE_TEXT, offsetof(struct body, hint),
		0, 0, POLICY_HINT_MAX, NULL},
	    {"max_iterations", JSHAPE_U64,
		offsetof(struct body, max_iterations), 0, 1, ITERATIONS_MAX,
		NULL},
	    {"exec_timeout_s", JSHAPE_U64,
		offsetof(struct body, exec_timeout_s), 0, 1,
		r->srv->conf->exec_timeout_s, NULL},
	};
	struct body b = {0};

	if (req_shape(r, BODY_MAX, rows, sizeof(rows) / sizeof(rows[0]), 1, &b))
		return (-1);
	p->enabled = b.enabled;
	p->max_iterations = b.max_iterations;
	p->exec_timeout_s = b.exec_timeout_s;
	p->pinned = b.executor != NULL;
	if (p->pinned && policy_parse(b.executor, &p->executor))
		return (reply_invalid(r, "executor", EXECUTOR_WANT));

	/* A hint of nothing but space says nothing. */
	if (b.hint != NULL && b.hint[strspn(b.hint, " \t\r\n")] != '\0')
		p->hint = b.hint;
	return (0);
}

/*
 * GET /v1/workspaces/{name}/code-execution-policy
 *
 * 200: the policy, or what the deployment does where there is none.
 * 403, 404: not for this key; no such workspace, or another's.
 */
int
policy_get(struct req *r)
{
	struct policy p;
	uint64_t id;

	if (find(r, &id, &p))
		return (0);
	return (reply_json(r, 200, policy_object(r, &p)));
}

/*
 * PUT /v1/workspaces/{name}/code-execution-policy
 *
 * 200: the policy, which has replaced what was there.
 * 400: a field that is not as its row says.
 * 403, 404: as for GET.
 */
int
policy_set(struct req *r)
{
	struct policy old, p = {0};
	uint64_t id;
	enum data_rc rc;

	if (find(r, &id, &old) || take_policy(r, &p))
		return (0);
	p.configured = old.configured;
	p.created = old.created;
	rc = policy_put(r->srv->db, id, &p, r->caller.now);
	return (rc == DATA_OK ? reply_json(r, 200, policy_object(r, &p))
			      : reply_data(r, rc));
}

/*
 * DELETE /v1/workspaces/{name}/code-execution-policy
 *
 * 200: what the deployment does, which now holds.
 */
int
policy_unset(struct req *r)
{
	struct policy p;
	uint64_t id;
	enum data_rc rc;

	if (find(r, &id, &p))
		return (0);
	if ((rc = policy_drop(r->srv->db, id)) != DATA_OK)
		return (reply_data(r, rc));
	p = (struct policy){.enabled = 1};
	return (reply_json(r, 200, policy_object(r, &p)));
}
