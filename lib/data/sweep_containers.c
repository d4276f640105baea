#include "base/num.h"
#include "base/log.h"

#include "data/sweep_in.h"
#include "io/fault.h"

/*
 * Containers that are over, and what they remember of files.  Until the
 * tombstone time is over whoever comes back is told that his has expired.
 * Their sessions end by themselves in the sandbox.
 */

/* clang-format off */
#define OVER								\
	"  FROM container FORCE INDEX (container_sweep)"		\
	" WHERE state = ? AND expires <= ?"				\
	"   AND lease_until <= ?"
/* clang-format on */

static int
add_row(void *cookie, char *const *cols)
{
	struct batch *b = cookie;

	if (b->n == SWEEP_BATCH ||
	    num_u64(cols[0], 1, UINT64_MAX, &b->row[b->n].id)) {
		log_err("sweep: bad row of a container");
		return (-1);
	}
	b->n++;
	return (0);
}

static int
one_number(void *cookie, char *const *cols)
{

	return (num_u64(cols[0], 0, UINT64_MAX, cookie));
}

/* Files first: a row that is left behind must still find its container. */
static enum sweep_rc
remove_all(struct run *r, const struct batch *b)
{
	static const char files[] =
	    "DELETE FROM container_file WHERE container_row IN (" SWEEP_IN ")";
	static const char rows[] =
	    "DELETE FROM container WHERE id IN (" SWEEP_IN ")";
	enum sweep_rc rc;
	uint64_t n;

	if ((rc = batch_exec(r, files, NULL, 0, b, &n)) != SWEEP_DONE)
		return (rc);
	fault_kill("kill-forgotten");
	rc = batch_exec(r, rows, NULL, 0, b, &n);
	r->n->containers += n;
	return (rc);
}

/* Those of ${state} whose time was over ${kept_s} seconds ago. */
static enum sweep_rc
sweep_state(struct run *r, const char *state, uint64_t kept_s)
{
	static const char next[] = "SELECT id" OVER " ORDER BY id LIMIT ?";
	static const char count[] = "SELECT COUNT(*)" OVER;
	const struct db_arg args[] = {DB_STR(state), DB_U64(run_due(r, kept_s)),
	    DB_U64(run_now(r)), DB_U64(r->s->batch)};
	struct batch b;
	enum sweep_rc rc;
	uint64_t n = 0;

	if (r->s->dry_run) {
		rc = run_db(
		    db_rows(r->s->db, count, args, 3, 1, one_number, &n));
		r->n->containers += n;
		return (rc);
	}
	do {
		b.n = 0;
		rc = run_db(db_rows(r->s->db, next, args, 4, 1, add_row, &b));
		if (rc != SWEEP_DONE || b.n == 0)
			return (rc);
		if ((rc = remove_all(r, &b)) == SWEEP_DONE)
			rc = run_pause(r);
	} while (rc == SWEEP_DONE);
	return (rc);
}

enum sweep_rc
sweep_containers(struct run *r)
{
	enum sweep_rc rc;

	/* One that has expired tells which files its successor gets. */
	rc = sweep_state(r, "live",
	    r->s->answer_s > r->s->tombstone_s ? r->s->answer_s
					       : r->s->tombstone_s);
	return (
	    rc == SWEEP_DONE ? sweep_state(r, "dead", r->s->tombstone_s) : rc);
}
