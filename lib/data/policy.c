#include <string.h>

#include "base/log.h"
#include "base/num.h"

#include "data/db_rc.h"
#include "data/setting.h"

#include "data/policy.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

/* The columns policy_row() reads, in its order. */
#define POLICY_COLS                                 \
	"p.enabled, p.executor, p.max_iterations, " \
	"p.exec_timeout_s, p.purpose_hint, p.created, p.updated"
#define POLICY_NCOLS 7

static const char *const words[] = {
    [EXECUTOR_AUTO] = "auto",
    [EXECUTOR_LOCAL] = "local",
    [EXECUTOR_PROVIDER] = "provider",
};

const char *
policy_word(enum conf_executor e)
{

	return (words[e]);
}

int
policy_parse(const char *s, enum conf_executor *e)
{
	size_t i;

	if (strcmp(s, "otari") == 0)
		s = "local";
	for (i = 0; i < NELEM(words); i++)
		if (strcmp(s, words[i]) == 0) {
			*e = (enum conf_executor)i;
			return (0);
		}
	return (-1);
}

/* The number ${s}, 0 for NULL. */
static int
number(const char *s, uint64_t *n)
{

	*n = 0;
	return (s != NULL ? num_u64(s, 0, UINT64_MAX, n) : 0);
}

/* Read POLICY_COLS, all NULL where there is no row. */
static int
policy_row(char *const *cols, struct policy *p)
{

	*p = (struct policy){.enabled = 1};
	if (cols[0] == NULL)
		return (0);
	p->configured = 1;
	p->enabled = strcmp(cols[0], "0") != 0;
	p->pinned = cols[1] != NULL;
	p->hint = cols[4];
	if ((p->pinned && policy_parse(cols[1], &p->executor)) ||
	    number(cols[2], &p->max_iterations) ||
	    number(cols[3], &p->exec_timeout_s) ||
	    number(cols[5], &p->created) || number(cols[6], &p->updated)) {
		log_err("policy: bad row");
		return (-1);
	}
	return (0);
}

enum data_rc
policy_in_force(struct db *db, struct arena *mem, uint64_t workspace,
    struct policy_in_force *f)
{
	/* clang-format off */
	static const char sql[] =
	    "SELECT " POLICY_COLS ", s.value"
	    "  FROM (SELECT 1 AS one) x"
	    "  LEFT JOIN code_policy p ON p.workspace_id = ?"
	    "  LEFT JOIN setting s ON s.name = '" SETTING_EXECUTOR "'";
	/* clang-format on */
	const struct db_arg args[] = {DB_U64(workspace)};
	char *cols[POLICY_NCOLS + 1], *value;
	enum db_rc rc;

	rc = db_row(db, mem, sql, args, NELEM(args), cols, NELEM(cols));
	if (rc != DB_OK)
		return (data_rc_of(rc));
	value = cols[POLICY_NCOLS];
	f->defaulted = value != NULL;
	if (f->defaulted && policy_parse(value, &f->executor)) {
		log_err("policy: the setting %s is \"%s\"", SETTING_EXECUTOR,
		    value);
		return (DATA_FAIL);
	}
	return (policy_row(cols, &f->policy) ? DATA_FAIL : DATA_OK);
}

enum data_rc
policy_find(struct db *db, struct arena *mem, const char *workspace,
    uint64_t *id, struct policy *p)
{
	/* clang-format off */
	static const char sql[] =
	    "SELECT " POLICY_COLS ", w.id FROM workspace w"
	    "  LEFT JOIN code_policy p ON p.workspace_id = w.id"
	    " WHERE w.name = ?";
	/* clang-format on */
	const struct db_arg args[] = {DB_STR(workspace)};
	char *cols[POLICY_NCOLS + 1];
	enum db_rc rc;

	rc = db_row(db, mem, sql, args, NELEM(args), cols, NELEM(cols));
	if (rc != DB_OK)
		return (data_rc_of(rc));
	return (number(cols[POLICY_NCOLS], id) || policy_row(cols, p)
		? DATA_FAIL
		: DATA_OK);
}

/* ${n}, or NULL where it is 0. */
static struct db_arg
or_null(uint64_t n)
{
	const struct db_arg none = DB_NULL, some = DB_U64(n);

	return (n == 0 ? none : some);
}

struct put {
	uint64_t workspace;
	struct policy *p;
	uint64_t now;
};

static enum db_rc
put_body(struct db *tx, void *cookie)
{
	static const char drop[] =
	    "DELETE FROM code_policy WHERE workspace_id = ?";
	static const char put[] =
	    "INSERT INTO code_policy (enabled, executor, max_iterations,"
	    " exec_timeout_s, purpose_hint, created, updated, workspace_id)"
	    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
	const struct put *x = cookie;
	struct policy *p = x->p;
	const struct db_arg args[] = {DB_U64((uint64_t)p->enabled),
	    DB_STR(p->pinned ? policy_word(p->executor) : NULL),
	    or_null(p->max_iterations), or_null(p->exec_timeout_s),
	    DB_STR(p->hint), DB_U64(p->configured ? p->created : x->now),
	    DB_U64(x->now), DB_U64(x->workspace)};
	enum db_rc rc;

	rc = db_exec(tx, drop, &args[7], 1, NULL, NULL);
	if (rc == DB_OK)
		rc = db_exec(tx, put, args, NELEM(args), NULL, NULL);
	return (rc == DB_DUP ? DB_AGAIN : rc);
}

enum data_rc
policy_put(struct db *db, uint64_t workspace, struct policy *p, uint64_t now)
{
	struct put x = {workspace, p, now};
	enum db_rc rc;

	if ((rc = db_tx(db, put_body, &x)) == DB_OK) {
		p->created = p->configured ? p->created : now;
		p->updated = now;
		p->configured = 1;
	}
	return (data_rc_of(rc));
}

enum data_rc
policy_drop(struct db *db, uint64_t workspace)
{
	static const char sql[] =
	    "DELETE FROM code_policy WHERE workspace_id = ?";
	const struct db_arg args[] = {DB_U64(workspace)};

	return (data_rc_of(db_exec(db, sql, args, NELEM(args), NULL, NULL)));
}

struct each {
	int (*fn)(void *, const char *, const struct policy *);
	void *cookie;
};

static int
each_row(void *cookie, char *const *cols)
{
	const struct each *x = cookie;
	struct policy p;

	if (policy_row(cols, &p))
		return (-1);
	return (x->fn(x->cookie, cols[POLICY_NCOLS], &p));
}

enum data_rc
policy_each(struct db *db,
    int (*fn)(void *, const char *, const struct policy *), void *cookie)
{
	/* clang-format off */
	static const char sql[] =
	    "SELECT " POLICY_COLS ", w.name FROM code_policy p"
	    "  JOIN workspace w ON w.id = p.workspace_id ORDER BY w.id";
	/* clang-format on */
	struct each x = {fn, cookie};

	return (data_rc_of(
	    db_rows(db, sql, NULL, 0, POLICY_NCOLS + 1, each_row, &x)));
}
