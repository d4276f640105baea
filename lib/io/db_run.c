#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/conf.h"
#include "base/id.h"
#include "base/log.h"
#include "base/num.h"

#include "io/db_conn.h"
#include "io/db_pool.h"

#include "io/db.h"

#define CONNECT_S 3
#define ANSWER_S 8
#define LOCK_S 3      /* To wait for others' locks. */
#define ALL_MS 9000   /* All tries of what a request asks for. */
#define TURN_MS 10000 /* How long to wait for a free connection, at most. */
#define TRIES 5       /* Of what ran into a deadlock. */
#define QUICK_MS 1000 /* A connection lost sooner is worth another try. */

/* A thread that has found the database away for ALL_MS hears so at once until
 * this time is over, unless it calls db_afresh(). */
#define AWAY_MS 15000
#define PATIENT_LOCK_S 10

#define ROWS_MAX (64 << 20) /* Bytes of one db_rows(). */

/* What the handles of one db_open() share. */
struct shared {
	struct db_pool *pool;
	struct conn_to to;
	uint64_t all_ms;       /* For all tries, or 0: no end. */
	_Atomic uint64_t told; /* clock_ms() of the last "away" line. */
};

struct db {
	struct shared *sh;
	struct conn *tx; /* The handle of a transaction: its connection. */
};

struct db_arg
db_str(const char *s)
{
	struct db_arg a = {.kind = DB_ARG_STR, .s = s};

	if (s == NULL)
		a.kind = DB_ARG_NULL;
	else
		a.len = strlen(s);
	return (a);
}

/* What db_why() tells; a thread's own, because it asks after its own call. */
static _Thread_local char reason[320];

const char *
db_why(void)
{

	return (reason);
}

/* Say that the database is away, at most once a second. */
static void
away(struct shared *sh, const char *what, const char *why)
{
	uint64_t now = clock_ms(), told = atomic_load(&sh->told);

	(void)snprintf(reason, sizeof(reason), "%s: %s", what, why);
	if (told != 0 && now - told < 1000)
		return;
	if (atomic_compare_exchange_strong(&sh->told, &told, now))
		log_err("db: away: %s: %s", what, why);
}

/* How often something ended in a deadlock, or with the connection. */
struct tries {
	uint64_t began; /* ms */
	int again, lost;
};

/* When what this thread now finds away was first tried, in ms; 0: it is not. */
static _Thread_local uint64_t away_since;

void
db_afresh(void)
{

	away_since = 0;
}

/* Begin to try something, as part of what has been tried in vain so far. */
static struct tries
begin_tries(void)
{
	const uint64_t now = clock_ms();
	struct tries t = {.began = now};

	if (away_since != 0 && now - away_since < AWAY_MS)
		t.began = away_since;
	return (t);
}

/* How long ${t} may still take, in ms. */
static uint64_t
time_left(const struct shared *sh, const struct tries *t)
{
	const uint64_t past = clock_ms() - t->began;

	if (sh->all_ms == 0)
		return (UINT64_MAX);
	return (past < sh->all_ms ? sh->all_ms - past : 0);
}

static uint64_t
lesser(uint64_t a, uint64_t b)
{

	return (a < b ? a : b);
}

/*
 * Connect, if there is time.  Return NULL after away().
 */
static struct conn *
connect_in(struct shared *sh, uint64_t ms)
{
	const uint64_t s = lesser(ms / 1000, CONNECT_S);
	char err[256];
	struct conn *c;

	if (s == 0)
		away(sh, "connecting", "no time is left");
	else if ((c = conn_open(&sh->to, (unsigned int)s, err, sizeof(err))) !=
	    NULL)
		return (c);
	else
		away(sh, "connecting", err);
	return (NULL);
}

/*
 * Take a connection for a statement or a transaction; after one was lost even a
 * warm one is pinged.  Return NULL, after away(), if there is none to be had.
 */
