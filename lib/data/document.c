#include "data/db_rc.h"
#include "data/document.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

enum data_rc
document_find(struct db *db, struct arena *mem, const struct document_key *key,
    const char **said)
{
	static const char sql[] =
	    "SELECT said FROM document_text"
	    " WHERE workspace_id = ? AND sha256 = ? AND way = ?";
	const struct db_arg args[] = {
	    DB_U64(key->workspace), DB_STR(key->sha256), DB_STR(key->way)};
	char *cols[1];
	enum db_rc rc;

	rc = db_row(db, mem, sql, args, NELEM(args), cols, NELEM(cols));
	if (rc == DB_OK)
		*said = cols[0];
	return (data_rc_of(rc));
}

enum data_rc
document_keep(struct db *db, const struct document_key *key, const char *said,
    uint64_t now)
{
	static const char sql[] =
	    "INSERT INTO document_text (workspace_id, sha256, way, said,"
	    " created) VALUES (?, ?, ?, ?, ?)"
	    " ON DUPLICATE KEY UPDATE created = ?";
	const struct db_arg args[] = {DB_U64(key->workspace),
	    DB_STR(key->sha256), DB_STR(key->way), DB_STR(said), DB_U64(now),
	    DB_U64(now)};

	return (data_rc_of(db_exec(db, sql, args, NELEM(args), NULL, NULL)));
}
