#include "base/clock.h"
#include "base/conf.h"
#include "base/jget.h"
#include "base/jset.h"
#include "data/policy.h"
#include "data/setting.h"
#include "speech/dialect.h"

#include "fcgi/req.h"
#include "fcgi/routes.h"

#define BODY_MAX 65536

/* The setting as it stands; ${s} NULL: no row overrides the configuration. */
static json_object *
executor_object(struct req *r, const struct setting *s)
{
	const char *file =
	    policy_word((enum conf_executor)r->srv->conf->executor);
	char when[CLOCK_RFC3339_SIZE] = "";
	json_object *o;

	if (s != NULL)
		clock_rfc3339(s->updated, when);
	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "executor", jstr(s != NULL ? s->value : file)) ||
	    jset(o, "source", jstr(s != NULL ? "database" : "configuration")) ||
	    jset(o, "configuration", jstr(file)) ||
	    jtext(o, "updated_at", s != NULL ? when : NULL)) {
		json_object_put(o);
		return (NULL);
	}
	return (o);
}

/*
 * GET /v1/settings/code-execution
 *
 * 200: who runs code when neither request nor workspace says.
 */
int
executor_get(struct req *r)
{
	struct setting s;
	enum data_rc rc;

	rc = setting_find(r->srv->db, r->mem, SETTING_EXECUTOR, &s);
	if (rc != DATA_OK && rc != DATA_NONE)
		return (reply_data(r, rc));
	return (
	    reply_json(r, 200, executor_object(r, rc == DATA_OK ? &s : NULL)));
}

static int
take_executor(struct req *r, json_object *o, enum conf_executor *e)
{
	const char *s;

	if (jget_str(o, "executor", &s) == JGET_OK && policy_parse(s, e) == 0 &&
	    json_object_object_length(o) == 1)
		return (0);
	(void)reply_problem(r, P_INVALID_VALUE, "executor",
	    "The body must be {\"executor\": ...} with \"auto\", \"local\" or "
	    "\"provider\"");
	return (-1);
}

/*
 * PUT /v1/settings/code-execution
 *
 * 200: the setting, from the next request on.
 * 400: none of the words.
 */
int
executor_set(struct req *r)
{
	enum conf_executor e = EXECUTOR_AUTO;
	struct setting s = {.updated = r->caller.now};
	json_object *o;
	enum data_rc rc;
	int bad;

	if (req_json(r, BODY_MAX, &o, NULL, NULL))
		return (0);
	bad = take_executor(r, o, &e);
	json_object_put(o);
	if (bad)
		return (0);
	s.value = policy_word(e);
	rc = setting_put(r->srv->db, SETTING_EXECUTOR, s.value, s.updated);
	if (rc != DATA_OK)
		return (reply_data(r, rc));
	return (reply_json(r, 200, executor_object(r, &s)));
}

/*
 * DELETE /v1/settings/code-execution
 *
 * 200: what the configuration says, which holds again.
 */
int
executor_unset(struct req *r)
{
	enum data_rc rc;

	if ((rc = setting_drop(r->srv->db, SETTING_EXECUTOR)) != DATA_OK)
		return (reply_data(r, rc));
	return (reply_json(r, 200, executor_object(r, NULL)));
}