static struct conn *
conn_take(struct shared *sh, const struct tries *t)
{
	struct conn *c = NULL;
	uint64_t ms = time_left(sh, t);
	void *idle;

	if (ms == 0 || db_pool_take(sh->pool, lesser(ms, TURN_MS), &idle)) {
		away(sh, "no connection came free", "database.pool");
		return (NULL);
	}
	ms = time_left(sh, t);
	if ((c = idle) != NULL &&
	    !conn_good(c, t->lost, ms / 1000 + 1 >= sh->to.answer_s)) {
		conn_close(c);
		c = NULL;
	}
	if (c == NULL && (c = connect_in(sh, time_left(sh, t))) == NULL) {
		(void)db_pool_put(sh->pool, NULL);
		return (NULL);
	}
	c->again = c->sent = 0;
	return (c);
}

static void
conn_give(struct shared *sh, struct conn *c)
{

	if (c->dead) {
		conn_close(c);
		c = NULL;
	} else
		c->used = clock_ms();
	if (db_pool_put(sh->pool, c))
		conn_close(c);
}

/* Wait a random 5 to 50 ms, so that two who collided do not do so again. */
static void
pause_random(void)
{
	struct timespec t = {0};
	uint16_t r = 0;

	(void)id_bytes(&r, sizeof(r));
	t.tv_nsec = (5 + r % 46) * 1000000L;
	(void)nanosleep(&t, NULL);
}

/* It came to ${rc}, and the connection has been given back: once more? */
static int
once_more(struct shared *sh, struct tries *t, enum db_rc *rc)
{

	if (*rc == DB_AGAIN) {
		if (++t->again < TRIES &&
		    time_left(sh, t) >= (uint64_t)sh->to.lock_s * 1000) {
			pause_random();
			return (1);
		}
		(void)snprintf(reason, sizeof(reason),
		    "gave up after %d deadlocks", t->again);
		log_err("db: %s", reason);
		*rc = DB_DOWN;
	} else if (*rc == DB_DOWN) {
		if (t->lost++ == 0 && clock_ms() - t->began < QUICK_MS)
			return (1);
		away(sh, "connection lost",
		    t->lost > 1 ? "again at once" : "no answer");
		away_since = t->began;
	} else {
		away_since = 0;
	}
	return (0);
}

/* There is no connection for ${t}. */
static enum db_rc
no_conn(const struct tries *t)
{

	away_since = t->began;
	return (DB_DOWN);
}

/* Run ${op}: in the transaction if ${db} is one's handle, else by itself. */
static enum db_rc
op_auto(struct db *db, struct op *op)
{
	struct tries t = begin_tries();
	struct conn *c;
	enum db_rc rc;

	if (db->tx != NULL)
		return (conn_run(db->tx, op));
	do {
		if ((c = conn_take(db->sh, &t)) == NULL)
			return (no_conn(&t));
		rc = conn_run(c, op);
		if (rc == DB_DOWN && op->kind == OP_EXEC && c->sent) {
			log_err("db: lost while writing: %.120s", op->sql);
			rc = DB_UNSURE;
		}
		conn_give(db->sh, c);
	} while (once_more(db->sh, &t, &rc));
	return (rc);
}

enum db_rc
db_row(struct db *db, struct arena *mem, const char *sql,
    const struct db_arg *args, size_t nargs, char **cols, size_t ncols)
{
	struct op op = {.kind = OP_ROW,
	    .sql = sql,
	    .args = args,
	    .nargs = nargs,
	    .ncols = ncols,
	    .mem = mem,
	    .cols = cols};

	return (op_auto(db, &op));
}

enum db_rc
db_rows(struct db *db, const char *sql, const struct db_arg *args, size_t nargs,
    size_t ncols, db_each *fn, void *cookie)
{
	struct op op = {.kind = OP_ROWS,
	    .sql = sql,
	    .args = args,
	    .nargs = nargs,
	    .ncols = ncols};
	const struct line *l;
	enum db_rc rc;

	if ((op.mem = arena_new(ROWS_MAX)) == NULL)
		return (DB_FAIL);
	rc = op_auto(db, &op);
	for (l = op.lines; rc == DB_OK && l != NULL; l = l->next)
		if (fn(cookie, l->cols))
			rc = DB_FAIL;
	arena_free(op.mem);
	return (rc);
}

