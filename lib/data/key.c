#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/id.h"
#include "base/log.h"

#include "data/db_rc.h"
#include "data/role.h"

#include "data/admin.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define HINT 4

/* Why did ${k} find no user: for want of him, or is the tenant another? */
static enum data_rc
why_none(struct db *db, const struct key_new *k)
{
	static const char sql[] = "SELECT id FROM workspace WHERE name = ?"
				  "   AND (tenant IS NULL OR tenant <> ?)";
	const struct db_arg args[] = {DB_STR(k->workspace), DB_STR(k->tenant)};
	struct arena *mem;
	enum db_rc rc;
	char *col;

	if (k->workspace == NULL || k->tenant == NULL)
		return (DATA_NONE);
	if ((mem = arena_new(64)) == NULL)
		return (DATA_FAIL);
	rc = db_row(db, mem, sql, args, NELEM(args), &col, 1);
	arena_free(mem);
	return (rc == DB_OK ? DATA_STATE : data_rc_of(rc));
}

enum data_rc
key_create(struct db *db, const struct key_new *k,
    char token[static KEY_LEN + 1], uint64_t *id)
{
	static const char sql[] =
	    "INSERT INTO api_key (sha256, hint, workspace_id, user_id,"
	    " workspace_name, user_name, role, name_space, label, created,"
	    " expires, disabled)"
	    " SELECT UNHEX(?), ?, w.id, u.id, w.name, u.name, ?, ?, ?,"
	    " " DB_NOW_MS ", ?, COALESCE(w.disabled, u.disabled)"
	    "   FROM workspace w JOIN user u"
	    "     ON u.workspace_id = w.id AND u.key_id = 0 AND u.name = ?"
	    "  WHERE (? IS NULL OR w.name = ?) AND (? IS NULL OR w.tenant = ?)"
	    "   LOCK IN SHARE MODE";
	const struct db_arg never = DB_NULL, at = DB_U64(k->expires);
	char sha[HASH_SIZE];
	uint64_t n;
	enum db_rc rc;

	memcpy(token, KEY_PREFIX, sizeof(KEY_PREFIX));
	if (id_base62(token + sizeof(KEY_PREFIX) - 1, KEY_RANDOM) ||
	    hash_sha256(token, KEY_LEN, sha))
		return (DATA_FAIL);
	const struct db_arg args[] = {DB_STR(sha),
	    DB_STR(token + KEY_LEN - HINT), DB_STR(role_word(k->role)),
	    DB_STR(k->tenant != NULL ? "workspace" : "key"),
	    DB_STR(k->label != NULL ? k->label : ""),
	    k->expires == 0 ? never : at, DB_STR(k->user), DB_STR(k->workspace),
	    DB_STR(k->workspace), DB_STR(k->tenant), DB_STR(k->tenant)};
	if ((rc = db_exec(db, sql, args, NELEM(args), &n, id)) != DB_OK)
		return (data_rc_of(rc));
	return (n == 1 ? DATA_OK : why_none(db, k));
}

/* What the key ${id}, which an UPDATE did not change, is like. */
static enum data_rc
key_state(struct db *db, uint64_t id)
{
	static const char sql[] =
	    "SELECT revoked IS NULL FROM api_key WHERE id = ?";
	const struct db_arg args[] = {DB_U64(id)};
	struct arena *mem;
	enum data_rc rc;
	char *col;

	if ((mem = arena_new(64)) == NULL)
		return (DATA_FAIL);
	rc = data_rc_of(db_row(db, mem, sql, args, NELEM(args), &col, 1));
	if (rc == DATA_OK && strcmp(col, "1") != 0)
		rc = DATA_STATE;
	arena_free(mem);
	return (rc);
}

enum data_rc
key_revoke(struct db *db, uint64_t id, uint64_t now)
{
	static const char sql[] = "UPDATE api_key SET revoked = ?"
				  " WHERE id = ? AND revoked IS NULL";
	const struct db_arg args[] = {DB_U64(now), DB_U64(id)};
	uint64_t n;
	enum db_rc rc;

	if ((rc = db_exec(db, sql, args, NELEM(args), &n, NULL)) != DB_OK)
		return (data_rc_of(rc));
	return (n == 1 ? DATA_OK : key_state(db, id));
}

enum data_rc
key_expire(struct db *db, uint64_t id, uint64_t when)
{
	static const char sql[] = "UPDATE api_key SET expires = ?"
				  " WHERE id = ? AND revoked IS NULL";
	const struct db_arg never = DB_NULL, at = DB_U64(when);
	const struct db_arg args[] = {when == 0 ? never : at, DB_U64(id)};
	uint64_t n;
	enum db_rc rc;

	if ((rc = db_exec(db, sql, args, NELEM(args), &n, NULL)) != DB_OK)
		return (data_rc_of(rc));
	/* To the moment it expires at already is no change, and no error. */
	return (n == 1 ? DATA_OK : key_state(db, id));
}
