#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/id.h"
#include "base/log.h"
#include "base/num.h"

#include "data/db_rc.h"

#include "data/ptc.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define TTL_MS (PTC_TTL_S * 1000ULL)

static const char *const states[] = {
    [PTC_WAITING] = "waiting",
    [PTC_RUNNING] = "running",
    [PTC_DONE] = "done",
};

int
ptc_token(char token[static PTC_TOKEN_SIZE])
{

	memcpy(token, "pt_", 4);
	return (id_hex(token + 3, PTC_TOKEN_RANDOM));
}

static enum db_rc
put_call(struct db *tx, uint64_t run, const struct ptc_call *c)
{
	static const char sql[] =
	    "INSERT INTO ptc_call (run_id, number, tool, input_hash, input)"
	    " VALUES (?, ?, ?, UNHEX(?), ?)";
	char sha[HASH_SIZE];

	if (hash_sha256(c->input, strlen(c->input), sha))
		return (DB_FAIL);
	const struct db_arg args[] = {DB_U64(run), DB_U64(c->number),
	    DB_STR(c->tool), DB_STR(sha), DB_STR(c->input)};

	return (db_exec(tx, sql, args, NELEM(args), NULL, NULL));
}

/* A change of a run, with the calls that belong to it. */
struct change {
	const struct owner *owner;
	const struct ptc_run *r;
	const char *sha; /* Of the token, or of the results. */
	const struct ptc_call *call;
	size_t n;
	const char *answer;
	uint64_t bytes, until, now;
};

static enum db_rc
put_calls(struct db *tx, uint64_t run, const struct change *c)
{
	enum db_rc rc = DB_OK;

	for (size_t i = 0; i < c->n && rc == DB_OK; i++)
		rc = put_call(tx, run, &c->call[i]);
	return (rc);
}

static enum db_rc
begin_body(struct db *tx, void *cookie)
{
	static const char sql[] =
	    "INSERT INTO ptc_run (token, workspace_id, user_id, session,"
	    " state, calls, pending, request, answer, sweep_at)"
	    " VALUES (UNHEX(?), ?, ?, ?, 'waiting', ?, ?, ?, ?, ?)";
	const struct change *c = cookie;
	const struct db_arg args[] = {DB_STR(c->sha),
	    DB_U64(c->owner->workspace), DB_U64(c->owner->user),
	    DB_STR(c->r->session), DB_U64(c->n), DB_U64(c->n),
	    DB_STR(c->r->request), DB_STR(c->r->answer),
	    DB_U64(c->now + TTL_MS)};
	enum db_rc rc;
	uint64_t id;

	if ((rc = db_exec(tx, sql, args, NELEM(args), NULL, &id)) != DB_OK)
		return (rc);
	return (put_calls(tx, id, c));
}

enum data_rc
ptc_begin(struct db *db, const struct owner *owner, const char *token,
    const struct ptc_run *r, const struct ptc_call *call, size_t n,
    uint64_t now)
{
	char sha[HASH_SIZE];
	struct change c = {.owner = owner,
	    .r = r,
	    .sha = sha,
	    .call = call,
	    .n = n,
	    .now = now};

	if (hash_sha256(token, strlen(token), sha))
		return (DATA_FAIL);
	return (data_rc_of(db_tx(db, begin_body, &c)));
}

