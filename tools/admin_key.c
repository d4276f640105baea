#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/jset.h"
#include "base/num.h"
#include "data/admin.h"
#include "io/db.h"

#include "tools/admin.h"
#include "tools/admin_print.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define LABEL_MAX 255

/* The key, this once: alone on standard output, so that $(...) takes it. */
static int
created(const struct admin *a, const struct key_new *k, const char *token,
    uint64_t id)
{
	json_object *o;

	if (!a->json) {
		printf("%s\n", token);
		if (isatty(STDERR_FILENO))
			fprintf(stderr,
			    "key %llu of user %s; it is not shown again\n",
			    (unsigned long long)id, k->user);
		return (ADMIN_OK);
	}
	if ((o = json_object_new_object()) != NULL &&
	    (jset(o, "id", jint(id)) || jset(o, "key", jstr(token)) ||
		jset(o, "role", jstr(role_name(k->role))) ||
		print_jtime(o, "expires", k->expires))) {
		json_object_put(o);
		o = NULL;
	}
	return (print_json(o));
}

/* What key_create() refused, in words. */
static int
refused(const struct key_new *k, enum data_rc rc)
{

	if (rc == DATA_STATE)
		return (admin_fail("workspace %s is not that of tenant %s",
		    k->workspace, k->tenant));
	if (rc != DATA_NONE)
		return (admin_data(rc));
	if (k->workspace != NULL)
		return (admin_fail("there is no user %s in a workspace %s",
		    k->user, k->workspace));
	return (admin_fail("there is no user %s in a workspace of tenant %s",
	    k->user, k->tenant));
}

/* Read "--expires WHEN" by the database's clock. */
static int
parse_expires(struct admin *a, const char *when, uint64_t *ms)
{
	uint64_t now;

	if (when == NULL)
		return (ADMIN_OK);
	if (db_now(a->db, &now) != DB_OK)
		return (admin_data(DATA_DOWN));
	if (time_parse(when, now, ms))
		return (admin_usage("--expires: %s is neither RFC 3339 nor "
				    "+DAYSd",
		    when));
	if (*ms <= now)
		return (admin_fail("--expires: %s is in the past", when));
	return (ADMIN_OK);
}

/* Is the user named by --user, or by the second plain word? */
static int
has_user_option(int argc, char **argv)
{
	int i;

	for (i = 0; i < argc; i++)
		if (strcmp(argv[i], "--user") == 0)
			return (1);
	return (0);
}

int
admin_key_create(struct admin *a, int argc, char **argv)
{
	struct key_new k = {.role = ROLE_USER};
	const char *role = NULL, *expires = NULL, *words[2];
	const struct admin_opt opts[] = {{"workspace", &k.workspace, NULL},
	    {"user", &k.user, NULL}, {"role", &role, NULL},
	    {"expires", &expires, NULL}, {"label", &k.label, NULL},
	    {"tenant", &k.tenant, NULL}};
	const size_t nwords = has_user_option(argc, argv) ? 0 : 2;
	char token[KEY_LEN + 1];
	uint64_t id;
	enum data_rc rc;
	int status;

	if (admin_options(argc, argv, opts, NELEM(opts), words, nwords))
		return (ADMIN_USAGE);
	if (nwords == 2 && k.workspace != NULL)
		return (admin_usage("the workspace is given twice"));
	if (nwords == 2) {
		k.workspace = words[0];
		k.user = words[1];
	}
	if (k.workspace == NULL && k.tenant == NULL)
		return (admin_usage("--workspace or --tenant is missing"));
	if (role != NULL && role_parse(role, &k.role))
		return (admin_usage("--role: %s is none of user, "
				    "workspace-admin, management",
		    role));
	if (k.label != NULL && *k.label != '\0' && !admin_name_ok(k.label))
		return (admin_usage(
		    "--label: at most %d bytes of UTF-8", LABEL_MAX));
	if ((status = parse_expires(a, expires, &k.expires)) != ADMIN_OK)
		return (status);
	rc = key_create(a->db, &k, token, &id);
	return (rc == DATA_OK ? created(a, &k, token, id) : refused(&k, rc));
}

