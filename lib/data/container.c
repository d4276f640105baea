#include <string.h>

#include "base/arena.h"
#include "base/id.h"
#include "base/log.h"
#include "base/num.h"

#include "data/db_rc.h"

#include "data/container.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

/* The columns container_row() reads, in its order. */
#define COLS                                                             \
	"id, pid, name, memory, session, idle_s, created, last_active, " \
	"expires, ends"
#define NCOLS 10

const char *
container_id_bare(const char *s)
{
	static const char *const prefixes[] = {"container_gw_", "cntr_gw_"};
	size_t i;

	for (i = 0; i < NELEM(prefixes); i++)
		if (strncmp(s, prefixes[i], strlen(prefixes[i])) == 0)
			return (s + strlen(prefixes[i]));
	return (NULL);
}

static int
container_row(char *const *cols, struct container *c)
{

	*c = (struct container){.id = cols[1],
	    .name = cols[2],
	    .memory = cols[3],
	    .session = cols[4]};
	if (num_u64(cols[0], 1, UINT64_MAX, &c->row) ||
	    num_u64(cols[5], 0, UINT64_MAX, &c->idle_s) ||
	    num_u64(cols[6], 0, UINT64_MAX, &c->created) ||
	    num_u64(cols[7], 0, UINT64_MAX, &c->last_active) ||
	    num_u64(cols[8], 0, UINT64_MAX, &c->expires) ||
	    num_u64(cols[9], 0, UINT64_MAX, &c->ends)) {
		log_err("container: bad row %s", cols[0]);
		return (-1);
	}
	return (0);
}

static int
is_id(const char *s)
{

	return (strlen(s) == CONTAINER_IDLEN && id_plain(s));
}

/* A token that no other holder has; never 0. */
static int
make_lease(uint64_t *lease)
{

	if (id_bytes(lease, sizeof(*lease)))
		return (-1);
	*lease |= 1;
	return (0);
}

static int
one_number(void *cookie, char *const *cols)
{

	return (num_u64(cols[0], 0, UINT64_MAX, cookie));
}

/* When a container that is used at ${now} expires. */
static uint64_t
expiry(const struct container *c, uint64_t now)
{
	const uint64_t idle = now + c->idle_s * 1000;

	return (idle < c->ends ? idle : c->ends);
}

enum data_rc
container_create(struct db *db, struct arena *mem, const struct owner *o,
    const struct container_new *new, uint64_t now, struct container *c)
{
	static const char sql[] =
	    "INSERT INTO container (pid, workspace_id, user_id, state, name,"
	    " memory, idle_s, lease, lease_until, created, last_active,"
	    " expires, ends)"
	    " VALUES (?, ?, ?, 'live', ?, ?, ?, ?, ?, ?, ?, ?, ?)";
	char id[CONTAINER_IDLEN + 1];

	*c = (struct container){.name = new->name,
	    .memory = new->memory,
	    .idle_s = new->idle_s,
	    .created = now,
	    .last_active = now,
	    .ends = now + new->life_s * 1000};
	c->expires = expiry(c, now);
	if (id_base36(id, CONTAINER_IDLEN) ||
	    (new->lease &&make_lease(&c->lease)) ||
	    (c->id = arena_strndup(mem, id, CONTAINER_IDLEN)) == NULL)
		return (DATA_FAIL);
	const struct db_arg args[] = {DB_STR(c->id), DB_U64(o->workspace),
	    DB_U64(o->user), DB_STR(new->name), DB_STR(new->memory),
	    DB_U64(new->idle_s), DB_U64(c->lease),
	    DB_U64(new->lease ? now + CONTAINER_LEASE_MS : 0), DB_U64(now),
	    DB_U64(now), DB_U64(c->expires), DB_U64(c->ends)};

	return (data_rc_of(db_exec(db, sql, args, NELEM(args), NULL, &c->row)));
}

enum data_rc
container_find(struct db *db, struct arena *mem, const struct owner *o,
    const char *id, uint64_t now, struct container *c)
{
	static const char sql[] =
	    "SELECT " COLS "  FROM container"
	    " WHERE workspace_id = ? AND user_id = ? AND pid = ?"
	    "   AND state = 'live'";
	const struct db_arg args[] = {
	    DB_U64(o->workspace), DB_U64(o->user), DB_STR(id)};
	char *cols[NCOLS];
	enum db_rc rc;

	if (!is_id(id))
		return (DATA_NONE);
	rc = db_row(db, mem, sql, args, NELEM(args), cols, NELEM(cols));
	if (rc != DB_OK)
		return (data_rc_of(rc));
	if (container_row(cols, c))
		return (DATA_FAIL);
	return (c->expires > now ? DATA_OK : DATA_EXPIRED);
}

