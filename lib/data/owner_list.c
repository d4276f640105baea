#include <string.h>

#include "base/log.h"
#include "base/num.h"

#include "data/db_rc.h"
#include "data/role.h"

#include "data/admin.h"

/* Rows a statement; a list may be long, and is read in pieces. */
#define PIECE 500
#define PIECE_SQL " ORDER BY 1 LIMIT 500"

/* A list being read: the row that was last told, and who is told. */
struct list {
	int (*row)(struct list *, char *const *);
	int (*workspace)(void *, const struct workspace *);
	int (*user)(void *, const struct user *);
	int (*key)(void *, const struct key *);
	void *cookie;
	uint64_t last;
	size_t n; /* Rows of this piece. */
};

static int
list_row(void *cookie, char *const *cols)
{
	struct list *l = cookie;

	l->n++;
	if (num_u64(cols[0], 1, UINT64_MAX, &l->last))
		return (-1);
	return (l->row(l, cols));
}

/* Run ${sql}, whose first column is the id and only parameter the last one. */
static enum data_rc
list_run(struct db *db, struct list *l, const char *sql, size_t ncols)
{
	enum db_rc rc = DB_OK;

	do {
		const struct db_arg args[] = {DB_U64(l->last)};

		l->n = 0;
		rc = db_rows(db, sql, args, 1, ncols, list_row, l);
	} while (rc == DB_OK && l->n == PIECE);
	return (data_rc_of(rc));
}

/* A time that may be NULL, which is 0. */
static int
ms(const char *s, uint64_t *x)
{

	*x = 0;
	return (s == NULL ? 0 : num_u64(s, 0, UINT64_MAX, x));
}

static int
workspace_row(struct list *l, char *const *cols)
{
	struct workspace w = {
	    .id = l->last, .name = cols[1], .tenant = cols[2]};

	if (ms(cols[3], &w.created) || ms(cols[4], &w.disabled))
		return (-1);
	return (l->workspace(l->cookie, &w));
}

enum data_rc
workspace_each(
    struct db *db, int (*fn)(void *, const struct workspace *), void *cookie)
{
	static const char sql[] =
	    "SELECT id, name, tenant, created, disabled FROM workspace"
	    " WHERE id > ?" PIECE_SQL;
	struct list l = {
	    .row = workspace_row, .workspace = fn, .cookie = cookie};

	return (list_run(db, &l, sql, 5));
}

static int
user_row(struct list *l, char *const *cols)
{
	struct user u = {.id = l->last, .workspace = cols[1], .name = cols[2]};

	if (ms(cols[3], &u.key) || ms(cols[4], &u.created) ||
	    ms(cols[5], &u.disabled))
		return (-1);
	return (l->user(l->cookie, &u));
}

enum data_rc
user_each(struct db *db, int (*fn)(void *, const struct user *), void *cookie)
{
	static const char sql[] =
	    "SELECT u.id, w.name, u.name, u.key_id, u.created, u.disabled"
	    "  FROM user u JOIN workspace w ON w.id = u.workspace_id"
	    " WHERE u.id > ?" PIECE_SQL;
	struct list l = {.row = user_row, .user = fn, .cookie = cookie};

	return (list_run(db, &l, sql, 6));
}

static int
key_row(struct list *l, char *const *cols)
{
	struct key k = {.id = l->last,
	    .hint = cols[1],
	    .workspace = cols[2],
	    .user = cols[3],
	    .label = cols[4]};

	k.shared = (strcmp(cols[6], "workspace") == 0);
	if (role_of_word(cols[5], &k.role) || ms(cols[7], &k.created) ||
	    ms(cols[8], &k.expires) || ms(cols[9], &k.revoked) ||
	    ms(cols[10], &k.disabled))
		return (-1);
	return (l->key(l->cookie, &k));
}

enum data_rc
key_each(struct db *db, int (*fn)(void *, const struct key *), void *cookie)
{
	static const char sql[] =
	    "SELECT id, hint, workspace_name, user_name, label, role,"
	    " name_space, created, expires, revoked, disabled"
	    "  FROM api_key WHERE id > ?" PIECE_SQL;
	struct list l = {.row = key_row, .key = fn, .cookie = cookie};

	return (list_run(db, &l, sql, 11));
}
