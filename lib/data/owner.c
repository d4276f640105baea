#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/num.h"
#include "base/utf8.h"

#include "data/db_rc.h"

#include "data/admin.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define NAME_MAX_BYTES 255

int
admin_name_ok(const char *s)
{
	size_t i, len = strlen(s);

	if (len < 1 || len > NAME_MAX_BYTES || !utf8_valid(s, len))
		return (0);
	for (i = 0; i < len; i++)
		if ((unsigned char)s[i] < ' ' || s[i] == 0x7f)
			return (0);
	return (s[0] != ' ' && s[len - 1] != ' ');
}

enum data_rc
workspace_create(
    struct db *db, const char *name, const char *tenant, uint64_t *id)
{
	static const char sql[] =
	    "INSERT INTO workspace (name, tenant, created)"
	    " VALUES (?, ?, " DB_NOW_MS ")";
	const struct db_arg args[] = {DB_STR(name), DB_STR(tenant)};

	return (data_rc_of(db_exec(db, sql, args, NELEM(args), NULL, id)));
}

enum data_rc
user_create(
    struct db *db, const char *workspace, const char *name, uint64_t *id)
{
	static const char sql[] =
	    "INSERT INTO user (workspace_id, key_id, name, created)"
	    " SELECT w.id, 0, ?, " DB_NOW_MS " FROM workspace w"
	    "  WHERE w.name = ?";
	const struct db_arg args[] = {DB_STR(name), DB_STR(workspace)};
	uint64_t n;
	enum db_rc rc;

	if ((rc = db_exec(db, sql, args, NELEM(args), &n, id)) != DB_OK)
		return (data_rc_of(rc));
	return (n == 1 ? DATA_OK : DATA_NONE);
}

/* An owner being switched on or off, and his keys with him. */
struct change {
	const char *sql;   /* Switches; changes no row if it is so already. */
	const char *there; /* Finds the owner in whatever state. */
	const char *keys;  /* Tells his keys. */
	struct db_arg args[2];
	size_t nargs;
	enum data_rc why; /* Of a DB_STOP. */
};

static enum db_rc
change_body(struct db *tx, void *cookie)
{
	struct change *c = cookie;
	struct arena *mem;
	uint64_t n;
	enum db_rc rc;
	char *col;

	if ((rc = db_exec(tx, c->sql, c->args, c->nargs, &n, NULL)) != DB_OK)
		return (rc);
	if (n == 1)
		return (db_exec(tx, c->keys, c->args, c->nargs, NULL, NULL));
	if ((mem = arena_new(64)) == NULL)
		return (DB_FAIL);
	rc = db_row(tx, mem, c->there, c->args, c->nargs, &col, 1);
	arena_free(mem);
	if (rc != DB_OK && rc != DB_NONE)
		return (rc);
	c->why = (rc == DB_OK) ? DATA_STATE : DATA_NONE;
	return (DB_STOP);
}

static enum data_rc
change_run(struct db *db, struct change *c)
{
	enum db_rc rc = db_tx(db, change_body, c);

	return (rc == DB_STOP ? c->why : data_rc_of(rc));
}

/* A key is as disabled as its user or workspace. */
#define KEYS_FOLLOW                                            \
	"UPDATE api_key k JOIN user u ON u.id = k.user_id"     \
	"  JOIN workspace w ON w.id = k.workspace_id"          \
	"   SET k.disabled = COALESCE(w.disabled, u.disabled)" \
	" WHERE w.name = ?"

enum data_rc
workspace_enable(struct db *db, const char *name, int on)
{
	struct change c = {.sql = on
		? "UPDATE workspace SET disabled = NULL"
		  " WHERE name = ? AND disabled IS NOT NULL"
		: "UPDATE workspace SET disabled = " DB_NOW_MS
		  " WHERE name = ? AND disabled IS NULL",
	    .there = "SELECT id FROM workspace WHERE name = ?",
	    .keys = KEYS_FOLLOW,
	    .args = {DB_STR(name)},
	    .nargs = 1};

	return (change_run(db, &c));
}

#define ONE_USER                                              \
	" WHERE workspace_id = (SELECT w.id FROM workspace w" \
	"                        WHERE w.name = ?)"           \
	"   AND key_id = 0 AND name = ?"

enum data_rc
user_enable(struct db *db, const char *workspace, const char *name, int on)
{
	struct change c = {.sql = on
		? "UPDATE user SET disabled = NULL" ONE_USER
		  " AND disabled IS NOT NULL"
		: "UPDATE user SET disabled = " DB_NOW_MS ONE_USER
		  " AND disabled IS NULL",
	    .there = "SELECT id FROM user" ONE_USER,
	    .keys = KEYS_FOLLOW " AND u.key_id = 0 AND u.name = ?",
	    .args = {DB_STR(workspace), DB_STR(name)},
	    .nargs = 2};

	return (change_run(db, &c));
}