enum db_rc
db_exec(struct db *db, const char *sql, const struct db_arg *args, size_t nargs,
    uint64_t *affected, uint64_t *id)
{
	struct op op = {
	    .kind = OP_EXEC, .sql = sql, .args = args, .nargs = nargs};
	enum db_rc rc;

	if ((rc = op_auto(db, &op)) != DB_OK)
		return (rc);
	if (affected != NULL)
		*affected = op.affected;
	if (id != NULL)
		*id = op.id;
	return (DB_OK);
}

/* Run ${body} on ${c} once. */
static enum db_rc
tx_once(struct shared *sh, struct conn *c, db_body *body, void *cookie)
{
	struct db handle = {.sh = sh, .tx = c};
	enum db_rc rc;

	if ((rc = conn_begin(c)) != DB_OK)
		return (rc);
	rc = body(&handle, cookie);
	/* What the connection has seen counts, whatever the body made of it. */
	if (c->dead)
		return (DB_DOWN);
	if (c->again)
		rc = DB_AGAIN;
	if (rc == DB_OK)
		return (conn_commit(c));
	conn_rollback(c);
	return (rc);
}

enum db_rc
db_tx(struct db *db, db_body *body, void *cookie)
{
	struct tries t = begin_tries();
	struct conn *c;
	enum db_rc rc;

	if (db->tx != NULL) {
		log_err("db: a transaction inside a transaction");
		return (DB_FAIL);
	}
	do {
		if ((c = conn_take(db->sh, &t)) == NULL)
			return (no_conn(&t));
		rc = tx_once(db->sh, c, body, cookie);
		conn_give(db->sh, c);
	} while (once_more(db->sh, &t, &rc));
	return (rc);
}

int
db_clock_ms(const char *col, uint64_t *ms)
{
	const size_t len = strlen(col);
	char digits[24];

	/* Always three decimals: "1700000000.123". */
	if (len < 5 || len >= sizeof(digits) || col[len - 4] != '.')
		return (-1);
	memcpy(digits, col, len - 4);
	memcpy(digits + len - 4, col + len - 3, 4);
	return (num_u64(digits, 1, UINT64_MAX, ms));
}

enum db_rc
db_now(struct db *db, uint64_t *ms)
{
	static const char sql[] = "SELECT " DB_CLOCK;
	struct arena *mem;
	char *col;
	enum db_rc rc;

	if ((mem = arena_new(64)) == NULL)
		return (DB_FAIL);
	if ((rc = db_row(db, mem, sql, NULL, 0, &col, 1)) == DB_OK &&
	    (col == NULL || db_clock_ms(col, ms)))
		rc = DB_FAIL;
	arena_free(mem);
	return (rc);
}

struct db *
db_open(const struct conf *conf)
{
	struct db *db;
	struct shared *sh;

	if ((db = calloc(1, sizeof(*db))) == NULL)
		goto err0;
	if ((db->sh = sh = calloc(1, sizeof(*sh))) == NULL)
		goto err1;
	if ((sh->pool = db_pool_new(conf->db_pool)) == NULL)
		goto err2;
	sh->to.socket = conf->db_socket;
	sh->to.host = conf->db_host;
	sh->to.user = conf->db_user;
	sh->to.password = conf->db_password;
	sh->to.name = conf->db_name;
	sh->to.port = (unsigned int)conf->db_port;
	sh->to.answer_s = ANSWER_S;
	sh->to.lock_s = LOCK_S;
	sh->all_ms = ALL_MS;

	/* Success! */
	return (db);

err2:
	free(sh);
err1:
	free(db);
err0:
	/* Failure! */
	return (NULL);
}

void
db_patience(struct db *db, unsigned int seconds)
{

	db->sh->to.answer_s = seconds;
	db->sh->to.lock_s = PATIENT_LOCK_S;
	db->sh->all_ms = 0;
}

static void
close_idle(struct db *db)
{
	struct conn *c;

	while ((c = db_pool_idle(db->sh->pool)) != NULL)
		conn_close(c);
}

void
db_retire(struct db *db)
{

	db_pool_retire(db->sh->pool);
	close_idle(db);
}

void
db_close(struct db *db)
{

	if (db == NULL)
		return;
	close_idle(db);
	db_pool_free(db->sh->pool);
	free(db->sh);
	free(db);
}
