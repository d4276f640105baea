#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/id.h"
#include "base/log.h"
#include "base/num.h"

#include "data/db_rc.h"

#include "data/usage.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define MILLION 1000000

/* ${n}, or NULL. */
static struct db_arg
known(int is_known, uint64_t n)
{
	const struct db_arg none = DB_NULL, some = DB_U64(n);

	return (is_known ? some : none);
}

enum data_rc
usage_put(struct db *db, const struct usage_row *u)
{
	static const char sql[] =
	    "INSERT INTO model_usage (pid, workspace_id, user_id, key_id,"
	    " route, model, provider, ran, status, error, input, output,"
	    " cached, reasoning, rounds, runs, priced, run_ms, bytes, price,"
	    " ms, created, request) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
	    " ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
	char price[48];

	(void)snprintf(price, sizeof(price), "%" PRIu64 ".%06" PRIu64,
	    u->price / MILLION, u->price % MILLION);
	const char *money = price;
	const struct db_arg args[] = {DB_STR(u->id), DB_U64(u->owner.workspace),
	    DB_U64(u->owner.user), DB_U64(u->key), DB_STR(u->route),
	    DB_STR(u->model), DB_STR(u->provider), DB_STR(u->ran),
	    DB_U64(u->status), DB_STR(u->error), known(u->counted, u->input),
	    known(u->counted, u->output), known(u->counted, u->cached),
	    known(u->counted, u->reasoning), DB_U64(u->rounds), DB_U64(u->runs),
	    DB_U64(u->priced), DB_U64(u->run_ms), DB_U64(u->bytes),
	    DB_STR(money), DB_U64(u->ms), DB_U64(u->created),
	    DB_STR(u->request)};

	return (data_rc_of(db_exec(db, sql, args, NELEM(args), NULL, NULL)));
}

enum data_rc
usage_put_run(
    struct db *db, const struct usage_row *u, const struct usage_run *run)
{
	static const char sql[] =
	    "INSERT INTO run_usage (model_pid, workspace_id, user_id,"
	    " container, tool, ms, exit_code, error, files, bytes, created)"
	    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
	const struct db_arg none = DB_NULL;
	struct db_arg code = none;
	char digits[16];
	const char *s = digits;

	/* It may be negative, which is told as text. */
	(void)snprintf(digits, sizeof(digits), "%d", run->code);
	if (run->has_code)
		code = DB_STR(s);
	const struct db_arg args[] = {DB_STR(u->id), DB_U64(u->owner.workspace),
	    DB_U64(u->owner.user), DB_STR(run->container), DB_STR(run->tool),
	    DB_U64(run->ms), code, DB_STR(run->error), DB_U64(run->files),
	    DB_U64(run->bytes), DB_U64(u->created)};

	return (data_rc_of(db_exec(db, sql, args, NELEM(args), NULL, NULL)));
}

/* ---- Reading */

/* clang-format off */
#define COLS								\
	"m.pid, m.key_id, u.name, m.route, m.model, m.provider, m.ran,"	\
	" m.error, m.input, m.status, m.output, m.cached, m.reasoning,"	\
	" m.rounds, m.runs, m.priced, m.run_ms, m.bytes,"		\
	" CAST(m.price * 1000000 AS UNSIGNED), m.ms, m.created,"	\
	" m.request"
#define NCOLS 22

#define PAGE(index, whose, cmp, dir)					\
	"SELECT " COLS "  FROM model_usage m FORCE INDEX (" index ")"	\
	"  LEFT JOIN user u ON u.id = m.user_id"			\
	" WHERE m." whose " = ? AND m.created >= ? AND m.created < ?"	\
	"   AND (m.created " cmp " ? OR (m.created = ? AND m.pid " cmp " ?))" \
	" ORDER BY m.created " dir ", m.pid " dir " LIMIT ?"

/* Past what a number in an answer holds a sum stays there. */
#define TOTAL(col) "LEAST(COALESCE(SUM(" col "), 0), 9223372036854775807)"
#define SUM(index, whose)						\
	"SELECT " TOTAL("input") ", COUNT(*), " TOTAL("output") ", "	\
	TOTAL("cached") ", " TOTAL("reasoning") ", " TOTAL("rounds") ", " \
	TOTAL("runs") ", " TOTAL("priced") ", " TOTAL("run_ms") ", "	\
	TOTAL("bytes") ", CAST(" TOTAL("price * 1000000") " AS UNSIGNED)" \
	"  FROM model_usage FORCE INDEX (" index ")"			\
	" WHERE " whose " = ? AND created >= ? AND created < ?"
/* clang-format on */
#define NSUM 11

static int
number(const char *s, uint64_t *n)
{

	*n = 0;
	return (s != NULL ? num_u64(s, 0, UINT64_MAX, n) : 0);
}

