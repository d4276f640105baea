#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/num.h"

#include "data/db_rc.h"
#include "data/file_sql.h"

#include "data/container.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

/* The columns file_of() reads, before those of FILE_FOUND. */
#define LINK_COLS "c.path, c.pid, c.source, c.created"
#define LINK_NCOLS 4
#define ALL_NCOLS (LINK_NCOLS + FILE_NFOUND)

/* clang-format off */
#define JOIN								\
	"  JOIN file f ON f.workspace_id = ? AND f.user_id = ?"		\
	" AND f.pid = c.pid"
#define SELECT_ALL "SELECT " LINK_COLS ", " FILE_FOUND("f.")
/* clang-format on */

/* Files being put into a container. */
struct putting {
	uint64_t row, now;
	const struct container_put *put;
	size_t n;
};

static enum db_rc
put_one(
    struct db *db, uint64_t row, const struct container_put *p, uint64_t now)
{
	static const char sql[] =
	    "INSERT INTO container_file"
	    " (container_row, pid, path, source, created)"
	    " VALUES (?, ?, ?, ?, ?) ON DUPLICATE KEY UPDATE"
	    " pid = ?, path = ?, source = ?, created = ?";
	const struct db_arg bytes = DB_BIN(p->path, strlen(p->path));
	const char *source = p->produced ? "assistant" : "user";
	const struct db_arg args[] = {DB_U64(row), DB_STR(p->id), bytes,
	    DB_STR(source), DB_U64(now), DB_STR(p->id), bytes, DB_STR(source),
	    DB_U64(now)};

	if (bytes.len > CONTAINER_PATHMAX)
		return (DB_OK); /* It is a file all the same. */
	return (db_exec(db, sql, args, NELEM(args), NULL, NULL));
}

static enum db_rc
putting_body(struct db *tx, void *cookie)
{
	const struct putting *x = cookie;
	enum db_rc rc = DB_OK;
	size_t i;

	for (i = 0; i < x->n && rc == DB_OK; i++)
		rc = put_one(tx, x->row, &x->put[i], x->now);
	return (rc);
}

enum data_rc
container_file_put(struct db *db, uint64_t row, const struct container_put *put,
    size_t n, uint64_t now)
{
	struct putting x = {row, now, put, n};

	if (n < 2)
		return (
		    n == 0 ? DATA_OK : data_rc_of(put_one(db, row, put, now)));
	return (data_rc_of(db_tx(db, putting_body, &x)));
}

enum data_rc
container_file_drop(struct db *db, uint64_t row, const char *id)
{
	static const char sql[] =
	    "DELETE FROM container_file WHERE container_row = ? AND pid = ?";
	const struct db_arg args[] = {DB_U64(row), DB_STR(id)};
	uint64_t n;
	enum db_rc rc;

	if ((rc = db_exec(db, sql, args, NELEM(args), &n, NULL)) != DB_OK)
		return (data_rc_of(rc));
	return (n == 1 ? DATA_OK : DATA_NONE);
}

/* Read the columns of SELECT_ALL, at ${now}. */
static int
file_of(char *const *cols, uint64_t now, struct container_file *f)
{

	memset(f, 0, sizeof(*f));
	f->path = cols[0];
	f->id = cols[1];
	f->produced = strcmp(cols[2], "assistant") == 0;
	f->rc = DATA_NONE;
	if (num_u64(cols[3], 0, UINT64_MAX, &f->created)) {
		log_err("container: bad row of file %s", f->id);
		return (-1);
	}
	if (cols[LINK_NCOLS] != NULL)
		f->rc = file_found(&cols[LINK_NCOLS], now, &f->file);
	return (f->rc == DATA_FAIL ? -1 : 0);
}

struct rows {
	struct arena *mem;
	uint64_t now;
	struct container_file *f;
	size_t n, max;
};

