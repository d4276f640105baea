#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/num.h"

#include "data/db_rc.h"
#include "data/file_sql.h"
#include "data/quota.h"
#include "data/upload_sql.h"

#include "data/upload.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

enum data_rc
upload_part_begin(struct db *db, const struct upload *u, const char *key,
    uint64_t now, uint64_t *row)
{
	static const char sql[] =
	    "INSERT INTO upload_part"
	    " (upload_id, state, store_key, created, sweep_at)"
	    " SELECT u.id, 'uploading', ?, ?, ? FROM upload u"
	    "  WHERE u.id = ? AND " UPLOAD_PENDS("u.");
	const struct db_arg args[] = {
	    DB_STR(key), DB_U64(now), DB_U64(now), DB_U64(u->row), DB_U64(now)};
	uint64_t n;
	enum db_rc rc;

	if ((rc = db_exec(db, sql, args, NELEM(args), &n, row)) != DB_OK)
		return (data_rc_of(rc));
	return (n == 1 ? DATA_OK : DATA_STATE);
}

void
upload_part_drop(struct db *db, uint64_t row)
{
	static const char sql[] =
	    "DELETE FROM upload_part WHERE id = ? AND state = 'uploading'";
	const struct db_arg args[] = {DB_U64(row)};

	(void)db_exec(db, sql, args, NELEM(args), NULL, NULL);
}

/* Read "id, pid, store_key, bytes, created" into ${p}. */
static int
part_row(char *const *cols, struct upload_part *p)
{

	p->id = cols[1];
	p->key = cols[2];
	if (num_u64(cols[0], 1, UINT64_MAX, &p->row) || p->id == NULL ||
	    num_u64(cols[3], 0, UINT64_MAX, &p->bytes) ||
	    num_u64(cols[4], 0, UINT64_MAX, &p->created)) {
		log_err("upload: bad part %s", cols[0]);
		return (-1);
	}
	return (0);
}

/* A part being made live. */
struct part_publish {
	struct arena *mem;
	const struct upload *u;
	uint64_t row, bytes, now;
	struct upload_part *part;
	enum data_rc why; /* Of a DB_STOP. */
	int unsure;       /* An earlier commit may have been done. */
};

/* Read the live part that ${x} made back; it is held as in file_publish.c. */
static enum db_rc
part_read_back(struct db *tx, struct part_publish *x)
{
	static const char sql[] =
	    "SELECT id, pid, store_key, bytes, created  FROM upload_part"
	    " WHERE id = ? AND state = 'live' FOR UPDATE";
	const struct db_arg args[] = {DB_U64(x->row)};
	char *cols[5];
	enum db_rc rc;

	rc = db_row(tx, x->mem, sql, args, NELEM(args), cols, NELEM(cols));
	if (rc == DB_OK && part_row(cols, x->part))
		return (DB_FAIL);
	return (rc);
}

/* Would it pass the owner's quota? */
static enum db_rc
check_quota(struct db *tx, struct part_publish *x)
{
	const struct quota q = {
	    .owner = &x->u->owner, .most = x->u->quota, .add = x->bytes};
	enum db_rc rc;

	if (q.most == 0)
		return (DB_OK);
	if ((rc = quota_check(tx, x->mem, &q)) == DB_STOP)
		x->why = DATA_QUOTA;
	return (rc);
}

static enum db_rc
part_body(struct db *tx, void *cookie)
{
	/*
	 * Counting the part keeps a completion or a cancellation of the same
	 * upload from happening at the same time, on whatever node.
	 */
	static const char count[] =
	    "UPDATE upload SET parts = parts + 1, held = held + ?"
	    " WHERE id = ? AND parts < ? AND " UPLOAD_PENDS("");
	static const char live[] =
	    "UPDATE upload_part SET state = 'live', pid = ?, bytes = ?,"
	    " created = ?, sweep_at = ?"
	    " WHERE id = ? AND upload_id = ? AND state = 'uploading'"
	    "   AND claim = 0";
	struct part_publish *x = cookie;
	const struct upload *u = x->u;
	char id[FILE_IDLEN + 1];
	uint64_t n;
	enum db_rc rc;

	if (x->unsure && (rc = part_read_back(tx, x)) != DB_NONE)
		return (rc);
	if ((rc = check_quota(tx, x)) != DB_OK)
		return (rc);
	if (file_id_make(x->now, id))
		return (DB_FAIL);
	const struct db_arg up[] = {DB_U64(x->bytes), DB_U64(u->row),
	    DB_U64(UPLOAD_PARTS_MAX), DB_U64(x->now)};
	const struct db_arg part[] = {DB_STR(id), DB_U64(x->bytes),
	    DB_U64(x->now), DB_U64(u->expires), DB_U64(x->row), DB_U64(u->row)};
	if ((rc = db_exec(tx, count, up, NELEM(up), &n, NULL)) != DB_OK)
		return (rc);
	if (n != 1)
		return (DB_STOP);
	if ((rc = db_exec(tx, live, part, NELEM(part), &n, NULL)) != DB_OK)
		return (rc);
	return (n == 1 ? part_read_back(tx, x) : DB_STOP);
}

enum data_rc
upload_part_publish(struct db *db, struct arena *mem, const struct upload *u,
    uint64_t row, uint64_t bytes, uint64_t now, struct upload_part *p)
{
	struct part_publish x = {.mem = mem,
	    .u = u,
	    .row = row,
	    .bytes = bytes,
	    .now = now,
	    .part = p,
	    .why = DATA_STATE};
	enum db_rc rc;

	/* As file_publish_run(): the row tells what became of a lost commit. */
	if ((rc = db_tx(db, part_body, &x)) == DB_UNSURE) {
		x.unsure = 1;
		rc = db_tx(db, part_body, &x);
		if (rc != DB_OK && rc != DB_STOP)
			rc = DB_UNSURE;
	}
	return (rc == DB_STOP ? x.why : data_rc_of(rc));
}

enum data_rc
upload_part_find(struct db *db, struct arena *mem, const struct upload *u,
    const char *id, struct upload_part *p)
{
	static const char sql[] =
	    "SELECT id, pid, store_key, bytes, created  FROM upload_part"
	    " WHERE upload_id = ? AND pid = ? AND state = 'live'";
	char *cols[5];
	enum db_rc rc;

	if ((id = file_id_bare(id, "part_")) == NULL)
		return (DATA_NONE);
	const struct db_arg args[] = {DB_U64(u->row), DB_STR(id)};
	rc = db_row(db, mem, sql, args, NELEM(args), cols, NELEM(cols));
	if (rc != DB_OK)
		return (data_rc_of(rc));
	return (part_row(cols, p) ? DATA_FAIL : DATA_OK);
}
