#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/num.h"

#include "data/admin.h"
#include "data/db_rc.h"
#include "data/file_sql.h"
#include "data/role.h"

#include "data/caller.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

/* The columns of a caller, before those of the file. */
#define CALLER_COLS \
	"k.id, k.workspace_id, k.user_id, k.role, w.name, u.name, " DB_NOW_MS
#define CALLER_NCOLS 7

/* Has ${token} the form of a key? */
static int
is_key(const char *token)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "abcdefghijklmnopqrstuvwxyz0123456789";
	const size_t skip = sizeof(KEY_PREFIX) - 1;

	return (strncmp(token, KEY_PREFIX, skip) == 0 &&
	    strspn(token + skip, allowed) == KEY_RANDOM &&
	    token[KEY_LEN] == '\0');
}

static int
caller_row(char *const *cols, struct caller *c)
{

	c->workspace = cols[4];
	c->user = cols[5];
	if (num_u64(cols[0], 1, UINT64_MAX, &c->key) ||
	    num_u64(cols[1], 1, UINT64_MAX, &c->owner.workspace) ||
	    num_u64(cols[2], 1, UINT64_MAX, &c->owner.user) ||
	    role_of_word(cols[3], &c->role) ||
	    num_u64(cols[6], 1, UINT64_MAX, &c->now)) {
		log_err("caller: bad row of key %s", cols[0]);
		return (-1);
	}
	return (0);
}

enum data_rc
caller_find(struct db *db, struct arena *mem, const char *token, const char *id,
    struct caller *c, struct file *f, enum data_rc *have)
{
	static const char sql[] = "SELECT " CALLER_COLS ", " FILE_COLS(
	    "f.") ", " FILE_LIVE("f.",
	    DB_NOW_MS) "  FROM api_key k"
		       "  JOIN user u ON u.id = k.user_id AND u.disabled IS "
		       "NULL"
		       "  JOIN workspace w ON w.id = k.workspace_id"
		       "                  AND w.disabled IS NULL"
		       "  LEFT JOIN file f ON f.workspace_id = k.workspace_id"
		       "                  AND f.user_id = k.user_id AND f.pid "
		       "= ?"
		       "                  AND " FILE_FOUND(
			   "f.", DB_NOW_MS) " WHERE k.sha256 = UNHEX(?) AND "
					    "k.revoked IS NULL"
					    "   AND (k.expires IS NULL OR "
					    "k.expires > " DB_NOW_MS ")";
	char sha[HASH_SIZE], *cols[CALLER_NCOLS + FILE_NCOLS + 1];
	enum db_rc rc;

	if (!is_key(token))
		return (DATA_NONE);
	if (hash_sha256(token, strlen(token), sha))
		return (DATA_FAIL);
	const struct db_arg args[] = {DB_STR(id), DB_STR(sha)};
	rc = db_row(db, mem, sql, args, NELEM(args), cols, NELEM(cols));
	if (rc != DB_OK)
		return (data_rc_of(rc));
	if (caller_row(cols, c))
		return (DATA_FAIL);
	if (id == NULL)
		return (DATA_OK);
	if (cols[CALLER_NCOLS] == NULL)
		*have = DATA_NONE;
	else if (file_row(&cols[CALLER_NCOLS], f))
		*have = DATA_FAIL;
	else if (strcmp(cols[CALLER_NCOLS + FILE_NCOLS], "1") == 0)
		*have = DATA_OK;
	else
		*have = DATA_EXPIRED;
	return (DATA_OK);
}

/* The users found for caller_act_as(). */
struct found {
	struct arena *mem;
	struct caller *c;
	size_t n;
};

static int
found_row(void *cookie, char *const *cols)
{
	struct found *x = cookie;

	if (x->n++ > 0)
		return (0);
	x->c->workspace = arena_strndup(x->mem, cols[2], strlen(cols[2]));
	x->c->user = arena_strndup(x->mem, cols[3], strlen(cols[3]));
	if (x->c->workspace == NULL || x->c->user == NULL ||
	    num_u64(cols[0], 1, UINT64_MAX, &x->c->owner.workspace) ||
	    num_u64(cols[1], 1, UINT64_MAX, &x->c->owner.user))
		return (-1);
	return (0);
}

enum data_rc
caller_act_as(struct db *db, struct arena *mem, struct caller *c,
    const char *user, const char *workspace)
{
	static const char sql[] =
	    "SELECT w.id, u.id, w.name, u.name"
	    "  FROM user u JOIN workspace w ON w.id = u.workspace_id"
	    " WHERE u.name = ? AND u.key_id = 0 AND u.disabled IS NULL"
	    "   AND w.disabled IS NULL AND (? IS NULL OR w.name = ?) LIMIT 2";
	const struct db_arg args[] = {
	    DB_STR(user), DB_STR(workspace), DB_STR(workspace)};
	struct caller as = *c;
	struct found x = {.mem = mem, .c = &as};
	enum db_rc rc;

	rc = db_rows(db, sql, args, NELEM(args), 4, found_row, &x);
	if (rc != DB_OK)
		return (data_rc_of(rc));
	if (x.n != 1)
		return (x.n == 0 ? DATA_NONE : DATA_STATE);
	*c = as;
	return (DATA_OK);
}