/* Answer for what was done to the key called ${word}. */
static int
changed(enum data_rc rc, const char *word)
{

	if (rc == DATA_OK)
		return (ADMIN_OK);
	if (rc == DATA_NONE)
		return (admin_fail("there is no key %s", word));
	if (rc == DATA_STATE)
		return (admin_fail("key %s is revoked", word));
	return (admin_data(rc));
}

/* Read a key's id and the time. */
static int
parse_id(struct admin *a, const char *word, uint64_t *id, uint64_t *now)
{

	if (num_u64(word, 1, INT64_MAX, id))
		return (admin_usage("%s is no key's id: see key list", word));
	if (db_now(a->db, now) != DB_OK)
		return (admin_data(DATA_DOWN));
	return (ADMIN_OK);
}

int
admin_key_revoke(struct admin *a, int argc, char **argv)
{
	const char *word;
	uint64_t id, now;
	int status;

	if (admin_options(argc, argv, NULL, 0, &word, 1))
		return (ADMIN_USAGE);
	if ((status = parse_id(a, word, &id, &now)) != ADMIN_OK)
		return (status);
	return (changed(key_revoke(a->db, id, now), word));
}

int
admin_key_expire(struct admin *a, int argc, char **argv)
{
	const char *words[2];
	uint64_t id, now, when = 0;
	int status;

	if (admin_options(argc, argv, NULL, 0, words, 2))
		return (ADMIN_USAGE);
	if ((status = parse_id(a, words[0], &id, &now)) != ADMIN_OK)
		return (status);
	if (strcmp(words[1], "never") != 0 && time_parse(words[1], now, &when))
		return (admin_usage(
		    "%s is none of RFC 3339, +DAYSd, never", words[1]));
	return (changed(key_expire(a->db, id, when), words[0]));
}

static int
key_print(void *cookie, const struct key *k)
{
	const struct admin *a = cookie;
	char made[PRINT_TIME], ends[PRINT_TIME], gone[PRINT_TIME],
	    off[PRINT_TIME];
	json_object *o;

	if (!a->json) {
		printf("%llu\t...%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n",
		    (unsigned long long)k->id, k->hint, k->workspace, k->user,
		    role_name(k->role), k->shared ? "tenant" : "key",
		    print_time(k->created, made), print_time(k->expires, ends),
		    print_time(k->revoked, gone), print_time(k->disabled, off),
		    k->label);
		return (0);
	}
	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "id", jint(k->id)) || jset(o, "hint", jstr(k->hint)) ||
	    jset(o, "workspace", jstr(k->workspace)) ||
	    jset(o, "user", jstr(k->user)) ||
	    jset(o, "role", jstr(role_name(k->role))) ||
	    jset(o, "names", jstr(k->shared ? "tenant" : "key")) ||
	    jset(o, "label", jstr(k->label)) ||
	    print_jtime(o, "created", k->created) ||
	    print_jtime(o, "expires", k->expires) ||
	    print_jtime(o, "revoked", k->revoked) ||
	    print_jtime(o, "disabled", k->disabled)) {
		json_object_put(o);
		return (-1);
	}
	return (print_json(o) == ADMIN_OK ? 0 : -1);
}

int
admin_key_list(struct admin *a, int argc, char **argv)
{
	enum data_rc rc;

	if (admin_options(argc, argv, NULL, 0, NULL, 0))
		return (ADMIN_USAGE);
	if (!a->json)
		printf("id\thint\tworkspace\tuser\trole\tnames\tcreated\t"
		       "expires\trevoked\tdisabled\tlabel\n");
	rc = key_each(a->db, key_print, a);
	return (rc == DATA_OK ? ADMIN_OK : admin_data(rc));
}
