#include <string.h>

#include "base/arena.h"
#include "base/log.h"

#include "data/db_rc.h"

#include "data/mark.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

enum data_rc
mark_find(struct db *db, char mark[static STORE_MARKLEN + 1])
{
	static const char sql[] = "SELECT mark FROM store WHERE id = 1";
	struct arena *mem;
	enum data_rc rc;
	char *col;

	if ((mem = arena_new(64)) == NULL)
		return (DATA_FAIL);
	rc = data_rc_of(db_row(db, mem, sql, NULL, 0, &col, 1));
	if (rc == DATA_OK && strlen(col) != STORE_MARKLEN) {
		log_err("the table store holds no mark but %s", col);
		rc = DATA_FAIL;
	}
	if (rc == DATA_OK)
		memcpy(mark, col, STORE_MARKLEN + 1);
	arena_free(mem);
	return (rc);
}

enum data_rc
mark_set(struct db *db, const char *mark)
{
	static const char sql[] = "INSERT INTO store (id, mark, created)"
				  " VALUES (1, ?, " DB_NOW_MS ")";
	const struct db_arg args[] = {DB_STR(mark)};

	return (data_rc_of(db_exec(db, sql, args, NELEM(args), NULL, NULL)));
}

int
mark_unused(struct db *db)
{
	static const char sql[] = "SELECT id FROM file LIMIT 1";
	struct arena *mem;
	enum db_rc rc;
	char *col;

	if ((mem = arena_new(64)) == NULL)
		return (0);
	rc = db_row(db, mem, sql, NULL, 0, &col, 1);
	arena_free(mem);
	return (rc == DB_NONE);
}

enum data_rc
mark_learn(struct db *db, struct store *S)
{
	char mark[STORE_MARKLEN + 1];
	enum data_rc rc;

	if (store_expects(S))
		return (DATA_OK);
	if ((rc = mark_find(db, mark)) == DATA_OK)
		store_expect(S, mark);
	return (rc == DATA_NONE ? DATA_OK : rc);
}
