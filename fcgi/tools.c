#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/conf.h"
#include "base/jraw.h"
#include "base/jset.h"
#include "data/policy.h"
#include "speech/dialect.h"
#include "speech/ours.h"

#include "run/here.h"

#include "fcgi/req.h"
#include "fcgi/routes.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

/* In the order in which a reader wants them. */
static const enum our_tool shown[] = {OUR_CODE, OUR_BASH, OUR_EDITOR};

/* What a model is told of the function ${tool}: see talk_our_facts(). */
static json_object *
words(enum our_tool tool, const struct conf *c, const struct here *here)
{
	const struct our_row *row = &our_rows[tool];
	char facts[HERE_FACTS], text[2 * HERE_FACTS];

	here_say(here, c->exec_timeout_s, facts);
	(void)snprintf(text, sizeof(text), "%s%s%s",
	    here->only ? row->description_here : row->description,
	    tool == OUR_EDITOR ? "" : " ", tool == OUR_EDITOR ? "" : facts);
	return (jstr(text));
}

/* The schema of ${tool}'s arguments, which is known to be right. */
static json_object *
our_schema(enum our_tool tool)
{
	const char *text = our_rows[tool].schema;

	return (jraw(text, strlen(text)));
}

static json_object *
function_object(
    enum our_tool tool, const struct conf *c, const struct here *here)
{
	json_object *o;

	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "name", jstr(our_rows[tool].name)) ||
	    jset(o, "description", words(tool, c, here)) ||
	    jset(o, "parameters", our_schema(tool))) {
		json_object_put(o);
		return (NULL);
	}
	return (o);
}

static json_object *
functions(const struct conf *c, const struct here *here)
{
	json_object *a;
	size_t i;

	if ((a = json_object_new_array()) == NULL)
		return (NULL);
	for (i = 0; i < NELEM(shown); i++)
		if (jadd(a, function_object(shown[i], c, here))) {
			json_object_put(a);
			return (NULL);
		}
	return (a);
}

/* The packages that programs find. */
static json_object *
found(const struct here *here)
{
	json_object *a = json_object_new_array();
	char all[SANDBOX_PACKAGES], *p = all, *name;

	(void)snprintf(all, sizeof(all), "%s", here->packages);
	while (a != NULL && (name = strsep(&p, ", ")) != NULL)
		if (*name != '\0' && jadd(a, jstr(name))) {
			json_object_put(a);
			a = NULL;
		}
	return (a);
}

/* The vendors' own declarations are taken unless they are passed on. */
static json_object *
accepted_types(enum conf_executor def)
{
	static const char *const types[] = {"satchel_code_execution",
	    "otari_code_execution", "code_interpreter", "code_execution",
	    "code_execution_<date>"};
	const size_t n = def == EXECUTOR_PROVIDER ? 2 : NELEM(types);
	json_object *a;
	size_t i;

	if ((a = json_object_new_array()) == NULL)
		return (NULL);
	for (i = 0; i < n; i++)
		if (jadd(a, jstr(types[i]))) {
			json_object_put(a);
			return (NULL);
		}
	return (a);
}

static json_object *
limits(const struct conf *c)
{
	json_object *o;

	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "exec_timeout_s", jint(c->exec_timeout_s)) ||
	    jset(o, "max_iterations", jint(c->max_iterations)) ||
	    jset(o, "output_max_files", jint(c->files_output_max_files)) ||
	    jset(o, "output_max_bytes", jint(c->files_output_max_bytes)) ||
	    jset(o, "container_idle_s", jint(c->sandbox_idle_s))) {
		json_object_put(o);
		return (NULL);
	}
	return (o);
}

/* How a request declares ${name}. */
static json_object *
example(const char *name)
{
	json_object *o;

	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "type", jstr(name))) {
		json_object_put(o);
		return (NULL);
	}
	return (o);
}

static json_object *
tool_object(const struct conf *c, const char *name, enum conf_executor def)
{
	struct here here;
	json_object *o;

	here_look(c, &here);
	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "id", jstr(name)) || jset(o, "object", jstr("tool")) ||
	    jset(o, "description",
		jstr("Run code in the gateway's sandbox and keep the files it "
		     "writes.")) ||
	    jset(o, "available", jbool(c->sandbox_url != NULL)) ||
	    jset(o, "executor_default", jstr(policy_word(def))) ||
	    jset(o, "accepted_types", accepted_types(def)) ||
	    jset(o, "input_schema", our_schema(OUR_CODE)) ||
	    jset(o, "functions", functions(c, &here)) ||
	    jset(o, "packages", found(&here)) || jset(o, "limits", limits(c)) ||
	    jset(o, "example", example(name))) {
		json_object_put(o);
		return (NULL);
	}
	return (o);
}

static json_object *
tools_object(const struct conf *c, enum conf_executor def)
{
	static const char *const names[] = {
	    "satchel_code_execution", "otari_code_execution"};
	json_object *o = json_object_new_object();
	json_object *a = json_object_new_array();
	size_t i;

	for (i = 0; a != NULL && i < NELEM(names); i++)
		if (jadd(a, tool_object(c, names[i], def))) {
			json_object_put(a);
			a = NULL;
		}
	if (o == NULL || jset(o, "object", jstr("list"))) {
		json_object_put(a);
		a = NULL;
	}
	if (o == NULL || jset(o, "data", a)) {
		json_object_put(o);
		return (NULL);
	}
	return (o);
}

/*
 * GET /v1/tools
 *
 * 200: what this deployment can do, whatever the caller's policy.
 */
int
tools_list(struct req *r)
{
	const struct conf *c = r->srv->conf;
	struct policy_in_force f;
	enum data_rc rc;

	/* No workspace has the id 0: only the deployment's setting is there. */
	if ((rc = policy_in_force(r->srv->db, r->mem, 0, &f)) != DATA_OK)
		return (reply_data(r, rc));
	return (reply_json(r, 200,
	    tools_object(c,
		f.defaulted ? f.executor : (enum conf_executor)c->executor)));
}
