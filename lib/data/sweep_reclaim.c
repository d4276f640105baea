#include <poll.h>
#include <string.h>

#include "base/log.h"
#include "base/num.h"

#include "data/sweep_in.h"
#include "io/blob_walk.h"
#include "io/fault.h"

#define POLL_MS 100

/*
 * The statements that take rows of one table and state away.  All but due,
 * claim and waiting work only on rows that still hold our claim, so that a run
 * that was thought dead does no harm, nor counts what another did.  A row that
 * is still called live long after its time was up goes the same way as a dead
 * one, without being made dead first.
 */
struct kind {
	const char *due;     /* Rows free to claim. */
	const char *claim;   /* token, lease's end, died by, now */
	const char *mine;    /* Those that the claim got. */
	const char *gone;    /* Bytes removed; a tombstone stays. */
	const char *drop;    /* Bytes removed; nothing stays. */
	const char *release; /* Bytes could not be removed. */
	const char *waiting; /* End of the last lease that others hold. */
	int part, live;
};

#define OURS(state) \
	" WHERE state = '" state "' AND claim = ? AND id IN (" SWEEP_IN ")"
#define KIND(t, state, died)                                                  \
	.due = SWEEP_DUE(t, state),                                           \
	.claim = "UPDATE " t " SET claim = ?, claim_until = ?"                \
		 " WHERE state = '" state "' AND " died " <= ?"               \
		 "   AND claim_until <= ? AND id IN (" SWEEP_IN ")",          \
	.mine = "SELECT id FROM " t OURS(state),                              \
	.drop = "DELETE FROM " t OURS(state),                                 \
	.release = "UPDATE " t " SET claim = 0, claim_until = 0" OURS(state), \
	.waiting = "SELECT COALESCE(MAX(claim_until), 0)"                     \
		   "  FROM " t " FORCE INDEX (" t "_sweep)"                   \
		   " WHERE state = '" state "' AND sweep_at <= ?"             \
		   "   AND claim_until > ?"
#define GONE(state)                                                 \
	.gone = "UPDATE file SET state = 'gone', store_key = NULL," \
		" claim = 0, claim_until = 0" OURS(state)

/* clang-format off */
static const struct kind kinds[] = {
	{ KIND("file", "live", "sweep_at"), GONE("live"), .live = 1 },
	{ KIND("file", "dead", "sweep_at"), GONE("dead") },
	{ KIND("upload_part", "live", "sweep_at"), .part = 1 },
	{ KIND("upload_part", "dead", "sweep_at"), .part = 1 },
};
/* clang-format on */

enum sweep_rc
sweep_pretend(struct run *r, int part, int live, const struct due *d)
{
	const char *what = part ? "part" : *d->name ? "file" : "upload";
	const char *name = *d->name ? d->name : d->key;
	struct blob_took t = {0, 0, 0};

	if (*d->key && blob_look(r->s->store, d->key, &t) != BLOB_OK)
		return (run_failed(r));
	r->n->temp += (uint64_t)t.temp;
	r->n->bytes += t.bytes;
	if (part)
		r->n->parts++;
	else if (*d->name == '\0')
		r->n->uploads++;
	else {
		r->n->files++;
		r->n->expired += (uint64_t)live;
		if (d->at <= run_due(r, r->s->tombstone_s))
			r->n->tombstones++;
	}
	r->s->found(r->s->cookie, what, name, t.bytes);
	return (SWEEP_DONE);
}

static int
keep_id(void *cookie, char *const *cols)
{
	struct batch *b = cookie;
	struct due d;
	size_t i;

	if (num_u64(cols[0], 1, UINT64_MAX, &d.id))
		return (-1);
	for (i = b->n; i < SWEEP_BATCH && b->row[i].id != d.id; i++)
		continue;
	if (i == SWEEP_BATCH)
		return (-1);

	/* Those that are ours come to the front. */
	d = b->row[b->n];
	b->row[b->n++] = b->row[i];
	b->row[i] = d;
	return (0);
}

/* Claim the rows of ${b}; leave in it only those that we got. */
static enum sweep_rc
claim(struct run *r, const struct kind *k, uint64_t before, struct batch *b)
{
	uint64_t now = run_now(r), n;
	const uint64_t lead[] = {r->token, now + SWEEP_LEASE_MS, before, now};
	struct db_arg args[1 + SWEEP_BATCH];
	enum sweep_rc rc;
	size_t i;

	rc = batch_exec(r, k->claim, lead, SWEEP_LEAD, b, &n);
	if (rc != SWEEP_DONE || n == b->n)
		return (rc);
	args[0] = (struct db_arg)DB_U64(r->token);
	for (i = 0; i < SWEEP_BATCH; i++) {
		if (i >= b->n)
			b->row[i].id = 0;
		args[1 + i] = (struct db_arg)DB_U64(b->row[i].id);
	}
	b->n = 0;
	return (run_db(
	    db_rows(r->s->db, k->mine, args, 1 + SWEEP_BATCH, 1, keep_id, b)));
}

/* What has a public id was published; its temporary name has gone. */
static enum blob_rc
remove_bytes(const struct run *r, const struct due *d, struct blob_took *t)
{

	return ((*d->name ? blob_reclaim_final : blob_reclaim)(
	    r->s->store, d->key, t));
}

