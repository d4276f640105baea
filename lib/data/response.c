#include <stdio.h>
#include <string.h>

#include "base/id.h"
#include "base/log.h"
#include "base/num.h"

#include "data/db_rc.h"

#include "data/response.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define PREFIX "resp_gw_"

const char *
response_id_bare(const char *s)
{

	if (strncmp(s, PREFIX, sizeof(PREFIX) - 1) != 0)
		return (NULL);
	return (s + sizeof(PREFIX) - 1);
}

static int
is_id(const char *s)
{

	return (strlen(s) == RESPONSE_IDLEN && id_plain(s));
}

enum data_rc
response_keep(struct db *db, const struct owner *o, const char *previous,
    const struct stored_response *s)
{
	static const char sql[] =
	    "INSERT INTO response (pid, workspace_id, user_id, previous, body,"
	    " input, created, expires) VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
	const struct db_arg args[] = {DB_STR(s->id), DB_U64(o->workspace),
	    DB_U64(o->user), DB_STR(previous), DB_BIN(s->body, s->body_len),
	    DB_BIN(s->input, s->input_len), DB_U64(s->created),
	    DB_U64(s->expires)};

	return (data_rc_of(db_exec(db, sql, args, NELEM(args), NULL, NULL)));
}

enum data_rc
response_find(struct db *db, struct arena *mem, const struct owner *o,
    const char *id, uint64_t now, struct stored_response *s)
{
	static const char sql[] =
	    "SELECT body, input, created, expires FROM response"
	    " WHERE workspace_id = ? AND user_id = ? AND pid = ?"
	    "   AND expires > ?";
	const struct db_arg args[] = {
	    DB_U64(o->workspace), DB_U64(o->user), DB_STR(id), DB_U64(now)};
	char *cols[4];
	enum db_rc rc;

	if (!is_id(id))
		return (DATA_NONE);
	rc = db_row(db, mem, sql, args, NELEM(args), cols, NELEM(cols));
	if (rc != DB_OK)
		return (data_rc_of(rc));
	/* JSON text has no NULs in it. */
	*s = (struct stored_response){.id = id,
	    .body = cols[0],
	    .body_len = strlen(cols[0]),
	    .input = cols[1],
	    .input_len = strlen(cols[1])};
	if (num_u64(cols[2], 0, UINT64_MAX, &s->created) ||
	    num_u64(cols[3], 0, UINT64_MAX, &s->expires)) {
		log_err("response: bad row %s", id);
		return (DATA_FAIL);
	}
	return (DATA_OK);
}

/* The first whose id is ${from} or later, but before ${to}. */
static enum data_rc
find_between(struct db *db, struct arena *mem, const struct owner *o,
    const char *from, const char *to, uint64_t now, struct stored_response *s)
{
	static const char sql[] = "SELECT pid, body, expires FROM response"
				  " WHERE workspace_id = ? AND user_id = ?"
				  "   AND pid >= ? AND pid < ? AND expires > ?"
				  " ORDER BY pid LIMIT 1";
	const struct db_arg args[] = {DB_U64(o->workspace), DB_U64(o->user),
	    DB_STR(from), DB_STR(to), DB_U64(now)};
	char *cols[3];
	enum db_rc rc;

	rc = db_row(db, mem, sql, args, NELEM(args), cols, NELEM(cols));
	if (rc != DB_OK)
		return (data_rc_of(rc));
	*s = (struct stored_response){
	    .id = cols[0], .body = cols[1], .body_len = strlen(cols[1])};
	if (num_u64(cols[2], 0, UINT64_MAX, &s->expires)) {
		log_err("response: bad row %s", s->id);
		return (DATA_FAIL);
	}
	return (DATA_OK);
}

enum data_rc
response_find_seed(struct db *db, struct arena *mem, const struct owner *o,
    const char *seed, uint64_t now, struct stored_response *s)
{
	char end[RESPONSE_SEEDLEN + 2]; /* The first that begins otherwise. */

	if (strlen(seed) != RESPONSE_SEEDLEN || !id_plain(seed))
		return (DATA_NONE);
	(void)snprintf(end, sizeof(end), "%s{", seed);
	return (find_between(db, mem, o, seed, end, now, s));
}

enum data_rc
response_prolong(
    struct db *db, const struct owner *o, const char *id, uint64_t expires)
{
	static const char sql[] =
	    "UPDATE response SET expires = GREATEST(expires, ?)"
	    " WHERE workspace_id = ? AND user_id = ? AND pid = ?";
	const struct db_arg args[] = {
	    DB_U64(expires), DB_U64(o->workspace), DB_U64(o->user), DB_STR(id)};

	return (data_rc_of(db_exec(db, sql, args, NELEM(args), NULL, NULL)));
}

enum data_rc
response_drop(
    struct db *db, const struct owner *o, const char *id, uint64_t now)
{
	static const char sql[] =
	    "DELETE FROM response"
	    " WHERE workspace_id = ? AND user_id = ? AND pid = ?"
	    "   AND expires > ?";
	const struct db_arg args[] = {
	    DB_U64(o->workspace), DB_U64(o->user), DB_STR(id), DB_U64(now)};
	uint64_t n;
	enum db_rc rc;

	if (!is_id(id))
		return (DATA_NONE);
	if ((rc = db_exec(db, sql, args, NELEM(args), &n, NULL)) != DB_OK)
		return (data_rc_of(rc));
	return (n == 1 ? DATA_OK : DATA_NONE);
}
