#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/num.h"

#include "data/db_rc.h"
#include "data/file_sql.h"
#include "data/quota.h"

#include "data/file.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define ID_TRIES 3

/*
 * Read the live row that ${p} made back into its file.  A server that is still
 * at the commit of which we have lost sight holds the row: wait for it.
 */
static enum db_rc
read_back(struct db *tx, struct publish *p)
{
	/* clang-format off */
	static const char sql[] =
	    "SELECT " FILE_COLS("")
	    "  FROM file WHERE id = ? AND state = 'live' FOR UPDATE";
	/* clang-format on */
	const struct db_arg args[] = {DB_U64(p->row)};
	char *cols[FILE_NCOLS];
	enum db_rc rc;

	rc = db_row(tx, p->mem, sql, args, NELEM(args), cols, NELEM(cols));
	if (rc == DB_OK && file_row(cols, p->f))
		return (DB_FAIL);
	return (rc);
}

/* Would ${p} pass its owner's quota? */
static enum db_rc
check_quota(struct db *tx, struct publish *p)
{
	const struct quota q = {.owner = p->owner,
	    .most = p->new->quota,
	    .add = p->new->bytes,
	    .joining = p->joining};
	enum db_rc rc;

	if (q.most == 0)
		return (DB_OK);
	if ((rc = quota_check(tx, p->mem, &q)) == DB_STOP)
		p->why = DATA_QUOTA;
	return (rc);
}

/* Make the row live under ${id}. */
static enum db_rc
make_live(
    struct db *tx, struct publish *p, const char *id, uint64_t now, uint64_t *n)
{
	static const char sql[] =
	    "UPDATE file SET state = 'live', pid = ?, origin = ?, name = ?,"
	    " mime = ?, purpose = ?, bytes = ?, sha256 = ?, created = ?,"
	    " expires = ?, sweep_at = ?"
	    " WHERE id = ? AND workspace_id = ? AND user_id = ?"
	    "   AND state = 'uploading' AND claim = 0";
	static const char *const origins[] = {
	    [FILE_UPLOAD] = "upload",
	    [FILE_RUN] = "run",
	    [FILE_PROVIDER] = "provider",
	};
	const struct file_new *new = p->new;
	const struct db_arg never = DB_NULL;
	struct db_arg expires = DB_U64(now + new->lifetime_s * 1000);

	if (new->lifetime_s == 0)
		expires = never;
	const struct db_arg args[] = {DB_STR(id), DB_STR(origins[new->origin]),
	    DB_STR(new->name), DB_STR(new->mime), DB_STR(new->purpose),
	    DB_U64(new->bytes), DB_STR(new->sha256), DB_U64(now), expires,
	    expires, DB_U64(p->row), DB_U64(p->owner->workspace),
	    DB_U64(p->owner->user)};

	return (db_exec(tx, sql, args, NELEM(args), n, NULL));
}

enum db_rc
file_publish_in(struct db *tx, struct publish *p)
{
	char id[FILE_IDLEN + 1];
	uint64_t now, n = 0;
	enum db_rc rc;
	int i;

	p->done = 0;
	if (p->unsure && (rc = read_back(tx, p)) != DB_NONE) {
		p->done = (rc == DB_OK);
		return (rc);
	}
	if ((rc = check_quota(tx, p)) != DB_OK ||
	    (rc = db_now(tx, &now)) != DB_OK)
		return (rc);
	rc = DB_DUP;
	for (i = 0; rc == DB_DUP && i < ID_TRIES; i++)
		rc = file_id_make(now, id) ? DB_FAIL
					   : make_live(tx, p, id, now, &n);
	if (rc != DB_OK)
		return (rc);
	if (n != 1) {
		p->why = DATA_STATE;
		return (DB_STOP);
	}
	return (read_back(tx, p));
}

enum data_rc
file_publish_run(struct db *db, struct publish *p, db_body *body, void *cookie)
{
	enum db_rc rc;

	/*
	 * A commit whose answer was lost is looked into by doing it again: the
	 * row says whether it had been done.
	 */
	if ((rc = db_tx(db, body, cookie)) == DB_UNSURE) {
		p->unsure = 1;
		rc = db_tx(db, body, cookie);
		if (rc != DB_OK && rc != DB_STOP)
			rc = DB_UNSURE;
	}
	return (rc == DB_STOP ? p->why : data_rc_of(rc));
}

/* Several of them. */
struct publish_all {
	struct publish one; /* What they share. */
	struct file_item *item;
	size_t n;
};

static enum db_rc
publish_body(struct db *tx, void *cookie)
{
	struct publish_all *all = cookie;
	struct publish *p = &all->one;
	enum db_rc rc = DB_OK;
	size_t i;

	for (i = 0; i < all->n && rc == DB_OK; i++) {
		p->row = all->item[i].row;
		p->new = &all->item[i].new;
		p->f = &all->item[i].made;
		rc = file_publish_in(tx, p);
	}
	return (rc);
}

enum data_rc
file_publish_all(struct db *db, struct arena *mem, const struct owner *owner,
    struct file_item *item, size_t n)
{
	struct publish_all all = {
	    .one = {.mem = mem, .owner = owner, .why = DATA_FAIL},
	    .item = item,
	    .n = n};

	if (n == 0)
		return (DATA_OK);
	return (file_publish_run(db, &all.one, publish_body, &all));
}

enum data_rc
file_publish(struct db *db, struct arena *mem, const struct owner *owner,
    uint64_t row, const struct file_new *new, struct file *f)
{
	struct file_item item = {.row = row, .new = *new};
	enum data_rc rc;

	rc = file_publish_all(db, mem, owner, &item, 1);
	*f = item.made;
	return (rc);
}
