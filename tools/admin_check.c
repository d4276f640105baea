#include <stdio.h>
#include <string.h>

#include <json.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/jset.h"
#include "base/log.h"
#include "data/mark.h"
#include "data/schema.h"
#include "data/setting.h"
#include "io/db.h"

#include "tools/admin.h"
#include "tools/admin_check.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

/* Where the answer goes: a JSON document, or lines as they come. */
struct sheet {
	json_object *settings, *checks; /* NULL: lines. */
	int broken;                     /* Memory ran out. */
	unsigned int warnings, failures;

	/* What the database says of the executor; "" = nothing. */
	char executor[32], source[256];
};

/* --- settings --- */

static void
show_setting(void *cookie, const char *name, const char *value,
    const char *source, const char *help)
{
	struct sheet *s = cookie;
	json_object *o;

	(void)help;
	if (*s->executor != '\0' && strcmp(name, SETTING_EXECUTOR) == 0) {
		(void)snprintf(s->source, sizeof(s->source),
		    "database; the configuration says %s, %s", value, source);
		value = s->executor;
		source = s->source;
	}
	if (s->settings == NULL) {
		printf("%-36s %s  (%s)\n", name,
		    *value == '\0' ? "\"\"" : value, source);
		return;
	}
	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "name", jstr(name)) || jset(o, "value", jstr(value)) ||
	    jset(o, "source", jstr(source))) {
		json_object_put(o);
		s->broken = 1;
		return;
	}
	s->broken |= jadd(s->settings, o) != 0;
}

/* --- what is looked at --- */

static const char *
state_word(enum check_state st)
{

	switch (st) {
	case CHECK_OK:
		return ("ok");
	case CHECK_WARN:
		return ("warn");
	default:
		return ("FAIL");
	}
}

static int
show_json(struct sheet *s, const struct check_item *i, enum check_state st,
    const char *said, const char *remedy)
{
	json_object *o;

	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "item", jstr(i->name)) ||
	    jset(o, "state", jstr(state_word(st))) ||
	    jset(o, "saw", jstr(said)) ||
	    (st != CHECK_OK && jset(o, "remedy", jstr(remedy)))) {
		json_object_put(o);
		return (-1);
	}
	return (jadd(s->checks, o));
}

/* Look at one item and show what was seen. */
static void
look(struct sheet *s, struct check *k, const struct check_item *i)
{
	struct buf said = BUF_INIT(8192), remedy = said;
	enum check_state st;
	const char *p, *todo = i->remedy;

	k->remedy = &remedy;
	if ((st = i->look(k, &said)) != CHECK_SKIP) {
		p = buf_ok(&said) && said.p != NULL ? said.p : "";
		if (remedy.len > 0 && buf_ok(&remedy))
			todo = remedy.p;
		s->failures += st == CHECK_FAIL;
		s->warnings += st == CHECK_WARN;
		if (s->checks != NULL)
			s->broken |= show_json(s, i, st, p, todo) != 0;
		else
			printf("%-4s  %-21s %s%s%s\n", state_word(st), i->name,
			    p, st == CHECK_OK ? "" : " -> ",
			    st == CHECK_OK ? "" : todo);
	}
	buf_free(&said);
	buf_free(&remedy);
}

static void
probe_store(struct check *k)
{
	struct store *S;

	k->store = BLOB_AWAY;
	if ((S = store_open(k->c->files_root)) == NULL)
		return;
	if (k->schema == DATA_OK)
		k->marked = mark_find(k->db, k->want);
	k->mark = store_mark_read(S, k->have);
	/* The probe writes: not where there may be nothing mounted. */
	if (check_mark_fits(k))
		k->store = store_probe(S, &k->probe);
	store_close(S);
}

