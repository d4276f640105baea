#include "data/db_rc.h"

#include "data/file.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

enum data_rc
file_give(struct db *db, uint64_t row, const struct owner *o)
{
	/* The claim is the sweep's: a row it has taken is no longer ours. */
	static const char sql[] =
	    "UPDATE file SET workspace_id = ?, user_id = ?"
	    " WHERE id = ? AND state = 'uploading' AND claim = 0";
	const struct db_arg args[] = {
	    DB_U64(o->workspace), DB_U64(o->user), DB_U64(row)};
	uint64_t n;
	enum db_rc rc;

	if ((rc = db_exec(db, sql, args, NELEM(args), &n, NULL)) != DB_OK)
		return (data_rc_of(rc));
	return (n == 1 ? DATA_OK : DATA_STATE);
}
