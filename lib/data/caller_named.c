#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/num.h"

#include "data/db_rc.h"

#include "data/caller.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

/* Callers that are a name somebody else vouches for, and no row of ours yet. */

#define LOCAL "local" /* Workspace of trusted networks. */
#define TRIES 3       /* Somebody may make the same rows meanwhile. */
#define NAME_SIZE 300

/* Where a name is looked up, ${where} saying in which workspace. */
#define FIND(where)                                                          \
	"SELECT " DB_NOW_MS ", w.id, u.id, w.name,"                          \
	" w.disabled IS NULL AND u.disabled IS NULL"                         \
	"  FROM workspace w LEFT JOIN user u ON u.workspace_id = w.id"       \
	"                                   AND u.key_id = ? AND u.name = ?" \
	" WHERE " where

struct named {
	const char *find; /* FIND with one parameter of its own. */
	struct db_arg arg;
	uint64_t names;
	const char *user;
	const char *tenant; /* Make a workspace for it, or LOCAL for NULL... */
	int make;           /* ...if this is set. */
};

static enum data_rc
make_workspace(struct db *db, const struct named *x)
{
	static const char sql[] =
	    "INSERT INTO workspace (name, tenant, created)"
	    " VALUES (?, ?, " DB_NOW_MS ")";
	char name[NAME_SIZE];
	enum db_rc rc = DB_DUP;

	/* An operator may have given the name to a workspace of his own. */
	for (int i = 0; rc == DB_DUP && i < 2; i++) {
		(void)snprintf(name, sizeof(name), "%s%s",
		    i == 0 ? "" : "tenant ",
		    x->tenant != NULL ? x->tenant : LOCAL);
		if (strlen(name) > 255)
			return (DATA_FAIL);
		const struct db_arg args[] = {DB_STR(name), DB_STR(x->tenant)};
		rc = db_exec(db, sql, args, NELEM(args), NULL, NULL);
		if (x->tenant == NULL)
			break;
	}
	return (rc == DB_DUP ? DATA_OK : data_rc_of(rc));
}

static enum data_rc
make_user(struct db *db, const struct named *x, const char *workspace)
{
	static const char sql[] =
	    "INSERT INTO user (workspace_id, key_id, name, created)"
	    " VALUES (?, ?, ?, " DB_NOW_MS ")";
	const struct db_arg args[] = {
	    DB_STR(workspace), DB_U64(x->names), DB_STR(x->user)};
	enum db_rc rc;

	rc = db_exec(db, sql, args, NELEM(args), NULL, NULL);
	return (rc == DB_DUP ? DATA_OK : data_rc_of(rc));
}

static enum data_rc
read_named(
    struct arena *mem, const struct named *x, char **cols, struct caller *c)
{

	c->workspace = cols[3];
	c->user = arena_strndup(mem, x->user, strlen(x->user));
	c->names = x->names;
	c->role = ROLE_USER;
	if (c->user == NULL || num_u64(cols[0], 1, UINT64_MAX, &c->now) ||
	    num_u64(cols[1], 1, UINT64_MAX, &c->owner.workspace) ||
	    num_u64(cols[2], 1, UINT64_MAX, &c->owner.user))
		return (DATA_FAIL);
	return (strcmp(cols[4], "1") == 0 ? DATA_OK : DATA_NONE);
}

/* Find the user of ${x}, making what is not there. */
static enum data_rc
find_named(
    struct db *db, struct arena *mem, const struct named *x, struct caller *c)
{
	const struct db_arg args[] = {
	    DB_U64(x->names), DB_STR(x->user), x->arg};
	char *cols[5];
	enum db_rc rc;
	enum data_rc made = DATA_OK;
	const size_t n = x->arg.kind == DB_ARG_NULL ? 2 : 3;

	for (int i = 0; i < TRIES && made == DATA_OK; i++) {
		rc = db_row(db, mem, x->find, args, n, cols, NELEM(cols));
		if (rc == DB_OK && cols[2] != NULL)
			return (read_named(mem, x, cols, c));
		if (rc == DB_NONE && x->make)
			made = make_workspace(db, x);
		else if (rc == DB_OK)
			made = make_user(db, x, cols[1]);
		else
			return (data_rc_of(rc));
	}
	if (made == DATA_OK)
		log_err("caller: user %s cannot be made", x->user);
	return (made == DATA_OK ? DATA_FAIL : made);
}

enum data_rc
caller_of_tenant(struct db *db, struct arena *mem, const char *tenant,
    const char *user, struct caller *c)
{
	static const char sql[] = FIND("w.tenant = ?");
	const struct named x = {.find = sql,
	    .arg = DB_STR(tenant),
	    .user = user,
	    .tenant = tenant,
	    .make = 1};

	c->key = 0;
	return (find_named(db, mem, &x, c));
}

enum data_rc
caller_local(
    struct db *db, struct arena *mem, const char *user, struct caller *c)
{
	static const char sql[] =
	    FIND("w.name = '" LOCAL "' AND w.tenant IS NULL");
	const struct named x = {
	    .find = sql, .arg = DB_NULL, .user = user, .make = 1};

	c->key = 0;
	return (find_named(db, mem, &x, c));
}

enum data_rc
caller_assert(
    struct db *db, struct arena *mem, struct caller *c, const char *user)
{
	static const char sql[] = FIND("w.id = ?");
	const uint64_t key = c->key;
	const struct named x = {.find = sql,
	    .arg = DB_U64(c->owner.workspace),
	    .names = c->names,
	    .user = user};
	enum data_rc rc;

	if (strcmp(user, c->user) == 0)
		return (DATA_OK);
	rc = find_named(db, mem, &x, c);
	c->key = key;
	return (rc);
}
