#include "base/log.h"
#include "base/num.h"

#include "data/db_rc.h"

#include "data/setting.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

enum data_rc
setting_find(
    struct db *db, struct arena *mem, const char *name, struct setting *s)
{
	static const char sql[] =
	    "SELECT value, updated FROM setting WHERE name = ?";
	const struct db_arg args[] = {DB_STR(name)};
	char *cols[2];
	enum db_rc rc;

	rc = db_row(db, mem, sql, args, NELEM(args), cols, NELEM(cols));
	if (rc != DB_OK)
		return (data_rc_of(rc));
	s->value = cols[0];
	if (num_u64(cols[1], 0, UINT64_MAX, &s->updated)) {
		log_err("setting: bad row %s", name);
		return (DATA_FAIL);
	}
	return (DATA_OK);
}

enum data_rc
setting_put(struct db *db, const char *name, const char *value, uint64_t now)
{
	static const char sql[] =
	    "INSERT INTO setting (name, value, updated) VALUES (?, ?, ?)"
	    " ON DUPLICATE KEY UPDATE value = ?, updated = ?";
	const struct db_arg args[] = {DB_STR(name), DB_STR(value), DB_U64(now),
	    DB_STR(value), DB_U64(now)};

	return (data_rc_of(db_exec(db, sql, args, NELEM(args), NULL, NULL)));
}

enum data_rc
setting_drop(struct db *db, const char *name)
{
	static const char sql[] = "DELETE FROM setting WHERE name = ?";
	const struct db_arg args[] = {DB_STR(name)};

	return (data_rc_of(db_exec(db, sql, args, NELEM(args), NULL, NULL)));
}
