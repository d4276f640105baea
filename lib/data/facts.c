#include <stdint.h>
#include <string.h>

#include "base/log.h"
#include "base/num.h"

#include "data/db_rc.h"

#include "data/facts.h"

#define NCOLS 5

enum data_rc
facts_find(struct db *db, struct arena *mem, struct facts *f)
{
	static const char sql[] =
	    "SELECT VERSION(), @@character_set_database, @@max_connections,"
	    " @@innodb_flush_log_at_trx_commit, @@read_only";
	char *cols[NCOLS];
	enum db_rc rc;

	if ((rc = db_row(db, mem, sql, NULL, 0, cols, NCOLS)) != DB_OK ||
	    (rc = db_now(db, &f->now)) != DB_OK)
		return (data_rc_of(rc));
	if (cols[0] == NULL || cols[1] == NULL ||
	    num_u64(cols[2], 0, UINT64_MAX, &f->connections) ||
	    num_u64(cols[3], 0, UINT64_MAX, &f->flush) || cols[4] == NULL) {
		log_err("the database does not say what it is");
		return (DATA_FAIL);
	}
	f->version = cols[0];
	f->charset = cols[1];
	/* A number, or in newer servers a word. */
	f->read_only = strcmp(cols[4], "0") != 0 && strcmp(cols[4], "OFF") != 0;
	return (DATA_OK);
}
