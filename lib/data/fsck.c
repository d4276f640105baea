#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/num.h"

#include "data/db_rc.h"

#include "data/fsck.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

/* The same few statements for either table. */
#define ROWS(table)                                                  \
	"SELECT id, store_key, bytes FROM " table                    \
	" WHERE id > ? AND state = 'live' AND store_key IS NOT NULL" \
	" ORDER BY id LIMIT ?"
#define LIVE(table) "SELECT id FROM " table " WHERE id = ? AND state = 'live'"
#define BURY(table)                                         \
	"UPDATE " table " SET state = 'dead', sweep_at = ?" \
	" WHERE id = ? AND state = 'live'"

#define COUNT(table) "SELECT COUNT(*) FROM " table " WHERE state = 'live'"
#define OWNER                                              \
	"  LEFT JOIN workspace w ON w.id = f.workspace_id" \
	"  LEFT JOIN user u ON u.id = f.user_id"

/* A batch being filled in. */
struct batch {
	enum fsck_table table;
	struct fsck_row *rows;
	size_t n;
};

static int
batch_row(void *cookie, char *const *cols)
{
	struct batch *b = cookie;
	struct fsck_row *r = &b->rows[b->n];

	if (b->n == FSCK_BATCH)
		return (-1);
	r->table = b->table;
	r->bytes = 0;
	(void)snprintf(r->key, sizeof(r->key), "%s", cols[1]);
	/* A live row without a size is wrong whatever the blob is like. */
	if (num_u64(cols[0], 1, UINT64_MAX, &r->row) ||
	    (cols[2] != NULL && num_u64(cols[2], 0, UINT64_MAX, &r->bytes))) {
		log_err("fsck: bad row %s", cols[0]);
		return (-1);
	}
	b->n++;
	return (0);
}

enum data_rc
fsck_rows(struct db *db, enum fsck_table table, uint64_t after,
    struct fsck_row *rows, size_t *n)
{
	static const char *const sql[] = {
	    [FSCK_FILE] = ROWS("file"), [FSCK_PART] = ROWS("upload_part")};
	const struct db_arg args[] = {DB_U64(after), DB_U64(FSCK_BATCH)};
	struct batch b = {.table = table, .rows = rows};
	enum db_rc rc;

	rc = db_rows(db, sql[table], args, NELEM(args), 3, batch_row, &b);
	*n = b.n;
	return (data_rc_of(rc));
}

enum data_rc
fsck_count(struct db *db, enum fsck_table table, uint64_t *n)
{
	static const char *const sql[] = {
	    [FSCK_FILE] = COUNT("file"), [FSCK_PART] = COUNT("upload_part")};
	struct arena *mem;
	enum data_rc rc;
	char *col;

	if ((mem = arena_new(64)) == NULL)
		return (DATA_FAIL);
	rc = data_rc_of(db_row(db, mem, sql[table], NULL, 0, &col, 1));
	if (rc == DATA_OK && num_u64(col, 0, UINT64_MAX, n))
		rc = DATA_FAIL;
	arena_free(mem);
	return (rc);
}

enum data_rc
fsck_name(struct db *db, struct arena *mem, const struct fsck_row *r,
    struct fsck_name *name)
{
	static const char *const sql[] = {
	    [FSCK_FILE] =
		"SELECT f.pid, f.name, w.name, u.name FROM file f" OWNER
		" WHERE f.id = ?",
	    [FSCK_PART] = "SELECT f.pid, f.name, w.name, u.name"
			  "  FROM upload_part p JOIN upload f"
			  "    ON f.id = p.upload_id" OWNER " WHERE p.id = ?"};
	const struct db_arg args[] = {DB_U64(r->row)};
	char *cols[4];
	enum db_rc rc;

	rc = db_row(db, mem, sql[r->table], args, NELEM(args), cols, 4);
	if (rc != DB_OK)
		return (data_rc_of(rc));
	*name = (struct fsck_name){.pid = cols[0] != NULL ? cols[0] : "?",
	    .name = cols[1] != NULL ? cols[1] : "?",
	    .workspace = cols[2] != NULL ? cols[2] : "?",
	    .user = cols[3] != NULL ? cols[3] : "?"};
	return (DATA_OK);
}

enum data_rc
fsck_live(struct db *db, const struct fsck_row *r)
{
	static const char *const sql[] = {
	    [FSCK_FILE] = LIVE("file"), [FSCK_PART] = LIVE("upload_part")};
	const struct db_arg args[] = {DB_U64(r->row)};
	struct arena *mem;
	enum db_rc rc;
	char *col;

	if ((mem = arena_new(64)) == NULL)
		return (DATA_FAIL);
	rc = db_row(db, mem, sql[r->table], args, NELEM(args), &col, 1);
	arena_free(mem);
	return (data_rc_of(rc));
}

enum data_rc
fsck_bury(struct db *db, const struct fsck_row *r, uint64_t now)
{
	static const char *const sql[] = {
	    [FSCK_FILE] = BURY("file"), [FSCK_PART] = BURY("upload_part")};
	const struct db_arg args[] = {DB_U64(now), DB_U64(r->row)};
	uint64_t n;
	enum db_rc rc;

	rc = db_exec(db, sql[r->table], args, NELEM(args), &n, NULL);
	if (rc != DB_OK)
		return (data_rc_of(rc));
	return (n == 1 ? DATA_OK : DATA_NONE);
}

enum data_rc
fsck_known(struct db *db, const char *key, int *live)
{
	static const char sql[] =
	    "SELECT state = 'live' FROM file WHERE store_key = ?"
	    " UNION ALL "
	    "SELECT state = 'live' FROM upload_part WHERE store_key = ?";
	const struct db_arg args[] = {DB_STR(key), DB_STR(key)};
	struct arena *mem;
	enum db_rc rc;
	char *col;

	if ((mem = arena_new(64)) == NULL)
		return (DATA_FAIL);
	rc = db_row(db, mem, sql, args, NELEM(args), &col, 1);
	if (rc == DB_OK)
		*live = (strcmp(col, "1") == 0);
	arena_free(mem);
	return (data_rc_of(rc));
}
