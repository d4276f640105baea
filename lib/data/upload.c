#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/num.h"

#include "data/db_rc.h"
#include "data/file_sql.h"
#include "data/upload_sql.h"

#include "data/upload.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

struct create {
	struct arena *mem;
	const struct owner *owner;
	struct upload *u;
};

static enum db_rc
create_body(struct db *tx, void *cookie)
{
	static const char sql[] =
	    "INSERT INTO upload (pid, workspace_id, user_id, state, bytes,"
	    " name, mime, purpose, lifetime_s, created, expires, sweep_at)"
	    " VALUES (?, ?, ?, 'pending', ?, ?, ?, ?, ?, ?, ?, ?)";
	struct create *x = cookie;
	struct upload *u = x->u;
	char id[FILE_IDLEN + 1];
	enum db_rc rc;

	if ((rc = db_now(tx, &u->created)) != DB_OK)
		return (rc);
	u->expires = u->created + UPLOAD_LIFE_MS;
	if (file_id_make(u->created, id) ||
	    (u->id = arena_strndup(x->mem, id, FILE_IDLEN)) == NULL)
		return (DB_FAIL);
	const struct db_arg args[] = {DB_STR(id), DB_U64(x->owner->workspace),
	    DB_U64(x->owner->user), DB_U64(u->bytes), DB_STR(u->name),
	    DB_STR(u->mime), DB_STR(u->purpose), DB_U64(u->lifetime_s),
	    DB_U64(u->created), DB_U64(u->expires), DB_U64(u->expires)};
	return (db_exec(tx, sql, args, NELEM(args), NULL, &u->row));
}

enum data_rc
upload_create(struct db *db, struct arena *mem, const struct owner *owner,
    struct upload *u)
{
	struct create x = {.mem = mem, .owner = owner, .u = u};
	enum data_rc rc;

	u->owner = *owner;
	u->state = UPLOAD_PENDING;
	u->file = NULL;
	rc = data_rc_of(db_tx(db, create_body, &x));
	/* One that may be there unknown to its owner is gone in an hour. */
	return (rc == DATA_UNSURE ? DATA_DOWN : rc);
}

static int
upload_row(char *const *cols, struct upload *u)
{
	static const char *const states[] = {
	    [UPLOAD_PENDING] = "pending",
	    [UPLOAD_COMPLETED] = "completed",
	    [UPLOAD_CANCELLED] = "cancelled",
	    [UPLOAD_EXPIRED] = "expired",
	};
	size_t i;

	memset(u, 0, sizeof(*u));
	u->id = cols[1];
	u->name = cols[2];
	u->mime = cols[3];
	u->purpose = cols[4];
	u->file = cols[10];
	for (i = 0; i < NELEM(states); i++)
		if (strcmp(cols[9], states[i]) == 0)
			u->state = (enum upload_state)i;
	if (num_u64(cols[0], 1, UINT64_MAX, &u->row) ||
	    num_u64(cols[5], 0, UINT64_MAX, &u->bytes) ||
	    num_u64(cols[6], 0, UINT64_MAX, &u->created) ||
	    num_u64(cols[7], 0, UINT64_MAX, &u->expires) ||
	    num_u64(cols[8], 0, UINT64_MAX, &u->lifetime_s) ||
	    num_u64(cols[11], 0, UINT64_MAX, &u->parts)) {
		log_err("upload: bad row %s", cols[0]);
		return (-1);
	}
	return (0);
}

