#include "base/num.h"

#include "data/file_sql.h"
#include "data/upload_sql.h"

#include "data/quota.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

/* Counting up the user's turn makes the others wait. */
static enum db_rc
take_turn(struct db *tx, const struct owner *o)
{
	static const char sql[] =
	    "UPDATE user SET turn = turn + 1 WHERE id = ?";
	const struct db_arg args[] = {DB_U64(o->user)};

	return (db_exec(tx, sql, args, NELEM(args), NULL, NULL));
}

/* What the owner holds at ${now}. */
static enum db_rc
add_up(struct db *tx, struct arena *mem, const struct quota *q, uint64_t now,
    uint64_t *held)
{
	/* clang-format off */
	static const char sql[] =
	    "SELECT CAST("
	    "(SELECT COALESCE(SUM(bytes), 0) FROM file FORCE INDEX (file_quota)"
	    "  WHERE workspace_id = ? AND user_id = ? AND " FILE_LIVE("", "?")
	    ") + "
	    "(SELECT COALESCE(SUM(held), 0)"
	    "  FROM upload FORCE INDEX (upload_quota)"
	    "  WHERE workspace_id = ? AND user_id = ? AND " UPLOAD_PENDS("")
	    "  AND id <> ?) AS UNSIGNED)";
	/* clang-format on */
	const struct owner *o = q->owner;
	const struct db_arg args[] = {DB_U64(o->workspace), DB_U64(o->user),
	    DB_U64(now), DB_U64(o->workspace), DB_U64(o->user), DB_U64(now),
	    DB_U64(q->joining)};
	enum db_rc rc;
	char *col;

	if ((rc = db_row(tx, mem, sql, args, NELEM(args), &col, 1)) != DB_OK)
		return (rc);
	return (num_u64(col, 0, UINT64_MAX, held) ? DB_FAIL : DB_OK);
}

enum db_rc
quota_check(struct db *tx, struct arena *mem, const struct quota *q)
{
	uint64_t now, held;
	enum db_rc rc;

	/* The time after the turn has come. */
	if ((rc = take_turn(tx, q->owner)) != DB_OK ||
	    (rc = db_now(tx, &now)) != DB_OK ||
	    (rc = add_up(tx, mem, q, now, &held)) != DB_OK)
		return (rc);
	return (held <= q->most && q->add <= q->most - held ? DB_OK : DB_STOP);
}
