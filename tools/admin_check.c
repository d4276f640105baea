#include <stdio.h>
#include <string.h>

#include <json.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/jset.h"
#include "data/mark.h"
#include "data/schema.h"
#include "io/db.h"

#include "tools/admin.h"
#include "tools/admin_check.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

/* Where the answer goes: a JSON document, or lines as they come. */
struct sheet {
	json_object *settings, *checks; /* NULL: lines. */
	int failed;
};

/* --- settings --- */

static void
show_setting(void *cookie, const char *name, const char *value,
    const char *source, const char *help)
{
	struct sheet *s = cookie;
	json_object *o;

	(void)help;
	if (s->settings == NULL) {
		printf("%-36s %s  (%s)\n", name,
		    *value == '\0' ? "\"\"" : value, source);
		return;
	}
	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "name", jstr(name)) || jset(o, "value", jstr(value)) ||
	    jset(o, "source", jstr(source))) {
		json_object_put(o);
		s->failed = 1;
		return;
	}
	s->failed |= jadd(s->settings, o) != 0;
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
		if (st == CHECK_FAIL)
			s->failed = 1;
		if (s->checks != NULL)
			s->failed |= show_json(s, i, st, p, todo) != 0;
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
	if ((k.mem = arena_new(1 << 20)) == NULL)
		goto err0;
	if ((k.db = db_open(c)) == NULL)
		goto err1;
	k.asked = clock_unix_ms();
	k.facts_rc = facts_find(k.db, k.mem, &k.facts);
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
	    jset(o, "ok", jbool(!s->failed)) == 0)
		p = json_object_to_json_string_ext(o,
		    JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE);
	if (p != NULL)
		printf("%s\n", p);
	json_object_put(o);
	return (p == NULL ? -1 : 0);
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
	conf_each(&a->conf, show_setting, &s);
	if (!config_only) {
		if (!a->json)
			printf("\n");
		(void)fflush(stdout);
		rc |= look_at_all(&s, &a->conf);
	}
	if (a->json)
		rc |= print_json(&s);
	json_object_put(s.settings);
	json_object_put(s.checks);
	if (rc)
		return (admin_fail("out of memory"));
	return (s.failed ? ADMIN_NO : ADMIN_OK);
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