enum data_rc
ptc_find(struct db *db, struct arena *mem, const struct owner *owner,
    const char *token, uint64_t now, struct ptc_run *r)
{
	static const char sql[] =
	    "SELECT id, state, calls, pending, result_bytes, busy_until,"
	    " session, request, LOWER(HEX(answered)), answer FROM ptc_run"
	    " WHERE token = UNHEX(?) AND workspace_id = ? AND user_id = ?"
	    "   AND sweep_at > ?";
	char sha[HASH_SIZE], *cols[10];
	enum db_rc rc;

	if (hash_sha256(token, strlen(token), sha))
		return (DATA_FAIL);
	const struct db_arg args[] = {DB_STR(sha), DB_U64(owner->workspace),
	    DB_U64(owner->user), DB_U64(now)};
	rc = db_row(db, mem, sql, args, NELEM(args), cols, NELEM(cols));
	if (rc != DB_OK)
		return (data_rc_of(rc));
	*r = (struct ptc_run){.session = cols[6],
	    .request = cols[7],
	    .answered = cols[8],
	    .answer = cols[9]};
	for (size_t i = 0; i < NELEM(states); i++)
		if (strcmp(cols[1], states[i]) == 0)
			r->state = (enum ptc_state)i;
	if (num_u64(cols[0], 1, UINT64_MAX, &r->id) ||
	    num_u64(cols[2], 0, UINT64_MAX, &r->calls) ||
	    num_u64(cols[3], 0, UINT64_MAX, &r->pending) ||
	    num_u64(cols[4], 0, UINT64_MAX, &r->bytes) ||
	    num_u64(cols[5], 0, UINT64_MAX, &r->busy_until))
		return (DATA_FAIL);
	return (DATA_OK);
}

/* Whoever reads calls. */
struct reader {
	int (*fn)(void *, const struct ptc_call *);
	void *cookie;
};

static int
read_call(void *cookie, char *const *cols)
{
	const struct reader *x = cookie;
	struct ptc_call c = {.tool = cols[1],
	    .input = cols[2],
	    .result = cols[3],
	    .is_error = strcmp(cols[4], "0") != 0};

	if (num_u64(cols[0], 1, UINT64_MAX, &c.number))
		return (-1);
	return (x->fn(x->cookie, &c));
}

enum data_rc
ptc_each(struct db *db, const struct ptc_run *r,
    int (*fn)(void *, const struct ptc_call *), void *cookie)
{
	static const char sql[] =
	    "SELECT number, tool, input, result, is_error FROM ptc_call"
	    " WHERE run_id = ? ORDER BY number";
	const struct db_arg args[] = {DB_U64(r->id)};
	struct reader x = {.fn = fn, .cookie = cookie};

	return (
	    data_rc_of(db_rows(db, sql, args, NELEM(args), 5, read_call, &x)));
}

/* Calls without results, being kept. */
struct keeper {
	struct arena *mem;
	struct ptc_call *call;
	size_t n;
	uint64_t from;
};

static int
keep_call(void *cookie, const struct ptc_call *c)
{
	struct keeper *k = cookie;
	struct ptc_call *to;

	if (c->number <= k->from)
		return (0);
	to = &k->call[k->n++];
	to->number = c->number;
	to->tool = arena_strndup(k->mem, c->tool, strlen(c->tool));
	to->input = arena_strndup(k->mem, c->input, strlen(c->input));
	return (to->tool == NULL || to->input == NULL ? -1 : 0);
}

enum data_rc
ptc_pending(struct db *db, struct arena *mem, const struct ptc_run *r,
    struct ptc_call **call, size_t *n)
{
	struct keeper k = {.mem = mem, .from = r->calls - r->pending};
	enum data_rc rc;

	k.call = arena_alloc(mem, (r->pending + 1) * sizeof(*k.call));
	if (k.call == NULL)
		return (DATA_FAIL);
	rc = ptc_each(db, r, keep_call, &k);
	*call = k.call;
	*n = k.n;
	return (rc);
}

static enum db_rc
put_result(struct db *tx, uint64_t run, const struct ptc_call *c)
{
	static const char sql[] = "UPDATE ptc_call SET result = ?, is_error = ?"
				  " WHERE run_id = ? AND number = ?";
	const struct db_arg args[] = {DB_STR(c->result),
	    DB_U64((uint64_t)c->is_error), DB_U64(run), DB_U64(c->number)};

	return (db_exec(tx, sql, args, NELEM(args), NULL, NULL));
}

