#include <stdio.h>

#include "base/jset.h"
#include "data/schema.h"
#include "io/db.h"

#include "tools/admin.h"
#include "tools/admin_print.h"
#include "tools/admin_store.h"

/* Changing a large table takes as long as it takes. */
#define PATIENCE_S 604800

struct said {
	int json;
	unsigned int done;
};

static void
step_done(void *cookie, const struct migration *m)
{
	struct said *s = cookie;

	s->done++;
	if (!s->json) {
		printf("%04u %s\n", m->number, m->name);
		(void)fflush(stdout);
	}
}

int
admin_migrate(struct admin *a, int argc, char **argv)
{
	struct said s = {.json = a->json};
	json_object *o;
	enum data_rc rc;
	int status;

	if (admin_options(argc, argv, NULL, 0, NULL, 0))
		return (ADMIN_USAGE);
	db_patience(a->db, PATIENCE_S);
	rc = schema_migrate(a->db, migrations, nmigrations, step_done, &s);
	if (rc == DATA_STATE)
		return (admin_fail("the schema was not changed any further"));
	if (rc != DATA_OK)
		return (admin_data(rc));
	if ((status = admin_store_settle(a)) != ADMIN_OK)
		return (status);
	if (!a->json) {
		printf("schema at number %d, %u step(s) done\n", SCHEMA_NUMBER,
		    s.done);
		return (ADMIN_OK);
	}
	if ((o = json_object_new_object()) != NULL &&
	    (jset(o, "number", jint(SCHEMA_NUMBER)) ||
		jset(o, "done", jint(s.done)))) {
		json_object_put(o);
		o = NULL;
	}
	return (print_json(o));
}
