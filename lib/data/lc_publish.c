#include <string.h>

#include "base/arena.h"
#include "base/log.h"

#include "data/db_rc.h"
#include "data/file_sql.h"

#include "data/lc.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

/* A session being made with all its objects. */
struct making {
	struct arena *mem;
	const struct owner *of;
	const struct lc_owner *owner;
	const char *session;
	uint64_t retention_s;
	struct lc_new *x;
	size_t n;
	int unsure; /* An earlier commit may have been done. */
	enum data_rc why;
};

static enum db_rc
make_session(
    struct db *tx, const char *session, const struct lc_owner *w, uint64_t now)
{
	static const char sql[] =
	    "INSERT INTO storage_session (session, workspace_id, key_id,"
	    " user_id, kind, resource_id, version, created, last_used)"
	    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
	const struct db_arg args[] = {DB_STR(session), DB_U64(w->workspace),
	    DB_U64(w->names), DB_U64(w->user), DB_STR(lc_kind_name(w->kind)),
	    DB_STR(w->resource), DB_STR(w->version), DB_U64(now), DB_U64(now)};

	return (db_exec(tx, sql, args, NELEM(args), NULL, NULL));
}

static enum db_rc
make_object(struct db *tx, const char *session, const char *object,
    const char *place, int read_only)
{
	static const char sql[] =
	    "INSERT INTO storage_object (session, object, place, read_only)"
	    " VALUES (?, ?, ?, ?)";
	const struct db_arg args[] = {DB_STR(session), DB_STR(object),
	    DB_STR(place), DB_U64((uint64_t)read_only)};

	return (db_exec(tx, sql, args, NELEM(args), NULL, NULL));
}

/* Make one file live, and an object of the session. */
static enum db_rc
publish_one(struct db *tx, struct making *m, struct lc_new *x, int *done)
{
	static const char sql[] =
	    "UPDATE file SET lc_session = ?, lc_object = ?, last_used = ?,"
	    " sweep_at = LEAST(?, COALESCE(expires, ?))"
	    " WHERE id = ? AND state = 'live'";
	struct publish p = {.mem = m->mem,
	    .owner = m->of,
	    .row = x->row,
	    .new = &x->file,
	    .f = &x->made,
	    .why = DATA_FAIL,
	    .unsure = m->unsure};
	enum db_rc rc;

	if ((rc = file_publish_in(tx, &p)) != DB_OK) {
		m->why = p.why;
		return (rc);
	}
	*done = p.done;
	if (p.done)
		return (DB_OK);
	const uint64_t now = x->made.created,
		       until = now + m->retention_s * 1000;
	const struct db_arg args[] = {DB_STR(m->session), DB_STR(x->object),
	    DB_U64(now), DB_U64(until), DB_U64(until), DB_U64(x->row)};
	if ((rc = db_exec(tx, sql, args, NELEM(args), NULL, NULL)) != DB_OK)
		return (rc);
	return (make_object(tx, m->session, x->object, x->place, x->read_only));
}

static enum db_rc
making_body(struct db *tx, void *cookie)
{
	struct making *m = cookie;
	enum db_rc rc = DB_OK;
	int done = 0;

	m->why = DATA_FAIL;
	for (size_t i = 0; i < m->n && rc == DB_OK; i++)
		rc = publish_one(tx, m, &m->x[i], &done);
	/* All or none of them had been done before. */
	if (rc != DB_OK || done)
		return (rc);
	return (make_session(tx, m->session, m->owner, m->x[0].made.created));
}

enum data_rc
lc_publish(struct db *db, struct arena *mem, const struct owner *of,
    const struct lc_owner *owner, const char *session, uint64_t retention_s,
    struct lc_new *x, size_t n)
{
	struct making m = {.mem = mem,
	    .of = of,
	    .owner = owner,
	    .session = session,
	    .retention_s = retention_s,
	    .x = x,
	    .n = n};
	enum db_rc rc;

	for (size_t i = 0; i < n; i++)
		if (lc_id(x[i].object))
			return (DATA_FAIL);
	if ((rc = db_tx(db, making_body, &m)) == DB_UNSURE) {
		m.unsure = 1;
		rc = db_tx(db, making_body, &m);
		if (rc != DB_OK && rc != DB_STOP)
			rc = DB_UNSURE;
	}
	return (rc == DB_STOP ? m.why : data_rc_of(rc));
}

/* A file being given a pair of names. */
struct naming {
	const struct lc_owner *owner;
	const struct file *f;
	uint64_t now;
	char session[LC_IDLEN + 1], object[LC_IDLEN + 1];
};

static enum db_rc
naming_body(struct db *tx, void *cookie)
{
	static const char sql[] =
	    "UPDATE file SET lc_session = ?, lc_object = ?"
	    " WHERE id = ? AND lc_session IS NULL AND state = 'live'";
	struct naming *x = cookie;
	const struct db_arg args[] = {
	    DB_STR(x->session), DB_STR(x->object), DB_U64(x->f->row)};
	enum db_rc rc;
	uint64_t n;

	if ((rc = db_exec(tx, sql, args, NELEM(args), &n, NULL)) != DB_OK)
		return (rc);
	if (n != 1)
		return (DB_STOP); /* It has one by now. */
	if ((rc = make_session(tx, x->session, x->owner, x->now)) != DB_OK)
		return (rc);
	return (make_object(tx, x->session, x->object, x->f->name, 0));
}

/* The pair that the file has, if any. */
static enum data_rc
named(struct db *db, struct arena *mem, const struct file *f, uint64_t now,
    struct lc_object *o)
{
	static const char sql[] = "SELECT lc_session, lc_object FROM file"
				  " WHERE id = ? AND lc_session IS NOT NULL";
	const struct db_arg args[] = {DB_U64(f->row)};
	char *cols[2];
	enum db_rc rc;

	rc = db_row(db, mem, sql, args, NELEM(args), cols, NELEM(cols));
	if (rc != DB_OK)
		return (data_rc_of(rc));
	return (lc_find(db, mem, cols[0], cols[1], now, o));
}

enum data_rc
lc_name(struct db *db, struct arena *mem, const struct lc_owner *owner,
    const struct file *f, uint64_t now, struct lc_object *o)
{
	struct naming x = {.owner = owner, .f = f, .now = now};
	enum data_rc rc;
	enum db_rc made;

	if ((rc = named(db, mem, f, now, o)) != DATA_NONE)
		return (rc);
	if (lc_id(x.session) || lc_id(x.object))
		return (DATA_FAIL);
	made = db_tx(db, naming_body, &x);
	if (made != DB_OK && made != DB_STOP && made != DB_UNSURE)
		return (data_rc_of(made));
	return (named(db, mem, f, now, o));
}