static enum db_rc
claim_body(struct db *tx, void *cookie)
{
	/* That it was begun is seen by others in the same statement. */
	static const char sql[] =
	    "UPDATE ptc_run SET state = 'running', busy_until = ?,"
	    " answered = UNHEX(?), answer = NULL, result_bytes = ?,"
	    " sweep_at = ?"
	    " WHERE id = ? AND calls = ?"
	    "   AND (state = 'waiting' OR"
	    "        (state = 'running' AND busy_until <= ?))";
	const struct change *c = cookie;
	const struct db_arg args[] = {DB_U64(c->until), DB_STR(c->sha),
	    DB_U64(c->bytes), DB_U64(c->until + TTL_MS), DB_U64(c->r->id),
	    DB_U64(c->r->calls), DB_U64(c->now)};
	enum db_rc rc;
	uint64_t n;

	if ((rc = db_exec(tx, sql, args, NELEM(args), &n, NULL)) != DB_OK)
		return (rc);
	if (n != 1)
		return (DB_STOP);
	for (size_t i = 0; i < c->n && rc == DB_OK; i++)
		rc = put_result(tx, c->r->id, &c->call[i]);
	return (rc);
}

enum data_rc
ptc_claim(struct db *db, const struct ptc_run *r, const char *answered,
    const struct ptc_call *call, size_t n, uint64_t bytes, uint64_t until,
    uint64_t now)
{
	struct change c = {.r = r,
	    .sha = answered,
	    .call = call,
	    .n = n,
	    .bytes = bytes,
	    .until = until,
	    .now = now};
	enum db_rc rc = db_tx(db, claim_body, &c);

	return (rc == DB_STOP ? DATA_STATE : data_rc_of(rc));
}

static enum db_rc
ask_body(struct db *tx, void *cookie)
{
	static const char sql[] =
	    "UPDATE ptc_run SET state = 'waiting', busy_until = 0,"
	    " calls = calls + ?, pending = ?, answer = ?, sweep_at = ?"
	    " WHERE id = ? AND state = 'running' AND calls = ?";
	const struct change *c = cookie;
	const struct db_arg args[] = {DB_U64(c->n), DB_U64(c->n),
	    DB_STR(c->answer), DB_U64(c->now + TTL_MS), DB_U64(c->r->id),
	    DB_U64(c->r->calls)};
	enum db_rc rc;
	uint64_t n;

	if ((rc = db_exec(tx, sql, args, NELEM(args), &n, NULL)) != DB_OK)
		return (rc);
	return (n == 1 ? put_calls(tx, c->r->id, c) : DB_STOP);
}

enum data_rc
ptc_ask(struct db *db, const struct ptc_run *r, const struct ptc_call *call,
    size_t n, const char *answer, uint64_t now)
{
	struct change c = {
	    .r = r, .call = call, .n = n, .answer = answer, .now = now};
	enum db_rc rc = db_tx(db, ask_body, &c);

	return (rc == DB_STOP ? DATA_STATE : data_rc_of(rc));
}

enum data_rc
ptc_end(
    struct db *db, const struct ptc_run *r, const char *answer, uint64_t now)
{
	static const char sql[] =
	    "UPDATE ptc_run SET state = 'done', busy_until = 0, answer = ?,"
	    " sweep_at = ? WHERE id = ? AND state = 'running'";
	const struct db_arg args[] = {
	    DB_STR(answer), DB_U64(now + TTL_MS), DB_U64(r->id)};

	return (data_rc_of(db_exec(db, sql, args, NELEM(args), NULL, NULL)));
}

void
ptc_release(struct db *db, const struct ptc_run *r)
{
	static const char sql[] =
	    "UPDATE ptc_run SET state = 'waiting', busy_until = 0"
	    " WHERE id = ? AND state = 'running'";
	const struct db_arg args[] = {DB_U64(r->id)};

	(void)db_exec(db, sql, args, NELEM(args), NULL, NULL);
}
