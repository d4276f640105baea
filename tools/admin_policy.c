#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/jset.h"
#include "base/num.h"
#include "data/policy.h"
#include "data/setting.h"
#include "io/db.h"

#include "tools/admin.h"
#include "tools/admin_print.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define MEM_MAX 65536
#define ITERATIONS_MAX 25

/* The words that --enabled takes. */
static int
parse_enabled(const char *s, struct policy *p)
{

	if (s == NULL || strcmp(s, "yes") == 0)
		p->enabled = 1;
	else if (strcmp(s, "no") != 0)
		return (admin_usage("--enabled takes yes or no"));
	return (0);
}

static int
parse_number(const char *what, const char *s, uint64_t most, uint64_t *n)
{

	if (s == NULL || num_u64(s, 1, most, n) == 0)
		return (0);
	return (
	    admin_usage("--%s takes a number from 1 to %" PRIu64, what, most));
}

/* An empty policy would take back what was said, unasked. */
static int
said_nothing(const struct admin_opt *opts, size_t nopts)
{

	for (size_t i = 0; i < nopts; i++)
		if (*opts[i].value != NULL)
			return (0);
	return (admin_usage("nothing to set: give at least one option, or see "
			    "policy clear"));
}

/* The policy of workspace ${name}, into ${p}. */
static int
find(struct admin *a, struct arena *mem, const char *name, uint64_t *id,
    struct policy *p)
{
	enum data_rc rc;

	if ((rc = policy_find(a->db, mem, name, id, p)) == DATA_OK)
		return (ADMIN_OK);
	if (rc == DATA_NONE)
		return (admin_fail("there is no workspace %s", name));
	return (admin_data(rc));
}

static int
put(struct admin *a, const char *name, struct policy *p)
{
	struct arena *mem;
	struct policy old;
	uint64_t id, now;
	enum data_rc rc;
	int status;

	if ((mem = arena_new(MEM_MAX)) == NULL)
		return (admin_fail("out of memory"));
	status = find(a, mem, name, &id, &old);
	if (status == ADMIN_OK) {
		p->configured = old.configured;
		p->created = old.created;
		rc = db_now(a->db, &now) == DB_OK
		    ? policy_put(a->db, id, p, now)
		    : DATA_DOWN;
		if (rc != DATA_OK)
			status = admin_data(rc);
	}
	arena_free(mem);
	return (status);
}

int
admin_policy_set(struct admin *a, int argc, char **argv)
{
	const char *name, *enabled = NULL, *rounds = NULL, *timeout = NULL;
	const char *executor = NULL;
	struct policy p = {0};
	const struct admin_opt opts[] = {{"enabled", &enabled, NULL},
	    {"executor", &executor, NULL}, {"max-iterations", &rounds, NULL},
	    {"exec-timeout", &timeout, NULL}, {"hint", &p.hint, NULL}};

	if (admin_options(argc, argv, opts, NELEM(opts), &name, 1) ||
	    said_nothing(opts, NELEM(opts)) || parse_enabled(enabled, &p) ||
	    parse_number(
		"max-iterations", rounds, ITERATIONS_MAX, &p.max_iterations) ||
	    parse_number("exec-timeout", timeout, a->conf.exec_timeout_s,
		&p.exec_timeout_s))
		return (ADMIN_USAGE);
	p.pinned = executor != NULL;
	if (p.pinned && policy_parse(executor, &p.executor))
		return (
		    admin_usage("--executor takes auto, local or provider"));
	if (p.hint != NULL && strlen(p.hint) > POLICY_HINT_MAX)
		return (admin_usage(
		    "--hint takes at most %d bytes", POLICY_HINT_MAX));
	return (put(a, name, &p));
}

int
admin_policy_clear(struct admin *a, int argc, char **argv)
{
	struct arena *mem;
	struct policy p;
	const char *name;
	uint64_t id;
	enum data_rc rc;
	int status;

	if (admin_options(argc, argv, NULL, 0, &name, 1))
		return (ADMIN_USAGE);
	if ((mem = arena_new(MEM_MAX)) == NULL)
		return (admin_fail("out of memory"));
	status = find(a, mem, name, &id, &p);
	if (status == ADMIN_OK && (rc = policy_drop(a->db, id)) != DATA_OK)
		status = admin_data(rc);
	arena_free(mem);
	return (status);
}

/* ${n}, or null where it is 0. */
static int
put_number(json_object *o, const char *key, uint64_t n)
{

	return (n == 0 ? jnull(o, key) : jset(o, key, jint(n)));
}

static int
policy_json(const char *workspace, const struct policy *p)
{
	json_object *o;

	if ((o = json_object_new_object()) != NULL &&
	    (jset(o, "workspace", jstr(workspace)) ||
		jset(o, "enabled", jbool(p->enabled)) ||
		jtext(o, "executor",
		    p->pinned ? policy_word(p->executor) : NULL) ||
		put_number(o, "max_iterations", p->max_iterations) ||
		put_number(o, "exec_timeout_s", p->exec_timeout_s) ||
		jtext(o, "purpose_hint", p->hint) ||
		print_jtime(o, "created", p->created) ||
		print_jtime(o, "updated", p->updated))) {
		json_object_put(o);
		o = NULL;
	}
	return (print_json(o) == ADMIN_OK ? 0 : -1);
}

static int
policy_print(void *cookie, const char *workspace, const struct policy *p)
{
	const struct admin *a = cookie;
	char updated[PRINT_TIME];

	if (a->json)
		return (policy_json(workspace, p));
	printf("%s\t%s\t%s\t%" PRIu64 "\t%" PRIu64 "\t%s\n", workspace,
	    p->enabled ? "yes" : "no",
	    p->pinned ? policy_word(p->executor) : "-", p->max_iterations,
	    p->exec_timeout_s, print_time(p->updated, updated));
	return (0);
}

int
admin_policy_list(struct admin *a, int argc, char **argv)
{
	enum data_rc rc;

	if (admin_options(argc, argv, NULL, 0, NULL, 0))
		return (ADMIN_USAGE);
	if (!a->json)
		printf("workspace\tenabled\texecutor\tmax-iterations\t"
		       "exec-timeout\tupdated\n");
	rc = policy_each(a->db, policy_print, a);
	return (rc == DATA_OK ? ADMIN_OK : admin_data(rc));
}

int
admin_executor_set(struct admin *a, int argc, char **argv)
{
	enum conf_executor e;
	const char *word;
	uint64_t now;
	enum data_rc rc = DATA_DOWN;

	if (admin_options(argc, argv, NULL, 0, &word, 1))
		return (ADMIN_USAGE);
	if (policy_parse(word, &e))
		return (admin_usage("it takes auto, local or provider"));
	if (db_now(a->db, &now) == DB_OK)
		rc = setting_put(a->db, SETTING_EXECUTOR, policy_word(e), now);
	return (rc == DATA_OK ? ADMIN_OK : admin_data(rc));
}

int
admin_executor_clear(struct admin *a, int argc, char **argv)
{
	enum data_rc rc;

	if (admin_options(argc, argv, NULL, 0, NULL, 0))
		return (ADMIN_USAGE);
	rc = setting_drop(a->db, SETTING_EXECUTOR);
	return (rc == DATA_OK ? ADMIN_OK : admin_data(rc));
}
