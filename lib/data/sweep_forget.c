#include "base/num.h"

#include "data/sweep_in.h"
#include "io/fault.h"

/* Rows that have served their time; nothing in the store hangs on them. */
#define OLD_UPLOAD(state) \
	"FROM upload WHERE state = '" state "' AND sweep_at <= ?"
#define OLD_KEY(column) "FROM api_key WHERE " column " <= ?"
#define OLD_USAGE(table) "FROM " table " WHERE created <= ?"
#define OVER(table) "FROM " table " WHERE expires <= ?"
#define DELETE(rows, order) "DELETE " rows " ORDER BY " order " LIMIT ?"
#define COUNT(rows) "SELECT COUNT(*) " rows
#define BOTH(rows, order) DELETE(rows, order), COUNT(rows)
#define AT(field) offsetof(struct sweep_count, field)

/* clang-format off */
static const struct kind {
	const char *delete, *count;
	size_t field; /* Of struct sweep_count. */
	enum { TOMBSTONE, KEY, NOW, USAGE, DOCUMENT } kept; /* For how long. */
} kinds[] = {
	{ BOTH("FROM file WHERE state = 'gone' AND sweep_at <= ?", "sweep_at"),
	    AT(tombstones), TOMBSTONE },
	{ BOTH(OLD_UPLOAD("pending"), "sweep_at"),
	    AT(uploads), TOMBSTONE },
	{ BOTH(OLD_UPLOAD("completed"), "sweep_at"),
	    AT(uploads), TOMBSTONE },
	{ BOTH(OLD_UPLOAD("cancelled"), "sweep_at"),
	    AT(uploads), TOMBSTONE },
	{ BOTH(OLD_KEY("revoked"), "id"), AT(keys), KEY },
	{ BOTH(OLD_KEY("expires"), "id"), AT(keys), KEY },
	{ BOTH("FROM ptc_call WHERE run_id IN (SELECT id FROM ptc_run"
	    " WHERE sweep_at <= ?)", "run_id"), AT(calls), NOW },
	{ BOTH("FROM ptc_run WHERE sweep_at <= ?", "sweep_at"),
	    AT(calls), NOW },
	{ BOTH("FROM run_request WHERE sweep_at <= ?", "sweep_at"),
	    AT(calls), NOW },
	/* A session gets all its files at its beginning. */
	{ BOTH("FROM storage_object WHERE session IN ("
	    "SELECT s.session FROM storage_session s WHERE s.last_used <= ?"
	    " AND NOT EXISTS (SELECT 1 FROM file f"
	    " WHERE f.lc_session = s.session))", "session"),
	    AT(tombstones), TOMBSTONE },
	{ BOTH("FROM storage_session WHERE last_used <= ?"
	    " AND NOT EXISTS (SELECT 1 FROM file f"
	    " WHERE f.lc_session = storage_session.session)", "last_used"),
	    AT(tombstones), TOMBSTONE },
	{ BOTH(OVER("code_call"), "expires"), AT(calls), NOW },
	{ BOTH(OVER("response"), "expires"), AT(calls), NOW },
	{ BOTH("FROM document_text WHERE created <= ?", "created"),
	    AT(calls), DOCUMENT },
	{ BOTH(OLD_USAGE("model_usage"), "created"), AT(usage), USAGE },
	{ BOTH(OLD_USAGE("run_usage"), "created"), AT(usage), USAGE },
};
/* clang-format on */

static int
one_number(void *cookie, char *const *cols)
{

	return (num_u64(cols[0], 0, UINT64_MAX, cookie));
}

/* Seconds that rows of this kind are kept for. */
static uint64_t
kept_s(const struct run *r, const struct kind *k)
{

	switch (k->kept) {
	case KEY:
		return (SWEEP_KEY_S);
	case DOCUMENT:
		return (SWEEP_DOCUMENT_S);
	case NOW:
		return (0);
	case USAGE:
		return (r->s->usage_s);
	case TOMBSTONE:
		break;
	}
	return (r->s->tombstone_s);
}

static enum sweep_rc
forget(struct run *r, const struct kind *k)
{
	const struct db_arg args[] = {
	    DB_U64(run_due(r, kept_s(r, k))), DB_U64(r->s->batch)};
	uint64_t *count = (uint64_t *)((char *)r->n + k->field), n = 0;
	enum sweep_rc rc;

	if (k->kept == USAGE && r->s->usage_s == 0)
		return (SWEEP_DONE);
	if (r->s->dry_run) {
		rc = run_db(
		    db_rows(r->s->db, k->count, args, 1, 1, one_number, &n));
		*count += n;
		return (rc);
	}
	for (;;) {
		rc = run_db(db_exec(r->s->db, k->delete, args, 2, &n, NULL));
		if (rc != SWEEP_DONE || n == 0)
			return (rc);
		*count += n;
		fault_kill("kill-forgotten");
		if ((rc = run_pause(r)) != SWEEP_DONE)
			return (rc);
	}
}

enum sweep_rc
sweep_forget(struct run *r)
{
	enum sweep_rc rc = SWEEP_DONE;
	size_t i;

	for (i = 0; rc == SWEEP_DONE && i < sizeof(kinds) / sizeof(kinds[0]);
	     i++)
		rc = forget(r, &kinds[i]);
	return (rc);
}
