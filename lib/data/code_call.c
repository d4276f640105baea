#include <string.h>

#include "base/id.h"
#include "base/log.h"
#include "base/num.h"

#include "data/db_rc.h"

#include "data/code_call.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define ID_MAX 128

/* Callers and models make ids up; only what the column holds is one. */
static int
is_id(const char *s)
{

	return (strlen(s) <= ID_MAX && id_plain(s));
}

enum data_rc
code_call_put(struct db *db, const struct owner *o, const struct code_call *c,
    uint64_t now, uint64_t expires)
{
	static const char sql[] =
	    "REPLACE INTO code_call (pid, nth, workspace_id, user_id,"
	    " container, tool, kind, input, facts, out_text, err_text,"
	    " created, expires) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
	const struct db_arg args[] = {DB_STR(c->id), DB_U64(c->nth),
	    DB_U64(o->workspace), DB_U64(o->user), DB_STR(c->container),
	    DB_U64(c->tool), DB_U64(c->kind),
	    DB_BIN(c->input, strlen(c->input)),
	    DB_BIN(c->facts, strlen(c->facts)), DB_BIN(c->out, strlen(c->out)),
	    DB_BIN(c->err, strlen(c->err)), DB_U64(now), DB_U64(expires)};

	if (!is_id(c->id))
		return (DATA_OK); /* No id of ours; nobody will ask for it. */
	return (data_rc_of(db_exec(db, sql, args, NELEM(args), NULL, NULL)));
}

enum data_rc
code_call_find(struct db *db, struct arena *mem, const struct owner *o,
    const char *id, uint64_t nth, uint64_t now, struct code_call *c)
{
	static const char sql[] =
	    "SELECT tool, kind, container, input, facts, out_text, err_text"
	    "  FROM code_call"
	    " WHERE workspace_id = ? AND user_id = ? AND pid = ? AND nth = ?"
	    "   AND expires > ?";
	const struct db_arg args[] = {DB_U64(o->workspace), DB_U64(o->user),
	    DB_STR(id), DB_U64(nth), DB_U64(now)};
	char *cols[7];
	enum db_rc rc;

	if (!is_id(id))
		return (DATA_NONE);
	rc = db_row(db, mem, sql, args, NELEM(args), cols, NELEM(cols));
	if (rc != DB_OK)
		return (data_rc_of(rc));
	*c = (struct code_call){.id = id,
	    .nth = nth,
	    .container = cols[2],
	    .input = cols[3],
	    .facts = cols[4],
	    .out = cols[5],
	    .err = cols[6]};
	if (num_u64(cols[0], 0, UINT64_MAX, &c->tool) ||
	    num_u64(cols[1], 0, UINT64_MAX, &c->kind)) {
		log_err("call: bad row %.128s", id);
		return (DATA_FAIL);
	}
	return (DATA_OK);
}