enum data_rc
container_forgotten(struct db *db, const char *id, uint64_t now)
{
	static const char sql[] =
	    "SELECT COUNT(*) FROM container"
	    " WHERE pid = ? AND (state = 'dead' OR expires > ?)";
	const struct db_arg args[] = {DB_STR(id), DB_U64(now)};
	uint64_t n = 0;
	enum db_rc rc;

	if (!is_id(id))
		return (DATA_NONE);
	rc = db_rows(db, sql, args, NELEM(args), 1, one_number, &n);
	if (rc != DB_OK)
		return (data_rc_of(rc));
	return (n == 0 ? DATA_OK : DATA_NONE);
}

enum data_rc
container_lease(struct db *db, struct arena *mem, const struct owner *o,
    const char *id, uint64_t now, struct container *c)
{
	static const char sql[] =
	    "UPDATE container SET lease = ?, lease_until = ?"
	    " WHERE workspace_id = ? AND user_id = ? AND pid = ?"
	    "   AND state = 'live' AND expires > ? AND lease_until <= ?";
	uint64_t lease, n;
	enum data_rc rc;

	if (!is_id(id))
		return (DATA_NONE);
	if (make_lease(&lease))
		return (DATA_FAIL);
	const struct db_arg args[] = {DB_U64(lease),
	    DB_U64(now + CONTAINER_LEASE_MS), DB_U64(o->workspace),
	    DB_U64(o->user), DB_STR(id), DB_U64(now), DB_U64(now)};
	rc = data_rc_of(db_exec(db, sql, args, NELEM(args), &n, NULL));
	if (rc != DATA_OK)
		return (rc);
	if ((rc = container_find(db, mem, o, id, now, c)) != DATA_OK)
		return (rc);
	if (n != 1)
		return (DATA_STATE);
	c->lease = lease;
	return (DATA_OK);
}

enum data_rc
container_renew(struct db *db, uint64_t row, uint64_t lease)
{
	static const char sql[] =
	    "UPDATE container SET lease_until = " DB_NOW_MS " + ?"
	    " WHERE id = ? AND lease = ?";
	const struct db_arg args[] = {
	    DB_U64(CONTAINER_LEASE_MS), DB_U64(row), DB_U64(lease)};

	return (data_rc_of(db_exec(db, sql, args, NELEM(args), NULL, NULL)));
}

enum data_rc
container_note(struct db *db, const struct container *c, const char *session)
{
	static const char sql[] =
	    "UPDATE container SET session = ? WHERE id = ? AND lease = ?";
	const struct db_arg args[] = {
	    DB_STR(session), DB_U64(c->row), DB_U64(c->lease)};

	return (data_rc_of(db_exec(db, sql, args, NELEM(args), NULL, NULL)));
}

enum data_rc
container_release(struct db *db, struct container *c, uint64_t now)
{
	static const char sql[] =
	    "UPDATE container SET lease = 0, lease_until = 0, session = ?,"
	    " last_active = ?, expires = ?"
	    " WHERE id = ? AND lease = ?";
	uint64_t n;
	enum data_rc rc;

	c->last_active = now;
	c->expires = expiry(c, now);
	const struct db_arg args[] = {DB_STR(c->session), DB_U64(now),
	    DB_U64(c->expires), DB_U64(c->row), DB_U64(c->lease)};
	rc = data_rc_of(db_exec(db, sql, args, NELEM(args), &n, NULL));
	if (rc != DATA_OK)
		return (rc);
	return (n == 1 ? DATA_OK : DATA_STATE);
}

enum data_rc
container_drop(struct db *db, const struct container *c)
{
	static const char files[] =
	    "DELETE FROM container_file WHERE container_row = ?";
	static const char sql[] =
	    "DELETE FROM container WHERE id = ? AND lease = ?";
	const struct db_arg args[] = {DB_U64(c->row), DB_U64(c->lease)};

	(void)db_exec(db, files, args, 1, NULL, NULL);
	return (data_rc_of(db_exec(db, sql, args, NELEM(args), NULL, NULL)));
}

enum data_rc
container_delete(
    struct db *db, const struct owner *o, const char *id, uint64_t now)
{
	static const char sql[] =
	    "UPDATE container SET state = 'dead', expires = ?"
	    " WHERE workspace_id = ? AND user_id = ? AND pid = ?"
	    "   AND state = 'live'";
	const struct db_arg args[] = {
	    DB_U64(now), DB_U64(o->workspace), DB_U64(o->user), DB_STR(id)};
	uint64_t n;
	enum db_rc rc;

	if ((rc = db_exec(db, sql, args, NELEM(args), &n, NULL)) != DB_OK)
		return (data_rc_of(rc));
	return (n == 1 ? DATA_OK : DATA_NONE);
}

enum data_rc
container_sessions(struct db *db, struct arena *mem, const struct owner *o,
    const struct container *c, uint64_t now, uint64_t *n)
{
	static const char sql[] =
	    "SELECT COUNT(*) FROM container"
	    " WHERE workspace_id = ? AND user_id = ? AND state = 'live'"
	    "   AND (session > '' AND expires > ? AND id <> ?"
	    "     OR lease_until > ? AND id < ?)";
	const struct db_arg args[] = {DB_U64(o->workspace), DB_U64(o->user),
	    DB_U64(now), DB_U64(c->row), DB_U64(now), DB_U64(c->row)};
	char *cols[1];
	enum db_rc rc;

	rc = db_row(db, mem, sql, args, NELEM(args), cols, NELEM(cols));
	if (rc != DB_OK)
		return (data_rc_of(rc));
	return (num_u64(cols[0], 0, UINT64_MAX, n) ? DATA_FAIL : DATA_OK);
}

