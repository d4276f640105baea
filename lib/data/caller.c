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
#define CALLER_COLS                                                   \
	DB_CLOCK ", k.id, k.workspace_id, k.user_id, "                \
		 "k.workspace_name, k.user_name, k.role, k.expires, " \
		 "k.name_space, k.revoked, k.disabled"
#define CALLER_NCOLS 11
#define KEY_IS " WHERE k.sha256 = UNHEX(?)"

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

/* Read CALLER_COLS: DATA_OK, DATA_NONE if the key is not valid, DATA_FAIL. */
static enum data_rc
caller_row(char *const *cols, struct caller *c)
{
	uint64_t expires = UINT64_MAX;

	c->workspace = cols[4];
	c->user = cols[5];
	if (cols[0] == NULL || db_clock_ms(cols[0], &c->now) ||
	    num_u64(cols[1], 1, UINT64_MAX, &c->key) ||
	    num_u64(cols[2], 1, UINT64_MAX, &c->owner.workspace) ||
	    num_u64(cols[3], 1, UINT64_MAX, &c->owner.user) ||
	    role_of_word(cols[6], &c->role) || cols[8] == NULL ||
	    (cols[7] != NULL && num_u64(cols[7], 0, UINT64_MAX, &expires))) {
		log_err("caller: bad row of key %s", cols[1]);
		return (DATA_FAIL);
	}
	c->names = strcmp(cols[8], "workspace") == 0 ? 0 : c->key;
	c->refused = cols[9] != NULL ? "revoked"
	    : expires <= c->now      ? "expired"
	    : cols[10] != NULL       ? "disabled"
				     : NULL;
	return (c->refused == NULL ? DATA_OK : DATA_NONE);
}

const char *
caller_why(
    struct db *db, struct arena *mem, const char *token, const struct caller *c)
{
	static const char sql[] = "SELECT disabled FROM workspace"
				  " WHERE id = ? AND disabled IS NOT NULL";
	const struct db_arg args[] = {DB_U64(c->owner.workspace)};
	char *col;

	if (!is_key(token))
		return ("malformed");
	if (c->refused == NULL)
		return ("unknown");
	if (strcmp(c->refused, "disabled") != 0)
		return (c->refused);
	return (db_row(db, mem, sql, args, NELEM(args), &col, 1) == DB_OK
		? "its workspace is disabled"
		: "its user is disabled");
}

enum data_rc
caller_find(struct db *db, struct arena *mem, const char *token, const char *id,
    struct caller *c, struct file *f, enum data_rc *have)
{
	/*
	 * Every request runs this, and each table and each expression in it is
	 * felt: the key's row repeats what it would have to be joined for, and
	 * what can be reckoned here is.
	 */
	/* clang-format off */
	static const char alone[] =
	    "SELECT " CALLER_COLS "  FROM api_key k" KEY_IS;
	static const char both[] =
	    "SELECT " CALLER_COLS ", " FILE_FOUND("f.")
	    "  FROM api_key k"
	    "  LEFT JOIN file f ON f.workspace_id = k.workspace_id"
	    "                  AND f.user_id = k.user_id AND f.pid = ?"
	    KEY_IS;
	/* clang-format on */
	char sha[HASH_SIZE], *cols[CALLER_NCOLS + FILE_NFOUND];
	enum db_rc dbrc;
	enum data_rc rc;

	c->key = 0;
	c->refused = NULL;
	if (!is_key(token))
		return (DATA_NONE);
	if (hash_sha256(token, strlen(token), sha))
		return (DATA_FAIL);
	const struct db_arg args[] = {DB_STR(id), DB_STR(sha)};
	dbrc = id != NULL
	    ? db_row(db, mem, both, args, 2, cols, NELEM(cols))
	    : db_row(db, mem, alone, &args[1], 1, cols, CALLER_NCOLS);
	if (dbrc != DB_OK)
		return (data_rc_of(dbrc));
	if ((rc = caller_row(cols, c)) == DATA_OK && id != NULL)
		*have = file_found(&cols[CALLER_NCOLS], c->now, f);
	return (rc);
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
