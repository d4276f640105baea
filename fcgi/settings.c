#include "base/clock.h"
#include "base/conf.h"
#include "base/jset.h"
#include "base/jshape.h"
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
take_executor(struct req *r, enum conf_executor *e)
{
	static const char want[] = "\"auto\", \"local\" or \"provider\"";
	const struct jshape row = {
	    "executor", JSHAPE_TEXT, 0, JSHAPE_REQUIRED, 0, 64, want};
	const char *word = NULL;

	if (req_shape(r, BODY_MAX, &row, 1, 1, &word))
		return (-1);
	return (policy_parse(word, e) == 0
		? 0
		: reply_invalid(r, "executor", want));
}

/*
 * PUT /v1/settings/code-execution
 *
 * 200: the setting, from the next request on.
 * 400: the body is not one of the words.
 */
int
executor_set(struct req *r)
{
	enum conf_executor e = EXECUTOR_AUTO;
	struct setting s = {.updated = r->caller.now};
	enum data_rc rc;

	if (take_executor(r, &e))
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
