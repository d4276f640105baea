#include "base/conf.h"
#include "base/jset.h"
#include "io/blob.h"
#include "io/db.h"

#include "fcgi/req.h"
#include "fcgi/routes.h"

static int
database_ready(struct req *r)
{
	uint64_t ms;

	return (db_now(r->srv->db, &ms) == DB_OK);
}

static int
files_ready(struct req *r)
{

	return (store_ready(r->srv->store) == BLOB_OK);
}

/* What must work before a request can; every row is asked, in this order. */
static const struct check {
	const char *name;
	int (*ready)(struct req *);
} checks[] = {
    {"database", database_ready},
    {"store", files_ready},
    {NULL, NULL},
};

/*
 * GET /healthz
 *
 * 200: this process answers.  Nothing else is asked.
 */
int
healthz(struct req *r)
{
	json_object *o;

	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "status", jstr("ok"))) {
		json_object_put(o);
		return (-1);
	}
	return (reply_json(r, 200, o));
}

/*
 * GET /readyz
 *
 * 200: all that requests need is there.
 * 503: something is not; the body says what.
 */
int
readyz(struct req *r)
{
	const struct check *c;
	json_object *o;
	int ok, all = 1;

	if ((o = json_object_new_object()) == NULL)
		return (-1);
	for (c = checks; c->name != NULL; c++) {
		ok = c->ready(r);
		all = all && ok;
		if (jset(o, c->name, jstr(ok ? "ok" : "away")))
			goto err0;
	}
	if (jset(o, "status", jstr(all ? "ok" : "away")))
		goto err0;
	return (reply_json(r, all ? 200 : 503, o));

err0:
	/* Failure! */
	json_object_put(o);
	return (-1);
}
