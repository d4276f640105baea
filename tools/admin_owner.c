#include <stdio.h>

#include "base/jset.h"
#include "data/admin.h"

#include "tools/admin.h"
#include "tools/admin_print.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

static int
name_bad(const char *what, const char *name)
{

	if (admin_name_ok(name))
		return (0);
	(void)admin_usage("%s: a name is 1 to 255 bytes of UTF-8 without "
			  "control characters, and no space at its ends",
	    what);
	return (1);
}

/* Say that ${what} now exists as ${id}. */
static int
created(const struct admin *a, const char *what, const char *name, uint64_t id)
{
	json_object *o;

	if (!a->json) {
		printf("%s %llu: %s\n", what, (unsigned long long)id, name);
		return (ADMIN_OK);
	}
	if ((o = json_object_new_object()) != NULL &&
	    (jset(o, "id", jint(id)) || jset(o, "name", jstr(name)))) {
		json_object_put(o);
		o = NULL;
	}
	return (print_json(o));
}

int
admin_workspace_create(struct admin *a, int argc, char **argv)
{
	const char *name, *tenant = NULL;
	const struct admin_opt opts[] = {{"tenant", &tenant, NULL}};
	uint64_t id;
	enum data_rc rc;

	if (admin_options(argc, argv, opts, NELEM(opts), &name, 1) ||
	    name_bad("workspace", name) ||
	    (tenant != NULL && name_bad("tenant", tenant)))
		return (ADMIN_USAGE);
	rc = workspace_create(a->db, name, tenant, &id);
	if (rc == DATA_OK)
		return (created(a, "workspace", name, id));
	if (rc == DATA_TAKEN)
		return (admin_fail("there is a workspace %s%s%s already", name,
		    tenant != NULL ? " or one of tenant " : "",
		    tenant != NULL ? tenant : ""));
	return (admin_data(rc));
}

int
admin_user_create(struct admin *a, int argc, char **argv)
{
	const char *words[2];
	uint64_t id;
	enum data_rc rc;

	if (admin_options(argc, argv, NULL, 0, words, 2) ||
	    name_bad("user", words[1]))
		return (ADMIN_USAGE);
	rc = user_create(a->db, words[0], words[1], &id);
	if (rc == DATA_OK)
		return (created(a, "user", words[1], id));
	if (rc == DATA_NONE)
		return (admin_fail("there is no workspace %s", words[0]));
	if (rc == DATA_TAKEN)
		return (admin_fail("there is a user %s in workspace %s already",
		    words[1], words[0]));
	return (admin_data(rc));
}

/* Answer for an enable or disable of ${what} ${name}. */
static int
switched(enum data_rc rc, const char *what, const char *name, int on)
{

	if (rc == DATA_OK)
		return (ADMIN_OK);
	if (rc == DATA_NONE)
		return (admin_fail("there is no %s %s", what, name));
	if (rc == DATA_STATE)
		return (admin_fail("%s %s is %s already", what, name,
		    on ? "enabled" : "disabled"));
	return (admin_data(rc));
}

static int
workspace_switch(struct admin *a, int argc, char **argv, int on)
{
	const char *name;

	if (admin_options(argc, argv, NULL, 0, &name, 1))
		return (ADMIN_USAGE);
	return (
	    switched(workspace_enable(a->db, name, on), "workspace", name, on));
}

static int
user_switch(struct admin *a, int argc, char **argv, int on)
{
	const char *words[2];

	if (admin_options(argc, argv, NULL, 0, words, 2))
		return (ADMIN_USAGE);
	return (switched(
	    user_enable(a->db, words[0], words[1], on), "user", words[1], on));
}

int
admin_workspace_disable(struct admin *a, int argc, char **argv)
{

	return (workspace_switch(a, argc, argv, 0));
}

int
admin_workspace_enable(struct admin *a, int argc, char **argv)
{

	return (workspace_switch(a, argc, argv, 1));
}

int
admin_user_disable(struct admin *a, int argc, char **argv)
{

	return (user_switch(a, argc, argv, 0));
}

int
admin_user_enable(struct admin *a, int argc, char **argv)
{

	return (user_switch(a, argc, argv, 1));
}

static int
workspace_print(void *cookie, const struct workspace *w)
{
	const struct admin *a = cookie;
	char made[PRINT_TIME], off[PRINT_TIME];
	json_object *o;

	if (!a->json) {
		printf("%llu\t%s\t%s\t%s\t%s\n", (unsigned long long)w->id,
		    w->name, w->tenant != NULL ? w->tenant : "-",
		    print_time(w->created, made), print_time(w->disabled, off));
		return (0);
	}
	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "id", jint(w->id)) || jset(o, "name", jstr(w->name)) ||
	    (w->tenant == NULL ? jnull(o, "tenant")
			       : jset(o, "tenant", jstr(w->tenant))) ||
	    print_jtime(o, "created", w->created) ||
	    print_jtime(o, "disabled", w->disabled)) {
		json_object_put(o);
		return (-1);
	}
	return (print_json(o) == ADMIN_OK ? 0 : -1);
}

int
admin_workspace_list(struct admin *a, int argc, char **argv)
{
	enum data_rc rc;

	if (admin_options(argc, argv, NULL, 0, NULL, 0))
		return (ADMIN_USAGE);
	if (!a->json)
		printf("id\tname\ttenant\tcreated\tdisabled\n");
	rc = workspace_each(a->db, workspace_print, a);
	return (rc == DATA_OK ? ADMIN_OK : admin_data(rc));
}

static int
user_print(void *cookie, const struct user *u)
{
	const struct admin *a = cookie;
	char made[PRINT_TIME], off[PRINT_TIME], key[24] = "-";
	json_object *o;

	if (!a->json) {
		if (u->key != 0)
			(void)snprintf(key, sizeof(key), "%llu",
			    (unsigned long long)u->key);
		printf("%llu\t%s\t%s\t%s\t%s\t%s\n", (unsigned long long)u->id,
		    u->workspace, u->name, key, print_time(u->created, made),
		    print_time(u->disabled, off));
		return (0);
	}
	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "id", jint(u->id)) ||
	    jset(o, "workspace", jstr(u->workspace)) ||
	    jset(o, "name", jstr(u->name)) ||
	    (u->key == 0 ? jnull(o, "key") : jset(o, "key", jint(u->key))) ||
	    print_jtime(o, "created", u->created) ||
	    print_jtime(o, "disabled", u->disabled)) {
		json_object_put(o);
		return (-1);
	}
	return (print_json(o) == ADMIN_OK ? 0 : -1);
}

int
admin_user_list(struct admin *a, int argc, char **argv)
{
	enum data_rc rc;

	if (admin_options(argc, argv, NULL, 0, NULL, 0))
		return (ADMIN_USAGE);
	if (!a->json)
		printf("id\tworkspace\tname\tkey\tcreated\tdisabled\n");
	rc = user_each(a->db, user_print, a);
	return (rc == DATA_OK ? ADMIN_OK : admin_data(rc));
}
