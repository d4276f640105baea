#ifndef TOOL_ROWS_H_
#define TOOL_ROWS_H_

/*
 * What the tests of lib/data share: PROGRAM SOCKET SCHEMA [WORD] opens the
 * schema, which satchel-admin has migrated, and prints TAP.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/conf.h"
#include "base/log.h"
#include "base/num.h"
#include "data/admin.h"
#include "io/db.h"

#include "t/unit/tap.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

static struct db *db;
static struct arena *mem;

/* Open the database with a pool of ${pool} connections, or give up. */
static inline void
rows_open(int argc, char **argv, uint64_t pool)
{
	static struct conf c;
	static char root[] = "root";

	if (argc < 3 || log_open("rows", NULL))
		exit(2);
	c.db_socket = argv[1];
	c.db_name = argv[2];
	c.db_user = root;
	c.db_pool = pool;
	if ((db = db_open(&c)) == NULL || (mem = arena_new(64 << 20)) == NULL)
		exit(2);
}

static inline int
rows_close(void)
{

	arena_free(mem);
	db_close(db);
	return (done_testing());
}

/* Run constant text that must work. */
static inline void
sql(const char *text)
{

	if (db_exec(db, text, NULL, 0, NULL, NULL) != DB_OK) {
		printf("Bail out! %s\n", text);
		exit(3);
	}
}

/* The number that constant text, with one number in it, selects. */
static inline uint64_t
number(const char *text, uint64_t arg)
{
	const struct db_arg args[] = {DB_U64(arg)};
	uint64_t n = UINT64_MAX;
	char *col;

	if (db_row(db, mem, text, args, 1, &col, 1) != DB_OK ||
	    num_u64(col, 0, UINT64_MAX, &n))
		return (UINT64_MAX);
	return (n);
}

static inline uint64_t
now(void)
{
	uint64_t ms = 0;

	if (db_now(db, &ms) != DB_OK)
		exit(3);
	return (ms);
}

/* The user ${user} of ${workspace}, both made if need be. */
static inline struct owner
owner(const char *workspace, const char *user)
{
	static const char find[] =
	    "SELECT w.id, u.id FROM workspace w JOIN user u"
	    "  ON u.workspace_id = w.id WHERE w.name = ? AND u.name = ?";
	const struct db_arg args[] = {DB_STR(workspace), DB_STR(user)};
	struct owner o = {0, 0};
	uint64_t id;
	char *cols[2];

	(void)workspace_create(db, workspace, NULL, &id);
	(void)user_create(db, workspace, user, &id);
	if (db_row(db, mem, find, args, 2, cols, 2) != DB_OK ||
	    num_u64(cols[0], 1, UINT64_MAX, &o.workspace) ||
	    num_u64(cols[1], 1, UINT64_MAX, &o.user))
		exit(3);
	return (o);
}

#endif /* !TOOL_ROWS_H_ */
