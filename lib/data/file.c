#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/num.h"

#include "data/db_rc.h"
#include "data/file_sql.h"

#include "data/file.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

int
file_row(char *const *cols, struct file *f)
{
	static const char *const origins[] = {
	    [FILE_UPLOAD] = "upload",
	    [FILE_RUN] = "run",
	    [FILE_PROVIDER] = "provider",
	};
	size_t i;

	memset(f, 0, sizeof(*f));
	f->id = cols[1];
	f->name = cols[2];
	f->mime = cols[3];
	f->purpose = cols[4];
	f->key = cols[5];
	f->sha256 = cols[6];
	for (i = 0; i < NELEM(origins); i++)
		if (cols[10] != NULL && strcmp(cols[10], origins[i]) == 0)
			f->origin = (enum file_origin)i;
	/* A size nobody knows yet, and an expiry that is never, are 0. */
	if (num_u64(cols[0], 1, UINT64_MAX, &f->row) || f->id == NULL ||
	    (cols[7] != NULL && num_u64(cols[7], 0, UINT64_MAX, &f->bytes)) ||
	    num_u64(cols[8], 0, UINT64_MAX, &f->created) ||
	    (cols[9] != NULL && num_u64(cols[9], 0, UINT64_MAX, &f->expires))) {
		log_err("file: bad row %s", cols[0] != NULL ? cols[0] : "");
		return (-1);
	}
	return (0);
}

/* Rows to be begun. */
struct beginning {
	const struct owner *owner;
	const char *const *key;
	size_t n;
	uint64_t now, *row;
};

static enum db_rc
insert(struct db *db, const struct owner *o, const char *key, uint64_t now,
    uint64_t *row)
{
	static const char sql[] =
	    "INSERT INTO file (workspace_id, user_id, state, origin, store_key,"
	    " name, mime, purpose, created, sweep_at)"
	    " VALUES (?, ?, 'uploading', 'upload', ?, '', '', '', ?, ?)";
	const struct db_arg args[] = {DB_U64(o->workspace), DB_U64(o->user),
	    DB_STR(key), DB_U64(now), DB_U64(now)};

	return (db_exec(db, sql, args, NELEM(args), NULL, row));
}

enum data_rc
file_begin(struct db *db, const struct owner *o, const char *key, uint64_t now,
    uint64_t *row)
{

	return (data_rc_of(insert(db, o, key, now, row)));
}

static enum db_rc
beginning_body(struct db *db, void *cookie)
{
	const struct beginning *b = cookie;
	enum db_rc rc = DB_OK;
	size_t i;

	for (i = 0; i < b->n && rc == DB_OK; i++)
		rc = insert(db, b->owner, b->key[i], b->now, &b->row[i]);
	return (rc);
}

enum data_rc
file_begin_all(struct db *db, const struct owner *o, const char *const *key,
    size_t n, uint64_t now, uint64_t *row)
{
	struct beginning b = {o, key, n, now, row};

	if (n < 2)
		return (n == 0 ? DATA_OK : file_begin(db, o, *key, now, row));
	return (data_rc_of(db_tx(db, beginning_body, &b)));
}

void
file_drop(struct db *db, uint64_t row)
{
	static const char sql[] =
	    "DELETE FROM file WHERE id = ? AND state = 'uploading'";
	const struct db_arg args[] = {DB_U64(row)};

	(void)db_exec(db, sql, args, NELEM(args), NULL, NULL);
}

enum data_rc
file_found(char *const *cols, uint64_t now, struct file *f)
{
	const char *sweep_at = cols[FILE_NCOLS], *state = cols[FILE_NCOLS + 1];
	uint64_t died = UINT64_MAX;

	/* It never was live: it has no id. */
	if (cols[1] == NULL)
		return (DATA_NONE);
	if (file_row(cols, f) || state == NULL ||
	    (sweep_at != NULL && num_u64(sweep_at, 0, UINT64_MAX, &died)))
		return (DATA_FAIL);
	if (strcmp(state, "live") == 0 && died > now)
		return (DATA_OK);

	/* A live row is to be swept at its expiry, a dead one died then. */
	if (f->expires != 0 && sweep_at != NULL && f->expires <= died)
		return (DATA_EXPIRED);
	return (DATA_NONE);
}

enum data_rc
file_find(struct db *db, struct arena *mem, const struct owner *o,
    const char *id, uint64_t now, struct file *f)
{
	/* clang-format off */
	static const char sql[] =
	    "SELECT " FILE_FOUND("") "  FROM file"
	    " WHERE workspace_id = ? AND user_id = ? AND pid = ?";
	/* clang-format on */
	const struct db_arg args[] = {
	    DB_U64(o->workspace), DB_U64(o->user), DB_STR(id)};
	char *cols[FILE_NFOUND];
	enum db_rc rc;

	rc = db_row(db, mem, sql, args, NELEM(args), cols, NELEM(cols));
	return (rc == DB_OK ? file_found(cols, now, f) : data_rc_of(rc));
}

enum data_rc
file_delete(struct db *db, const struct owner *o, const char *id, uint64_t now)
{
	static const char sql[] =
	    "UPDATE file SET state = 'dead', sweep_at = ?"
	    " WHERE workspace_id = ? AND user_id = ? AND pid = ?"
	    "   AND " FILE_LIVE("", "?");
	const struct db_arg args[] = {DB_U64(now), DB_U64(o->workspace),
	    DB_U64(o->user), DB_STR(id), DB_U64(now)};
	uint64_t n;
	enum db_rc rc;

	if ((rc = db_exec(db, sql, args, NELEM(args), &n, NULL)) != DB_OK)
		return (data_rc_of(rc));
	return (n == 1 ? DATA_OK : DATA_NONE);
}

enum data_rc
file_position(
    struct db *db, const struct owner *o, const char *id, struct file_pos *pos)
{
	static const char sql[] =
	    "SELECT created FROM file"
	    " WHERE workspace_id = ? AND user_id = ? AND pid = ?";
	const struct db_arg args[] = {
	    DB_U64(o->workspace), DB_U64(o->user), DB_STR(id)};
	struct arena *mem;
	enum db_rc rc;
	char *col;
	int bad = 0;

	if (strlen(id) > FILE_IDMAX)
		return (DATA_NONE);
	if ((mem = arena_new(64)) == NULL)
		return (DATA_FAIL);
	rc = db_row(db, mem, sql, args, NELEM(args), &col, 1);
	if (rc == DB_OK)
		bad = num_u64(col, 0, UINT64_MAX, &pos->created);
	else if (rc == DB_NONE && file_id_time(id, &pos->created) == 0)
		rc = DB_OK;
	arena_free(mem);
	(void)snprintf(pos->id, sizeof(pos->id), "%s", id);
	return (bad ? DATA_FAIL : data_rc_of(rc));
}
