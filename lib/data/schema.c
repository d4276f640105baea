#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/num.h"

#include "data/db_rc.h"

#include "data/schema.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

/* What the table migration says: of all steps, and of those we know. */
struct state {
	uint64_t last, rows, applied;
	uint64_t oldest; /* Programs that know this step may go on. */
};

enum db_rc
schema_begun(struct db *db, struct arena *mem, int *begun)
{
	static const char sql[] =
	    "SELECT COUNT(*) FROM information_schema.tables"
	    " WHERE table_schema = DATABASE() AND table_name = 'migration'";
	enum db_rc rc;
	char *col;

	rc = db_row(db, mem, sql, NULL, 0, &col, 1);
	if (rc == DB_OK)
		*begun = (strcmp(col, "0") != 0);
	return (rc);
}

/* Whom the steps beyond ours let go on. */
static enum db_rc
read_oldest(struct db *db, struct arena *mem, struct state *s)
{
	static const char sql[] =
	    "SELECT MAX(COALESCE(oldest, number)) FROM migration"
	    " WHERE number > ?";
	const struct db_arg args[] = {DB_U64(SCHEMA_NUMBER)};
	enum db_rc rc;
	char *col;

	if ((rc = db_row(db, mem, sql, args, NELEM(args), &col, 1)) != DB_OK)
		return (rc);
	return (num_u64(col, 0, UINT64_MAX, &s->oldest) ? DB_FAIL : DB_OK);
}

static enum db_rc
read_state(struct db *db, struct arena *mem, struct state *s)
{
	static const char sql[] =
	    "SELECT COALESCE(MAX(number), 0), COALESCE(SUM(number <= ?), 0),"
	    " COALESCE(SUM(number <= ? AND applied IS NOT NULL), 0)"
	    "  FROM migration";
	const struct db_arg args[] = {
	    DB_U64(SCHEMA_NUMBER), DB_U64(SCHEMA_NUMBER)};
	char *cols[3];
	enum db_rc rc;
	int begun;

	memset(s, 0, sizeof(*s));
	if ((rc = schema_begun(db, mem, &begun)) != DB_OK || !begun)
		return (rc);
	rc = db_row(db, mem, sql, args, NELEM(args), cols, NELEM(cols));
	if (rc != DB_OK)
		return (rc);
	if (num_u64(cols[0], 0, UINT64_MAX, &s->last) ||
	    num_u64(cols[1], 0, UINT64_MAX, &s->rows) ||
	    num_u64(cols[2], 0, UINT64_MAX, &s->applied))
		return (DB_FAIL);
	return (s->last > SCHEMA_NUMBER ? read_oldest(db, mem, s) : DB_OK);
}

enum data_rc
schema_check(struct db *db)
{
	struct arena *mem;
	struct state s;
	enum db_rc rc;

	if ((mem = arena_new(4096)) == NULL)
		return (DATA_FAIL);
	rc = read_state(db, mem, &s);
	arena_free(mem);
	if (rc != DB_OK)
		return (data_rc_of(rc));
	if (s.last > SCHEMA_NUMBER && s.oldest > SCHEMA_NUMBER) {
		log_err("schema: it is at number %llu and this program knows "
			"%d: install the newer programs; satchel-admin migrate "
			"goes forward only",
		    (unsigned long long)s.last, SCHEMA_NUMBER);
		return (DATA_STATE);
	}
	if (s.last < SCHEMA_NUMBER) {
		log_err("schema: it is at number %llu and this program needs "
			"%d: run satchel-admin migrate",
		    (unsigned long long)s.last, SCHEMA_NUMBER);
		return (DATA_STATE);
	}
	if (s.rows != SCHEMA_NUMBER || s.applied != SCHEMA_NUMBER) {
		log_err("schema: it is at number %d with steps missing or "
			"unfinished: run satchel-admin migrate",
		    SCHEMA_NUMBER);
		return (DATA_STATE);
	}
	return (DATA_OK);
}