enum data_rc
container_evict(struct db *db, struct arena *mem, const struct owner *o,
    uint64_t now, const char **session)
{
	static const char find[] = "SELECT id, session FROM container"
				   " WHERE session > '' AND lease_until <= ?"
				   " ORDER BY last_active, id LIMIT 1";
	static const char find_own[] =
	    "SELECT id, session FROM container"
	    " WHERE session > '' AND lease_until <= ?"
	    "   AND workspace_id = ? AND user_id = ? AND state = 'live'"
	    " ORDER BY last_active, id LIMIT 1";
	static const char take[] =
	    "UPDATE container SET session = ''"
	    " WHERE id = ? AND session = ? AND lease_until <= ?";
	const struct db_arg args[] = {DB_U64(now),
	    DB_U64(o != NULL ? o->workspace : 0),
	    DB_U64(o != NULL ? o->user : 0)};
	char *cols[2];
	uint64_t row, n;
	enum db_rc rc;

	rc = db_row(db, mem, o != NULL ? find_own : find, args,
	    o != NULL ? NELEM(args) : 1, cols, NELEM(cols));
	if (rc != DB_OK)
		return (data_rc_of(rc));
	if (num_u64(cols[0], 1, UINT64_MAX, &row))
		return (DATA_FAIL);
	const struct db_arg taken[] = {
	    DB_U64(row), DB_STR(cols[1]), DB_U64(now)};
	rc = db_exec(db, take, taken, NELEM(taken), &n, NULL);
	if (rc != DB_OK)
		return (data_rc_of(rc));
	*session = cols[1];
	return (n == 1 ? DATA_OK : DATA_NONE);
}

/* ---- The list */

/* As for files: spelled out, and the index named. */
/* clang-format off */
#define PAGE(cmp, dir)							\
	"SELECT " COLS "  FROM container FORCE INDEX (container_list)"	\
	" WHERE workspace_id = ? AND user_id = ? AND state = 'live'"	\
	"   AND expires > ?"						\
	"   AND (created " cmp " ? OR (created = ? AND pid " cmp " ?))"	\
	" ORDER BY created " dir ", pid " dir " LIMIT ?"
/* clang-format on */

struct page {
	struct arena *mem;
	struct container *c;
	size_t n, max;
};

static int
page_row(void *cookie, char *const *cols)
{
	struct page *p = cookie;
	char *own[NCOLS];
	size_t i;

	if (p->n == p->max)
		return (-1);
	for (i = 0; i < NCOLS; i++) {
		own[i] = NULL;
		if (cols[i] != NULL &&
		    (own[i] = arena_strndup(
			 p->mem, cols[i], strlen(cols[i]))) == NULL)
			return (-1);
	}
	return (container_row(own, &p->c[p->n++]));
}

/* Where the container ${id}, dead or alive, stands in the list. */
static enum data_rc
place(struct db *db, struct arena *mem, const struct owner *o, const char *id,
    uint64_t *created)
{
	static const char sql[] =
	    "SELECT created FROM container"
	    " WHERE workspace_id = ? AND user_id = ? AND pid = ?";
	const struct db_arg args[] = {
	    DB_U64(o->workspace), DB_U64(o->user), DB_STR(id)};
	enum db_rc rc;
	char *col;

	if (!is_id(id))
		return (DATA_NONE);
	rc = db_row(db, mem, sql, args, NELEM(args), &col, 1);
	if (rc != DB_OK)
		return (data_rc_of(rc));
	return (num_u64(col, 0, UINT64_MAX, created) ? DATA_FAIL : DATA_OK);
}

enum data_rc
container_list(struct db *db, struct arena *mem,
    const struct container_query *q, struct container *c, size_t *n)
{
	static const char *const pages[] = {
	    PAGE("<", "DESC"), PAGE(">", "ASC")};
	struct page page = {.mem = mem, .c = c, .max = q->limit};
	uint64_t from = q->ascending ? 0 : UINT64_MAX;
	const char *after = q->after != NULL ? q->after : "";
	enum data_rc rc;

	if (q->after != NULL &&
	    (rc = place(db, mem, q->owner, after, &from)) != DATA_OK)
		return (rc);
	const struct db_arg args[] = {DB_U64(q->owner->workspace),
	    DB_U64(q->owner->user), DB_U64(q->now), DB_U64(from), DB_U64(from),
	    DB_STR(after), DB_U64(q->limit)};
	rc = data_rc_of(db_rows(db, pages[q->ascending != 0], args, NELEM(args),
	    NCOLS, page_row, &page));
	*n = page.n;
	return (rc);
}
