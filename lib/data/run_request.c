#include <ctype.h>
#include <string.h>

#include "base/arena.h"

#include "data/db_rc.h"

#include "data/ptc.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define KEEP_MS 3600000ULL

int
request_id_ok(const char *s)
{

	for (size_t i = 0; i < REQUEST_ID_LEN; i++)
		if (i == 8 || i == 13 || i == 18 || i == 23
			? s[i] != '-'
			: !isxdigit((unsigned char)s[i]))
			return (0);
	return (s[REQUEST_ID_LEN] == '\0');
}

static enum data_rc
insert(struct db *db, const struct owner *o, const char *id, const char *state,
    uint64_t now)
{
	static const char sql[] =
	    "INSERT INTO run_request (request, workspace_id, user_id, state,"
	    " sweep_at) VALUES (LOWER(?), ?, ?, ?, ?)";
	const struct db_arg args[] = {DB_STR(id), DB_U64(o->workspace),
	    DB_U64(o->user), DB_STR(state), DB_U64(now + KEEP_MS)};

	return (data_rc_of(db_exec(db, sql, args, NELEM(args), NULL, NULL)));
}

/* Read the row: DATA_TAKEN if it is another owner's. */
static enum data_rc
find(struct db *db, struct arena *mem, const struct owner *o, const char *id,
    enum request_state *state, const char **session)
{
	static const char sql[] =
	    "SELECT state, sandbox, workspace_id = ? AND user_id = ?"
	    "  FROM run_request WHERE request = LOWER(?)";
	static const char *const words[] = {"running", "done", "cancelled"};
	const struct db_arg args[] = {
	    DB_U64(o->workspace), DB_U64(o->user), DB_STR(id)};
	char *cols[3];
	enum db_rc rc;

	rc = db_row(db, mem, sql, args, NELEM(args), cols, NELEM(cols));
	if (rc != DB_OK)
		return (data_rc_of(rc));
	for (size_t i = 0; i < NELEM(words); i++)
		if (strcmp(cols[0], words[i]) == 0)
			*state = (enum request_state)i;
	*session = cols[1];
	return (strcmp(cols[2], "1") == 0 ? DATA_OK : DATA_TAKEN);
}

enum data_rc
request_begin(
    struct db *db, const struct owner *o, const char *id, uint64_t now)
{
	enum request_state state = REQUEST_RUNNING;
	const char *session;
	struct arena *mem;
	enum data_rc rc;

	if ((rc = insert(db, o, id, "running", now)) != DATA_TAKEN)
		return (rc);
	if ((mem = arena_new(1024)) == NULL)
		return (DATA_FAIL);
	rc = find(db, mem, o, id, &state, &session);
	arena_free(mem);
	if (rc == DATA_OK)
		rc = state == REQUEST_CANCELLED ? DATA_STATE : DATA_TAKEN;
	return (rc);
}

enum data_rc
request_sandbox(struct db *db, const char *id, const char *session)
{
	static const char sql[] =
	    "UPDATE run_request SET sandbox = ?"
	    " WHERE request = LOWER(?) AND state = 'running'";
	const struct db_arg args[] = {DB_STR(session), DB_STR(id)};
	enum db_rc rc;
	uint64_t n;

	if ((rc = db_exec(db, sql, args, NELEM(args), &n, NULL)) != DB_OK)
		return (data_rc_of(rc));
	return (n == 1 ? DATA_OK : DATA_STATE);
}

int
request_end(struct db *db, const char *id)
{
	static const char sql[] =
	    "UPDATE run_request SET state = 'done'"
	    " WHERE request = LOWER(?) AND state = 'running'";
	const struct db_arg args[] = {DB_STR(id)};
	uint64_t n;

	return (
	    db_exec(db, sql, args, NELEM(args), &n, NULL) == DB_OK && n == 0);
}

enum data_rc
request_cancel(struct db *db, struct arena *mem, const struct owner *o,
    const char *id, uint64_t now, enum request_state *state,
    const char **session)
{
	static const char sql[] =
	    "UPDATE run_request SET state = 'cancelled'"
	    " WHERE request = LOWER(?) AND state = 'running'";
	const struct db_arg args[] = {DB_STR(id)};
	enum data_rc rc;

	*state = REQUEST_CANCELLED;
	*session = "";
	if ((rc = insert(db, o, id, "cancelled", now)) != DATA_TAKEN)
		return (rc);
	/* Cancelled first: a session that is told later is refused. */
	if ((rc = find(db, mem, o, id, state, session)) != DATA_OK ||
	    *state != REQUEST_RUNNING)
		return (rc);
	rc = data_rc_of(db_exec(db, sql, args, NELEM(args), NULL, NULL));
	if (rc != DATA_OK)
		return (rc);
	const enum request_state was = *state;
	rc = find(db, mem, o, id, state, session);
	*state = *state == REQUEST_DONE ? REQUEST_DONE : was;
	return (rc);
}
