#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/log.h"

#include "data/db_rc.h"

#include "data/schema.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define WAIT_MS 5000 /* For another program to record what it has done. */

/*
 * How a step is made safe.  A server commits DDL by itself, so a step can be
 * done and not yet recorded.  Its row is written before it is run ("begun"),
 * and filled in after ("applied").  Whoever finds a begun row that is not his
 * own runs the statement too: of several programs at it, the server lets one
 * succeed, and tells the others that what they want is there.  The same answer
 * to a program that wrote the row itself means another one was faster, who will
 * record it in a moment; or that the table is somebody else's.
 */
struct run {
	struct db *db;
	struct arena *mem;
	const struct migration *step;
};

/* What is recorded of a step. */
enum record { NONE, BEGUN, APPLIED, FOREIGN };

static enum db_rc
read_record(struct run *r, enum record *rec)
{
	static const char sql[] =
	    "SELECT name, applied FROM migration WHERE number = ?";
	const struct db_arg args[] = {DB_U64(r->step->number)};
	char *cols[2];
	enum db_rc rc;

	rc = db_row(r->db, r->mem, sql, args, NELEM(args), cols, NELEM(cols));
	if (rc == DB_NONE) {
		*rec = NONE;
		return (DB_OK);
	}
	if (rc != DB_OK)
		return (rc);
	if (strcmp(cols[0], r->step->name) != 0)
		*rec = FOREIGN;
	else
		*rec = (cols[1] != NULL) ? APPLIED : BEGUN;
	return (DB_OK);
}

/* Write the step's row; ${mine} says whether it was not there before. */
static enum db_rc
begin(struct run *r, int *mine)
{
	static const char bare[] = "INSERT INTO migration (number, name, begun)"
				   " VALUES (?, ?, " DB_NOW_MS ")";
	static const char full[] =
	    "INSERT INTO migration (number, name, begun, oldest)"
	    " VALUES (?, ?, " DB_NOW_MS ", ?)";
	const struct db_arg args[] = {DB_U64(r->step->number),
	    DB_STR(r->step->name), DB_U64(r->step->oldest)};
	/* The column comes with one of the steps. */
	const int knows = r->step->number > SCHEMA_OLDEST_KNOWN;
	enum db_rc rc;

	rc = db_exec(r->db, knows ? full : bare, args,
	    NELEM(args) - (knows ? 0 : 1), NULL, NULL);
	*mine = (rc == DB_OK);
	return (rc == DB_DUP ? DB_OK : rc);
}

/* Record that the step is done. */
static enum db_rc
finish(struct run *r)
{
	static const char sql[] = "UPDATE migration SET applied = " DB_NOW_MS
				  " WHERE number = ? AND applied IS NULL";
	const struct db_arg args[] = {DB_U64(r->step->number)};

	return (db_exec(r->db, sql, args, NELEM(args), NULL, NULL));
}

/* Take back what begin() wrote: the step was not done. */
static void
forget(struct run *r)
{
	static const char sql[] =
	    "DELETE FROM migration WHERE number = ? AND applied IS NULL";
	const struct db_arg args[] = {DB_U64(r->step->number)};

	(void)db_exec(r->db, sql, args, NELEM(args), NULL, NULL);
}

/* Another program may have been faster: wait until it says so. */
static enum db_rc
wait_applied(struct run *r)
{
	const struct timespec tick = {.tv_nsec = 50 * 1000000L};
	enum record rec = NONE;
	enum db_rc rc = DB_OK;
	int i;

	for (i = 0; i < WAIT_MS / 50 && rc == DB_OK && rec != APPLIED; i++) {
		if (i > 0)
			(void)nanosleep(&tick, NULL);
		rc = read_record(r, &rec);
	}
	if (rc != DB_OK || rec == APPLIED)
		return (rc);
	log_err(
	    "schema: step %u (%s): what it would make is there already, and "
	    "not made by satchel-admin",
	    r->step->number, r->step->name);
	forget(r);
	return (DB_STOP);
}

/* Do one step that is not recorded as applied. */
static enum db_rc
step_run(struct run *r)
{
	enum db_rc rc;
	int mine;

	if ((rc = begin(r, &mine)) != DB_OK)
		return (rc);
	rc = db_exec(r->db, r->step->sql, NULL, 0, NULL, NULL);
	if (rc == DB_OK || (rc == DB_THERE && !mine))
		return (finish(r));
	if (rc == DB_THERE)
		return (wait_applied(r));
	if (rc == DB_FAIL && mine)
		forget(r);
	return (rc);
}

/* The table that all records go to cannot record its own beginning. */
static enum db_rc
first_step(struct run *r)
{
	enum db_rc rc;
	int mine;

	rc = db_exec(r->db, r->step->sql, NULL, 0, NULL, NULL);
	if (rc != DB_OK && rc != DB_THERE)
		return (rc);
	if ((rc = begin(r, &mine)) != DB_OK)
		return (rc);
	return (finish(r));
}

/* Do the step unless it is done; ${did} says whether it was done here. */
static enum db_rc
step_needed(struct run *r, int *did)
{
	enum record rec;
	enum db_rc rc;

	*did = 0;
	if ((rc = read_record(r, &rec)) != DB_OK)
		return (rc);
	if (rec == APPLIED)
		return (DB_OK);
	if (rec == FOREIGN) {
		log_err("schema: step %u is recorded under another name than "
			"%s: other programs made this schema",
		    r->step->number, r->step->name);
		return (DB_STOP);
	}
	*did = 1;
	return (r->step->number == 1 ? first_step(r) : step_run(r));
}

/* Refuse a schema that has steps beyond the last of ours. */
static enum db_rc
check_newest(struct run *r, unsigned int last)
{
	static const char sql[] =
	    "SELECT CAST(COALESCE(MAX(number), 0) AS UNSIGNED) > ?"
	    "  FROM migration";
	const struct db_arg args[] = {DB_U64(last)};
	enum db_rc rc;
	char *col;

	rc = db_row(r->db, r->mem, sql, args, NELEM(args), &col, 1);
	if (rc != DB_OK || strcmp(col, "0") == 0)
		return (rc);
	log_err("schema: it is newer than the last step of this program, %u: "
		"install the newer programs",
	    last);
	return (DB_STOP);
}

static enum db_rc
run_all(struct run *r, const struct migration *steps, size_t n,
    void (*told)(void *, const struct migration *), void *cookie)
{
	enum db_rc rc;
	size_t i;
	int there, did;

	r->step = &steps[0];
	if ((rc = schema_begun(r->db, r->mem, &there)) != DB_OK)
		return (rc);
	if (!there) {
		if ((rc = first_step(r)) != DB_OK)
			return (rc);
		told(cookie, r->step);
	}
	if ((rc = check_newest(r, steps[n - 1].number)) != DB_OK)
		return (rc);
	for (i = 0; i < n; i++) {
		r->step = &steps[i];
		if ((rc = step_needed(r, &did)) != DB_OK)
			return (rc);
		if (did)
			told(cookie, r->step);
	}
	return (DB_OK);
}

enum data_rc
schema_migrate(struct db *db, const struct migration *steps, size_t n,
    void (*told)(void *, const struct migration *), void *cookie)
{
	struct run r = {.db = db};
	enum db_rc rc;

	if ((r.mem = arena_new(1 << 20)) == NULL)
		return (DATA_FAIL);
	rc = run_all(&r, steps, n, told, cookie);
	arena_free(r.mem);
	return (rc == DB_STOP ? DATA_STATE : data_rc_of(rc));
}