static int
usage_of(char *const *cols, struct usage_row *u)
{
	uint64_t *const numbers[] = {&u->status, &u->output, &u->cached,
	    &u->reasoning, &u->rounds, &u->runs, &u->priced, &u->run_ms,
	    &u->bytes, &u->price, &u->ms, &u->created};
	size_t i;

	*u = (struct usage_row){.id = cols[0],
	    .user = cols[2],
	    .route = cols[3],
	    .model = cols[4],
	    .provider = cols[5],
	    .ran = cols[6],
	    .error = cols[7],
	    .request = cols[21],
	    .counted = cols[8] != NULL};
	if (number(cols[1], &u->key) || number(cols[8], &u->input))
		return (-1);
	for (i = 0; i < NELEM(numbers); i++)
		if (number(cols[9 + i], numbers[i]))
			return (-1);
	return (0);
}

struct rows {
	struct arena *mem;
	struct usage_row *u;
	size_t n, max;
};

static int
add_row(void *cookie, char *const *cols)
{
	struct rows *x = cookie;
	char *own[NCOLS];
	size_t i;

	if (x->n == x->max)
		return (-1);
	for (i = 0; i < NCOLS; i++) {
		own[i] = NULL;
		if (cols[i] != NULL &&
		    (own[i] = arena_strndup(
			 x->mem, cols[i], strlen(cols[i]))) == NULL)
			return (-1);
	}
	if (usage_of(own, &x->u[x->n++])) {
		log_err("usage: bad row %s", cols[0]);
		return (-1);
	}
	return (0);
}

/* When the row ${q}->after was, if it is one of ${q}'s. */
static enum data_rc
place(struct db *db, struct arena *mem, const struct usage_query *q,
    uint64_t *created)
{
	static const char sql[] =
	    "SELECT created FROM model_usage"
	    " WHERE pid = ? AND (key_id = ? OR (? = 0 AND workspace_id = ?))";
	const struct db_arg args[] = {DB_STR(q->after), DB_U64(q->key),
	    DB_U64(q->key), DB_U64(q->workspace)};
	enum db_rc rc;
	char *col;

	if (!id_plain(q->after))
		return (DATA_NONE);
	rc = db_row(db, mem, sql, args, NELEM(args), &col, 1);
	if (rc != DB_OK)
		return (data_rc_of(rc));
	return (number(col, created) ? DATA_FAIL : DATA_OK);
}

enum data_rc
usage_list(struct db *db, struct arena *mem, const struct usage_query *q,
    struct usage_row *u, size_t *n)
{
	static const char *const pages[2][2] = {
	    {PAGE("model_usage_workspace", "workspace_id", "<", "DESC"),
		PAGE("model_usage_workspace", "workspace_id", ">", "ASC")},
	    {PAGE("model_usage_key", "key_id", "<", "DESC"),
		PAGE("model_usage_key", "key_id", ">", "ASC")},
	};
	const char *after = q->after != NULL ? q->after : "";
	struct rows x = {.mem = mem, .u = u, .max = q->limit};
	uint64_t from = q->ascending ? 0 : UINT64_MAX;
	enum data_rc rc;

	if (q->after != NULL && (rc = place(db, mem, q, &from)) != DATA_OK)
		return (rc);
	const struct db_arg args[] = {
	    DB_U64(q->key != 0 ? q->key : q->workspace), DB_U64(q->since),
	    DB_U64(q->until), DB_U64(from), DB_U64(from), DB_STR(after),
	    DB_U64(q->limit)};
	rc = data_rc_of(db_rows(db, pages[q->key != 0][q->ascending != 0], args,
	    NELEM(args), NCOLS, add_row, &x));
	*n = x.n;
	return (rc);
}

enum data_rc
usage_sum(struct db *db, struct arena *mem, const struct usage_query *q,
    struct usage_row *sum, uint64_t *requests)
{
	static const char *const sums[2] = {
	    SUM("model_usage_workspace", "workspace_id"),
	    SUM("model_usage_key", "key_id")};
	uint64_t *const numbers[NSUM] = {&sum->input, requests, &sum->output,
	    &sum->cached, &sum->reasoning, &sum->rounds, &sum->runs,
	    &sum->priced, &sum->run_ms, &sum->bytes, &sum->price};
	const struct db_arg args[] = {
	    DB_U64(q->key != 0 ? q->key : q->workspace), DB_U64(q->since),
	    DB_U64(q->until)};
	char *cols[NSUM];
	enum db_rc rc;
	size_t i;

	memset(sum, 0, sizeof(*sum));
	rc = db_row(
	    db, mem, sums[q->key != 0], args, NELEM(args), cols, NELEM(cols));
	for (i = 0; rc == DB_OK && i < NSUM; i++)
		if (number(cols[i], numbers[i])) {
			log_err("usage: bad sum %.64s", cols[i]);
			return (DATA_FAIL);
		}
	return (data_rc_of(rc));
}