/* What becomes of a row whose bytes have been dealt with. */
enum fate {
	FATE_GONE, /* It stays as a tombstone. */
	FATE_OLD,  /* So it would, but that time is over too. */
	FATE_DROP, /* It never had a public id that anybody could hold. */
	FATE_BAD,  /* Its bytes are still there. */
	FATES
};

/* Do to the claimed rows what their fate is, and count those it was done to. */
static enum sweep_rc
settle(struct run *r, const struct kind *k, const struct batch *to)
{
	const char *const sql[FATES] = {
	    [FATE_GONE] = k->gone,
	    [FATE_OLD] = k->drop,
	    [FATE_DROP] = k->drop,
	    [FATE_BAD] = k->release,
	};
	uint64_t n[FATES];
	enum sweep_rc rc = SWEEP_DONE;
	int i;

	for (i = 0; i < FATES; i++) {
		n[i] = 0;
		if (rc == SWEEP_DONE)
			rc = batch_exec(r, sql[i], &r->token, 1, &to[i], &n[i]);
	}
	r->n->files += n[FATE_GONE] + n[FATE_OLD];
	r->n->expired += k->live ? n[FATE_GONE] + n[FATE_OLD] : 0;
	r->n->tombstones += n[FATE_OLD];
	*(k->part ? &r->n->parts : &r->n->uploads) += n[FATE_DROP];
	return (rc);
}

/* Remove the bytes of the claimed ${b}, and then what their rows say. */
static enum sweep_rc
take(struct run *r, const struct kind *k, struct batch *b)
{
	const uint64_t old = run_due(r, r->s->tombstone_s);
	struct batch to[FATES];
	struct blob_took t = {0, 0, 0};
	enum sweep_rc rc = SWEEP_DONE, rc2;
	enum fate fate;
	const struct due *d;
	size_t i;

	for (i = 0; i < FATES; i++)
		to[i].n = 0;
	for (i = 0; i < b->n; i++) {
		d = &b->row[i];
		fate = k->part || *d->name == '\0' ? FATE_DROP
		    : d->at <= old                 ? FATE_OLD
						   : FATE_GONE;
		if (rc != SWEEP_DONE) {
			fate = FATE_BAD; /* The store went away. */
		} else if (*d->key) {
			if (remove_bytes(r, d, &t) != BLOB_OK) {
				rc = run_failed(r);
				fate = FATE_BAD;
			}
			r->n->temp += (uint64_t)t.temp;
			r->n->bytes += t.bytes;
		}
		to[fate].row[to[fate].n++] = *d;
	}
	fault_kill("kill-unlinked");
	rc2 = settle(r, k, to);
	fault_kill("kill-gone");
	return (rc2 != SWEEP_DONE ? rc2 : rc);
}

/* One pass through the dead rows. */
static enum sweep_rc
pass(struct run *r, const struct kind *k, struct pass p)
{
	struct batch b;
	enum sweep_rc rc;
	size_t i;

	do {
		if ((rc = batch_next(r, k->due, &p, &b)) != SWEEP_DONE ||
		    b.n == 0)
			break;
		if (r->s->dry_run) {
			for (i = 0; i < b.n && rc == SWEEP_DONE; i++)
				rc = sweep_pretend(
				    r, k->part, k->live, &b.row[i]);
		} else if ((rc = claim(r, k, p.before, &b)) == SWEEP_DONE) {
			fault_kill("kill-claimed");
			rc = take(r, k, &b);
		}
		if (rc == SWEEP_DONE)
			rc = run_pause(r);
	} while (rc == SWEEP_DONE);
	return (rc);
}

static int
one_number(void *cookie, char *const *cols)
{

	return (num_u64(cols[0], 0, UINT64_MAX, cookie));
}

/*
 * Rows that another sweep has claimed are its to finish.  Should it have died,
 * its lease ends soon, and they are ours after all.
 */
static enum sweep_rc
others(struct run *r, const struct kind *k, struct pass p)
{
	const uint64_t last = run_now(r) + SWEEP_LEASE_MS;
	uint64_t until;
	enum sweep_rc rc;

	p.claimed = 1;
	for (;;) {
		const struct db_arg args[] = {
		    DB_U64(p.before), DB_U64(run_now(r))};
		if ((rc = run_db(db_rows(r->s->db, k->waiting, args, 2, 1,
			 one_number, &until))) != SWEEP_DONE)
			return (rc);
		if (until == 0 || run_now(r) > last)
			return (pass(r, k, p));
		(void)poll(NULL, 0, POLL_MS);
		if ((rc = run_pause(r)) != SWEEP_DONE)
			return (rc);
	}
}

enum sweep_rc
sweep_reclaim(struct run *r)
{
	struct pass p = {.before = run_due(r, r->s->grace_s)};
	enum sweep_rc rc = SWEEP_DONE;
	size_t i;

	for (i = 0; rc == SWEEP_DONE && i < sizeof(kinds) / sizeof(kinds[0]);
	     i++) {
		rc = pass(r, &kinds[i], p);
		if (rc == SWEEP_DONE && !r->s->dry_run)
			rc = others(r, &kinds[i], p);
	}
	return (rc);
}
