#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/id.h"
#include "base/log.h"
#include "base/num.h"

#include "data/sweep_in.h"
#include "io/fault.h"

/* After so many failed removals, the rest would fail too. */
#define FAILURES_MAX 1000

uint64_t
run_now(const struct run *r)
{

	return (r->now0 + (clock_ms() - r->mono0));
}

uint64_t
run_due(const struct run *r, uint64_t seconds)
{
	uint64_t now = run_now(r);

	return (now > seconds * 1000 ? now - seconds * 1000 : 0);
}

enum sweep_rc
run_pause(struct run *r)
{
	const struct sweep *s = r->s;

	if (s->progress != NULL)
		s->progress(s->cookie, r->n);
	if (fault("slow-batch"))
		(void)poll(NULL, 0, 20);
	return (s->stop != NULL && s->stop(s->cookie) ? SWEEP_CUT : SWEEP_DONE);
}

enum sweep_rc
run_db(enum db_rc rc)
{

	return (rc == DB_OK ? SWEEP_DONE : SWEEP_DB);
}

enum sweep_rc
run_failed(struct run *r)
{
	static const char nobody[] = "00000000000000000000000000000000";
	uint64_t idle;

	r->n->failed++;
	if (r->n->failed >= FAILURES_MAX)
		return (SWEEP_STORE);

	/* The store may be well but for that one name. */
	switch (blob_idle(r->s->store, nobody, &idle)) {
	case BLOB_OK:
	case BLOB_GONE:
		return (SWEEP_DONE);
	default:
		return (SWEEP_STORE);
	}
}

static int
add_row(void *cookie, char *const *cols)
{
	struct batch *b = cookie;
	struct due *d = &b->row[b->n];

	if (b->n == SWEEP_BATCH || num_u64(cols[0], 1, UINT64_MAX, &d->id) ||
	    num_u64(cols[1], 0, UINT64_MAX, &d->at)) {
		log_err("sweep: bad row %s", cols[0]);
		return (-1);
	}
	(void)snprintf(d->key, sizeof(d->key), "%s", cols[2]);
	(void)snprintf(d->name, sizeof(d->name), "%s", cols[3]);
	b->n++;
	return (0);
}

enum sweep_rc
batch_next(
    const struct run *r, const char *sql, struct pass *p, struct batch *b)
{
	const struct db_arg args[] = {DB_U64(p->before), DB_U64(p->at),
	    DB_U64(p->at), DB_U64(p->id), DB_U64(p->claimed),
	    DB_U64(run_now(r)), DB_U64(r->s->batch)};
	enum db_rc rc;

	b->n = 0;
	rc = db_rows(
	    r->s->db, sql, args, sizeof(args) / sizeof(args[0]), 4, add_row, b);
	if (b->n > 0) {
		p->at = b->row[b->n - 1].at;
		p->id = b->row[b->n - 1].id;
	}
	return (run_db(rc));
}

enum sweep_rc
batch_exec(const struct run *r, const char *sql, const uint64_t *lead,
    size_t nlead, const struct batch *b, uint64_t *affected)
{
	struct db_arg args[SWEEP_LEAD + SWEEP_BATCH];
	size_t i, n = 0;

	*affected = 0;
	if (b->n == 0)
		return (SWEEP_DONE);
	for (i = 0; i < nlead && n < SWEEP_LEAD; i++)
		args[n++] = (struct db_arg)DB_U64(lead[i]);

	/* One text and one plan for every size: no row has the id 0. */
	for (i = 0; i < SWEEP_BATCH; i++)
		args[n++] = (struct db_arg)DB_U64(i < b->n ? b->row[i].id : 0);
	return (run_db(db_exec(r->s->db, sql, args, n, affected, NULL)));
}

int
sweep_held(const struct sweep *s, uint64_t *files, uint64_t *bytes)
{
	static const char sql[] =
	    "SELECT COUNT(*), COALESCE(SUM(bytes), 0) FROM file"
	    " WHERE state IN ('live', 'dead') AND sweep_at > ?"
	    "   AND sweep_at <= ? AND store_key IS NOT NULL";
	uint64_t now, from;
	struct arena *mem;
	char *cols[2];
	int rc = -1;

	if (db_now(s->db, &now) != DB_OK)
		return (-1);
	from = now > s->grace_s * 1000 ? now - s->grace_s * 1000 : 0;
	const struct db_arg args[] = {DB_U64(from), DB_U64(now)};
	if ((mem = arena_new(256)) == NULL)
		return (-1);
	if (db_row(s->db, mem, sql, args, 2, cols, 2) == DB_OK &&
	    num_u64(cols[0], 0, UINT64_MAX, files) == 0 &&
	    num_u64(cols[1], 0, UINT64_MAX, bytes) == 0)
		rc = 0;
	arena_free(mem);
	return (rc);
}

enum sweep_rc
sweep_run(const struct sweep *s, struct sweep_count *n)
{
	static enum sweep_rc (*const steps[])(struct run *) = {sweep_temp,
	    sweep_mark, sweep_reclaim, sweep_containers, sweep_forget,
	    sweep_orphans};
	struct run r = {.s = s, .n = n};
	enum sweep_rc rc = SWEEP_DONE;
	size_t i;

	memset(n, 0, sizeof(*n));
	if (id_bytes(&r.token, sizeof(r.token)))
		return (SWEEP_DB);
	r.token |= 1;
	if (db_now(s->db, &r.now0) != DB_OK)
		return (SWEEP_DB);
	r.mono0 = clock_ms();
	for (i = 0; rc == SWEEP_DONE && i < sizeof(steps) / sizeof(steps[0]);
	     i++)
		if ((rc = run_pause(&r)) == SWEEP_DONE)
			rc = steps[i](&r);
	return (rc);
}