static int
add_row(void *cookie, char *const *cols)
{
	struct rows *x = cookie;
	char *own[ALL_NCOLS];
	size_t i;

	if (x->n == x->max)
		return (-1);
	for (i = 0; i < ALL_NCOLS; i++) {
		own[i] = NULL;
		if (cols[i] != NULL &&
		    (own[i] = arena_strndup(
			 x->mem, cols[i], strlen(cols[i]))) == NULL)
			return (-1);
	}
	return (file_of(own, x->now, &x->f[x->n++]));
}

enum data_rc
container_files(struct db *db, struct arena *mem, const struct owner *o,
    uint64_t row, uint64_t now, struct container_file **f, size_t *n)
{
	/* clang-format off */
	static const char sql[] =
	    SELECT_ALL "  FROM container_file c LEFT" JOIN
	    " WHERE c.container_row = ?"
	    " ORDER BY c.created, c.pid LIMIT ?";
	/* clang-format on */
	const struct db_arg args[] = {DB_U64(o->workspace), DB_U64(o->user),
	    DB_U64(row), DB_U64(CONTAINER_FILES_MAX)};
	struct rows x = {.mem = mem, .now = now, .max = CONTAINER_FILES_MAX};
	enum db_rc rc;

	x.f = arena_alloc(mem, CONTAINER_FILES_MAX * sizeof(*x.f));
	if (x.f == NULL)
		return (DATA_FAIL);
	rc = db_rows(db, sql, args, NELEM(args), ALL_NCOLS, add_row, &x);
	*f = x.f;
	*n = x.n;
	return (data_rc_of(rc));
}

/* clang-format off */
#define PAGE(cmp, dir)							\
	SELECT_ALL "  FROM container_file c"				\
	"  FORCE INDEX (container_file_list)" JOIN			\
	" WHERE c.container_row = ? AND " FILE_LIVE("f.", "?")		\
	"   AND (c.created " cmp " ? OR (c.created = ? AND c.pid " cmp " ?))" \
	" ORDER BY c.created " dir ", c.pid " dir " LIMIT ?"
/* clang-format on */

enum data_rc
container_files_page(struct db *db, struct arena *mem,
    const struct container_query *q, uint64_t row, struct container_file *f,
    size_t *n)
{
	static const char *const pages[] = {
	    PAGE("<", "DESC"), PAGE(">", "ASC")};
	struct rows x = {.mem = mem, .now = q->now, .f = f, .max = q->limit};
	struct container_file at = {.created = q->ascending ? 0 : UINT64_MAX};
	const char *after = q->after != NULL ? q->after : "";
	enum data_rc rc;

	if (q->after != NULL &&
	    (rc = container_file_find(
		 db, mem, q->owner, row, after, q->now, &at)) != DATA_OK)
		return (rc);
	const struct db_arg args[] = {DB_U64(q->owner->workspace),
	    DB_U64(q->owner->user), DB_U64(row), DB_U64(q->now),
	    DB_U64(at.created), DB_U64(at.created), DB_STR(after),
	    DB_U64(q->limit)};
	rc = data_rc_of(db_rows(db, pages[q->ascending != 0], args, NELEM(args),
	    ALL_NCOLS, add_row, &x));
	*n = x.n;
	return (rc);
}

enum data_rc
container_file_find(struct db *db, struct arena *mem, const struct owner *o,
    uint64_t row, const char *id, uint64_t now, struct container_file *f)
{
	/* clang-format off */
	static const char sql[] =
	    SELECT_ALL "  FROM container_file c" JOIN
	    " WHERE c.container_row = ? AND c.pid = ?";
	/* clang-format on */
	const struct db_arg args[] = {
	    DB_U64(o->workspace), DB_U64(o->user), DB_U64(row), DB_STR(id)};
	char *cols[ALL_NCOLS];
	enum db_rc rc;

	rc = db_row(db, mem, sql, args, NELEM(args), cols, NELEM(cols));
	if (rc != DB_OK)
		return (data_rc_of(rc));
	if (file_of(cols, now, f))
		return (DATA_FAIL);
	return (f->rc == DATA_OK ? DATA_OK : DATA_NONE);
}
