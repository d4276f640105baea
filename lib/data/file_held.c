#include "data/db_rc.h"
#include "data/file_held.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

enum data_rc
file_held_record(struct db *db, const struct owner *o,
    const struct file_held *h, uint64_t now, uint64_t *row)
{
	static const char sql[] =
	    "INSERT INTO file (workspace_id, user_id, state, origin, pid, name,"
	    " mime, purpose, created, expires, sweep_at, provider,"
	    " provider_instance, container_id)"
	    " VALUES (?, ?, 'live', 'provider', ?, ?, ?,"
	    " 'code_execution_output', ?, ?, ?, ?, ?, ?)";
	const struct db_arg never = DB_NULL;
	struct db_arg expires = DB_U64(now + h->lifetime_s * 1000);

	if (h->lifetime_s == 0)
		expires = never;
	const struct db_arg args[] = {DB_U64(o->workspace), DB_U64(o->user),
	    DB_STR(h->id), DB_STR(h->name), DB_STR(h->mime), DB_U64(now),
	    expires, expires, DB_STR(h->vendor), DB_STR(h->provider),
	    db_str(h->container)};

	return (data_rc_of(db_exec(db, sql, args, NELEM(args), NULL, row)));
}

enum data_rc
file_held_find(
    struct db *db, struct arena *mem, uint64_t row, struct file_held *h)
{
	static const char sql[] =
	    "SELECT pid, name, mime, provider, provider_instance, container_id"
	    "  FROM file WHERE id = ? AND origin = 'provider'"
	    "   AND provider_instance IS NOT NULL";
	const struct db_arg args[] = {DB_U64(row)};
	char *cols[6];
	enum db_rc rc;

	rc = db_row(db, mem, sql, args, NELEM(args), cols, NELEM(cols));
	if (rc == DB_OK)
		*h = (struct file_held){.id = cols[0],
		    .name = cols[1],
		    .mime = cols[2],
		    .vendor = cols[3],
		    .provider = cols[4],
		    .container = cols[5]};
	return (data_rc_of(rc));
}

void
file_held_learn(struct db *db, uint64_t row, uint64_t bytes)
{
	static const char sql[] =
	    "UPDATE file SET bytes = ? WHERE id = ? AND bytes IS NULL";
	const struct db_arg args[] = {DB_U64(bytes), DB_U64(row)};

	(void)db_exec(db, sql, args, NELEM(args), NULL, NULL);
}

void
file_held_name(struct db *db, uint64_t row, const char *name, const char *mime)
{
	static const char sql[] =
	    "UPDATE file SET name = ?, mime = ? WHERE id = ?"
	    "   AND origin = 'provider'";
	const struct db_arg args[] = {DB_STR(name), DB_STR(mime), DB_U64(row)};

	(void)db_exec(db, sql, args, NELEM(args), NULL, NULL);
}

enum data_rc
file_held_keep(struct db *db, uint64_t row, const char *key, uint64_t bytes,
    const char *sha256)
{
	static const char sql[] =
	    "UPDATE file SET store_key = ?, bytes = ?, sha256 = ?"
	    " WHERE id = ? AND state = 'live' AND store_key IS NULL";
	const struct db_arg args[] = {
	    DB_STR(key), DB_U64(bytes), DB_STR(sha256), DB_U64(row)};
	uint64_t n;
	enum db_rc rc;

	if ((rc = db_exec(db, sql, args, NELEM(args), &n, NULL)) != DB_OK)
		return (data_rc_of(rc));
	return (n == 1 ? DATA_OK : DATA_STATE);
}