/* Look at everything.  Return 0, or -1 if memory ran out. */
static int
look_at_all(struct sheet *s, const struct conf *c)
{
	struct check k = {.c = c,
	    .facts_rc = DATA_DOWN,
	    .schema = DATA_DOWN,
	    .marked = DATA_DOWN};
	const struct check_item *i;

	/* The host first: it forks, and wants no threads or connections. */
	for (i = check_host; i->name != NULL; i++)
		look(s, &k, i);
	for (i = check_machine; i->name != NULL; i++)
		look(s, &k, i);
	for (i = check_peers; i->name != NULL; i++)
		look(s, &k, i);
	if ((k.mem = arena_new(1 << 20)) == NULL)
		goto err0;
	if ((k.db = db_open(c)) == NULL)
		goto err1;
	k.asked = clock_unix_ms();
	k.facts_rc = facts_find(k.db, k.mem, &k.facts);
	if (k.facts_rc == DATA_DOWN)
		(void)snprintf(k.down, sizeof(k.down), "%s", db_why());
	if (k.facts_rc == DATA_OK)
		k.schema = schema_check(k.db);
	probe_store(&k);
	for (i = check_store; i->name != NULL; i++)
		look(s, &k, i);
	db_close(k.db);
	arena_free(k.mem);
	return (0);

err1:
	arena_free(k.mem);
err0:
	return (-1);
}

/* Print the document that ${s} has become. */
static int
print_json(struct sheet *s)
{
	json_object *o = json_object_new_object();
	const char *p = NULL;

	if (o != NULL &&
	    jset(o, "settings", json_object_get(s->settings)) == 0 &&
	    (s->checks == NULL ||
		jset(o, "checks", json_object_get(s->checks)) == 0) &&
	    (s->checks == NULL ||
		(jset(o, "warnings", jint(s->warnings)) == 0 &&
		    jset(o, "failures", jint(s->failures)) == 0)) &&
	    jset(o, "ok", jbool(s->failures == 0)) == 0)
		p = json_object_to_json_string_ext(o,
		    JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE);
	if (p != NULL)
		printf("%s\n", p);
	json_object_put(o);
	return (p == NULL ? -1 : 0);
}

/* Which executor the database names instead of the configuration. */
static void
find_executor(struct sheet *s, const struct conf *c)
{
	struct arena *mem = arena_new(1024);
	struct db *db = db_open(c);
	struct setting set;

	if (mem != NULL && db != NULL &&
	    setting_find(db, mem, SETTING_EXECUTOR, &set) == DATA_OK)
		(void)snprintf(
		    s->executor, sizeof(s->executor), "%s", set.value);
	db_close(db);
	arena_free(mem);
}

/* The last line. */
static void
sum_up(const struct sheet *s)
{

	printf("\n%u warning%s, %u failure%s\n", s->warnings,
	    s->warnings == 1 ? "" : "s", s->failures,
	    s->failures == 1 ? "" : "s");
}

int
admin_check(struct admin *a, int argc, char **argv)
{
	struct sheet s = {0};
	int config_only = 0, rc = 0;
	const struct admin_opt opts[] = {{"config-only", NULL, &config_only}};

	if (admin_options(argc, argv, opts, NELEM(opts), NULL, 0))
		return (ADMIN_USAGE);
	if (a->json &&
	    ((s.settings = json_object_new_array()) == NULL ||
		(s.checks = json_object_new_array()) == NULL))
		rc = -1;
	log_mute(1); /* What the log would say is said here. */
	if (!config_only)
		find_executor(&s, &a->conf);
	conf_each(&a->conf, show_setting, &s);
	if (!config_only) {
		if (!a->json)
			printf("\n");
		(void)fflush(stdout);
		rc |= look_at_all(&s, &a->conf);
		if (!a->json)
			sum_up(&s);
	}
	log_mute(0);
	if (a->json)
		rc |= print_json(&s);
	json_object_put(s.settings);
	json_object_put(s.checks);
	if (rc || s.broken)
		return (admin_fail("out of memory"));
	return (s.failures > 0 ? ADMIN_NO : ADMIN_OK);
}

int
admin_conf(struct admin *a, int argc, char **argv)
{

	(void)a;
	if (admin_options(argc, argv, NULL, 0, NULL, 0))
		return (ADMIN_USAGE);
	conf_document();
	return (ADMIN_OK);
}
