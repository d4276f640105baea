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

/*
 * Run the conditional UPDATE ${sql}; where it changed nothing, ${there} tells
 * whether what it was meant for is there at all.
 */
static enum data_rc
change(struct db *db, const char *sql, const struct db_arg *args, size_t nargs,
    const char *there, const struct db_arg *which, size_t nwhich)
{
	struct arena *mem;
	uint64_t n;
	enum db_rc rc;
	char *col;

	if ((rc = db_exec(db, sql, args, nargs, &n, NULL)) != DB_OK)
		return (data_rc_of(rc));
	if (n == 1)
		return (DATA_OK);
	if ((mem = arena_new(64)) == NULL)
		return (DATA_FAIL);
	rc = db_row(db, mem, there, which, nwhich, &col, 1);
	arena_free(mem);
	return (rc == DB_OK ? DATA_STATE : data_rc_of(rc));
}

enum data_rc
workspace_enable(struct db *db, const char *name, int on)
{
	static const char on_sql[] = "UPDATE workspace SET disabled = NULL"
				     " WHERE name = ? AND disabled IS NOT NULL";
	static const char off_sql[] =
	    "UPDATE workspace SET disabled = " DB_NOW_MS
	    " WHERE name = ? AND disabled IS NULL";
	static const char there[] = "SELECT id FROM workspace WHERE name = ?";
	const struct db_arg args[] = {DB_STR(name)};

	return (change(db, on ? on_sql : off_sql, args, NELEM(args), there,
	    args, NELEM(args)));
}

enum data_rc
user_enable(struct db *db, const char *workspace, const char *name, int on)
{
	static const char on_sql[] =
	    "UPDATE user SET disabled = NULL"
	    " WHERE workspace_id = (SELECT w.id FROM workspace w"
	    "                        WHERE w.name = ?)"
	    "   AND key_id = 0 AND name = ? AND disabled IS NOT NULL";
	static const char off_sql[] =
	    "UPDATE user SET disabled = " DB_NOW_MS
	    " WHERE workspace_id = (SELECT w.id FROM workspace w"
	    "                        WHERE w.name = ?)"
	    "   AND key_id = 0 AND name = ? AND disabled IS NULL";
	static const char there[] =
	    "SELECT u.id FROM user u JOIN workspace w ON w.id = u.workspace_id"
	    " WHERE w.name = ? AND u.key_id = 0 AND u.name = ?";
	const struct db_arg args[] = {DB_STR(workspace), DB_STR(name)};

	return (change(db, on ? on_sql : off_sql, args, NELEM(args), there,
	    args, NELEM(args)));
}
