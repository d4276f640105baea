#include "data/sweep_in.h"
#include "io/fault.h"

/*
 * Rows that become dead because of their age.  An upload's age counts from its
 * last write, by the file server's clock; the row's own is only a filter, and
 * the UPDATE that makes it dead is the one that its publishing races.  What was
 * live and has been over for longer than the grace time is left to
 * sweep_reclaim(), which saves the row a change.
 */
/* clang-format off */
static const struct kind {
	const char *due, *kill;
	int idle;    /* Ask the store when it was last written. */
	int expires; /* It is a file whose time is up. */
	int part;
} kinds[] = {
	{ SWEEP_DUE("file", "live"),
	    "UPDATE file SET state = 'dead'"
	    " WHERE state = 'live' AND sweep_at <= ?"
	    "   AND id IN (" SWEEP_IN ")", 0, 1, 0 },
	{ SWEEP_DUE("file", "uploading"),
	    "UPDATE file SET state = 'dead', sweep_at = 0"
	    " WHERE state = 'uploading' AND sweep_at <= ? AND claim = 0"
	    "   AND id IN (" SWEEP_IN ")", 1, 0, 0 },
	{ SWEEP_DUE("upload_part", "live"),
	    "UPDATE upload_part SET state = 'dead'"
	    " WHERE state = 'live' AND sweep_at <= ?"
	    "   AND id IN (" SWEEP_IN ")", 0, 0, 1 },
	{ SWEEP_DUE("upload_part", "uploading"),
	    "UPDATE upload_part SET state = 'dead', sweep_at = 0"
	    " WHERE state = 'uploading' AND sweep_at <= ? AND claim = 0"
	    "   AND id IN (" SWEEP_IN ")", 1, 0, 1 },
};
/* clang-format on */

/* Leave only those in ${b} that nobody has written to for long enough. */
static enum sweep_rc
keep_idle(struct run *r, struct batch *b)
{
	enum sweep_rc rc = SWEEP_DONE;
	uint64_t idle;
	size_t i, n = 0;

	for (i = 0; i < b->n && rc == SWEEP_DONE; i++) {
		switch (blob_idle(r->s->store, b->row[i].key, &idle)) {
		case BLOB_OK:
			if (idle >= r->s->abandon_s)
				b->row[n++] = b->row[i];
			break;
		case BLOB_GONE: /* It never came to its first byte. */
			b->row[n++] = b->row[i];
			break;
		default:
			rc = run_failed(r);
			break;
		}
	}
	b->n = n;
	return (rc);
}

/* What a real run would find dead after this step. */
static enum sweep_rc
pretend(struct run *r, const struct kind *k, const struct batch *b)
{
	enum sweep_rc rc = SWEEP_DONE;
	size_t i;

	for (i = 0; i < b->n && rc == SWEEP_DONE; i++) {
		if (k->expires) {
			r->n->expired++;
			r->s->expired(r->s->cookie, b->row[i].name);
		}
		if (k->idle)
			rc = sweep_pretend(r, k->part, 0, &b->row[i]);
	}
	return (rc);
}

static enum sweep_rc
mark_kind(struct run *r, const struct kind *k)
{
	struct pass p = {.before = run_due(r, k->idle ? r->s->abandon_s : 0)};
	struct batch b;
	enum sweep_rc rc;
	uint64_t n;
	int more;

	if (!k->idle) {
		p.at = run_due(r, r->s->grace_s);
		p.id = UINT64_MAX;
	}
	do {
		if ((rc = batch_next(r, k->due, &p, &b)) != SWEEP_DONE)
			break;
		more = b.n > 0;
		if (k->idle && (rc = keep_idle(r, &b)) != SWEEP_DONE)
			break;
		if (r->s->dry_run) {
			rc = pretend(r, k, &b);
		} else {
			rc = batch_exec(r, k->kill, &p.before, 1, &b, &n);
			if (k->expires)
				r->n->expired += n;
			if (n > 0)
				fault_kill("kill-marked");
		}
		if (rc == SWEEP_DONE)
			rc = run_pause(r);
	} while (rc == SWEEP_DONE && more);
	return (rc);
}

enum sweep_rc
sweep_mark(struct run *r)
{
	enum sweep_rc rc = SWEEP_DONE;
	size_t i;

	for (i = 0; rc == SWEEP_DONE && i < sizeof(kinds) / sizeof(kinds[0]);
	     i++)
		rc = mark_kind(r, &kinds[i]);
	return (rc);
}