enum data_rc
upload_find(struct db *db, struct arena *mem, const struct owner *owner,
    const char *id, uint64_t now, struct upload *u)
{
	/* clang-format off */
	static const char sql[] =
	    "SELECT u.id, u.pid, u.name, u.mime, u.purpose, u.bytes, u.created,"
	    " u.expires, u.lifetime_s,"
	    " IF(u.state = 'pending' AND NOT (" UPLOAD_PENDS("u.") "),"
	    "    'expired', u.state), f.pid, u.parts"
	    "  FROM upload u LEFT JOIN file f ON f.id = u.file_id"
	    " WHERE u.workspace_id = ? AND u.user_id = ? AND u.pid = ?";
	/* clang-format on */
	char *cols[12];
	enum db_rc rc;

	if ((id = file_id_bare(id, "upload_")) == NULL)
		return (DATA_NONE);
	const struct db_arg args[] = {DB_U64(now), DB_U64(owner->workspace),
	    DB_U64(owner->user), DB_STR(id)};
	rc = db_row(db, mem, sql, args, NELEM(args), cols, NELEM(cols));
	if (rc != DB_OK)
		return (data_rc_of(rc));
	if (upload_row(cols, u))
		return (DATA_FAIL);
	u->owner = *owner;
	return (DATA_OK);
}

/* Make ${u}'s parts dead. */
static enum db_rc
parts_die(struct db *tx, uint64_t upload, uint64_t now)
{
	static const char sql[] =
	    "UPDATE upload_part SET state = 'dead', sweep_at = ?"
	    " WHERE upload_id = ? AND state = 'live'";
	const struct db_arg args[] = {DB_U64(now), DB_U64(upload)};

	return (db_exec(tx, sql, args, NELEM(args), NULL, NULL));
}

struct complete {
	struct publish p;
	uint64_t upload;
};

static enum db_rc
complete_body(struct db *tx, void *cookie)
{
	static const char sql[] =
	    "UPDATE upload SET state = 'completed', file_id = ?, sweep_at = ?"
	    " WHERE id = ? AND " UPLOAD_PENDS("");
	struct complete *x = cookie;
	const struct file *f = x->p.f;
	uint64_t n;
	enum db_rc rc;

	/* One that turns out to have been done was done whole. */
	if ((rc = file_publish_in(tx, &x->p)) != DB_OK || x->p.done)
		return (rc);
	const struct db_arg args[] = {DB_U64(x->p.row), DB_U64(f->created),
	    DB_U64(x->upload), DB_U64(f->created)};
	if ((rc = db_exec(tx, sql, args, NELEM(args), &n, NULL)) != DB_OK)
		return (rc);
	if (n == 1)
		return (parts_die(tx, x->upload, f->created));
	x->p.why = DATA_STATE;
	return (DB_STOP);
}

enum data_rc
upload_complete(struct db *db, struct arena *mem, const struct owner *owner,
    const struct upload *u, uint64_t row, const struct file_new *new,
    struct file *f)
{
	struct complete x = {.p = {.mem = mem,
				 .owner = owner,
				 .row = row,
				 .new = new,
				 .f = f,
				 .joining = u->row},
	    .upload = u->row};

	return (file_publish_run(db, &x.p, complete_body, &x));
}

struct cancel {
	uint64_t upload, now;
};

static enum db_rc
cancel_body(struct db *tx, void *cookie)
{
	static const char sql[] =
	    "UPDATE upload SET state = 'cancelled', sweep_at = ?"
	    " WHERE id = ? AND " UPLOAD_PENDS("");
	struct cancel *x = cookie;
	const struct db_arg args[] = {
	    DB_U64(x->now), DB_U64(x->upload), DB_U64(x->now)};
	uint64_t n;
	enum db_rc rc;

	if ((rc = db_exec(tx, sql, args, NELEM(args), &n, NULL)) != DB_OK)
		return (rc);
	if (n == 1)
		return (parts_die(tx, x->upload, x->now));
	return (DB_STOP);
}

enum data_rc
upload_cancel(struct db *db, const struct upload *u, uint64_t now)
{
	struct cancel x = {.upload = u->row, .now = now};
	enum db_rc rc;

	rc = db_tx(db, cancel_body, &x);
	return (rc == DB_STOP ? DATA_STATE : data_rc_of(rc));
}
