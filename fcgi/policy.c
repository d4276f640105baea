#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/conf.h"
#include "base/jget.h"
#include "base/jset.h"
#include "data/policy.h"
#include "http/query.h"
#include "speech/dialect.h"

#include "fcgi/req.h"
#include "fcgi/routes.h"

#define BODY_MAX 65536
#define ITERATIONS_MAX 25

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

/* A number from 1 to ${most}; null or absent leaves it to the deployment. */
static int
take_number(
    struct req *r, json_object *o, const char *key, uint64_t most, uint64_t *n)
{

	switch (jget_u64(o, key, 1, most, n)) {
	case JGET_OK:
		return (0);
	case JGET_ABSENT:
	case JGET_NULL:
		*n = 0;
		return (0);
	default:
		(void)reply_problem(r, P_INVALID_VALUE, key,
		    "%s must be null or a whole number from 1 to %" PRIu64, key,
		    most);
		return (-1);
	}
}

static int
take_executor(struct req *r, json_object *o, struct policy *p)
{
	const char *s;

	switch (jget_str(o, "executor", &s)) {
	case JGET_OK:
		p->pinned = 1;
		if (policy_parse(s, &p->executor) == 0)
			return (0);
		break;
	case JGET_ABSENT:
	case JGET_NULL:
		return (0);
	default:
		break;
	}
	return (reply_invalid(
	    r, "executor", "null, \"auto\", \"local\" or \"provider\""));
}

/* A hint of nothing but space is none. */
static int
take_hint(struct req *r, json_object *o, struct policy *p)
{

	switch (jget_str(o, "default_purpose_hint", &p->hint)) {
	case JGET_OK:
		if (p->hint[strspn(p->hint, " \t\r\n")] == '\0')
			p->hint = NULL;
		if (p->hint == NULL || strlen(p->hint) <= POLICY_HINT_MAX)
			return (0);
		break;
	case JGET_ABSENT:
	case JGET_NULL:
		p->hint = NULL;
		return (0);
	default:
		break;
	}
	return (reply_invalid(r, "default_purpose_hint",
	    "null or a string of at most 2048 bytes"));
}

/* Fields that nobody knows are an operator's typing errors. */
static int
check_fields(struct req *r, json_object *o)
{
	static const char *const known[] = {"enabled", "executor",
	    "max_iterations", "exec_timeout_s", "default_purpose_hint"};
	size_t i;

	json_object_object_foreach(o, key, v)
	{
		(void)v;
		for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
			if (strcmp(key, known[i]) == 0)
				break;
		if (i == sizeof(known) / sizeof(known[0])) {
			(void)reply_problem(r, P_INVALID_VALUE, key,
			    "There is no field %.80s in a policy", key);
			return (-1);
		}
	}
	return (0);
}

static int
take_policy(struct req *r, json_object *o, struct policy *p)
{
	enum jget rc;

	if (check_fields(r, o))
		return (-1);
	if ((rc = jget_bool(o, "enabled", &p->enabled)) == JGET_ABSENT) {
		(void)reply_problem(
		    r, P_MISSING_PARAMETER, "enabled", "enabled is missing");
		return (-1);
	}
	if (rc != JGET_OK)
		return (reply_invalid(r, "enabled", "true or false"));
	return (take_executor(r, o, p) || take_hint(r, o, p) ||
		    take_number(r, o, "max_iterations", ITERATIONS_MAX,
			&p->max_iterations) ||
		    take_number(r, o, "exec_timeout_s",
			r->srv->conf->exec_timeout_s, &p->exec_timeout_s)
		? -1
		: 0);
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
 * 400: a field that will not do.
 * 403, 404: as for GET.
 */
int
policy_set(struct req *r)
{
	struct policy old, p = {0};
	json_object *o; /* Outlives ${p}, whose hint is its own. */
	uint64_t id;
	enum data_rc rc;
	int answered = 0;

	if (find(r, &id, &old) || req_json(r, BODY_MAX, &o, NULL, NULL))
		return (0);
	if (take_policy(r, o, &p))
		goto done;
	p.configured = old.configured;
	p.created = old.created;
	rc = policy_put(r->srv->db, id, &p, r->caller.now);
	if (rc == DATA_OK)
		answered = reply_json(r, 200, policy_object(r, &p));
	else
		answered = reply_data(r, rc);

done:
	json_object_put(o);
	return (answered);
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
