#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/jset.h"
#include "data/fsck.h"
#include "data/mark.h"
#include "io/blob_walk.h"
#include "io/db.h"

#include "tools/admin.h"
#include "tools/admin_print.h"

/*
 * Rows against bytes, both ways.  The first pass only looks, and remembers what
 * is wrong; repairing comes after it, so that a store that is not mounted, or
 * the wrong database, is noticed before anything is changed.
 */

#define PROBLEMS_MAX 1000000 /* Remembered; a second run finds the others. */
#define TICK_MS 200          /* Between two lines of progress. */
#define FEW 10               /* So many problems prove nothing. */

/* What can be wrong. */
enum kind {
	MISSING, /* A live row, and no bytes. */
	SIZE,    /* A live row, and another number of bytes. */
	ORPHAN,  /* A published blob that no row names. */
	STRAY,   /* A name in tmp/ that no unfinished row names. */
	NKINDS
};

/* clang-format off */
static const struct {
	const char *member;	/* Of the summary. */
	const char *said;
} kinds[NKINDS] = {
	[MISSING] = { "missing", "its bytes are missing" },
	[SIZE] =    { "wrong_size", "its bytes are not as many as it says" },
	[ORPHAN] =  { "orphans", "no row names it" },
	[STRAY] =   { "strays", "a leftover in tmp/" },
};
/* clang-format on */

struct problem {
	enum kind kind;
	struct fsck_row row; /* ORPHAN, STRAY: only the key. */
};

struct fsck {
	struct admin *a;
	struct store *S;
	int tty;
	enum data_rc rc;    /* Of the database, once something went wrong. */
	enum blob_rc store; /* Of the store. */
	uint64_t total;     /* Rows there are; 0: not asked. */
	uint64_t rows, blobs, orphan_bytes, found[NKINDS], repaired, shown;
	struct problem *problems;
	size_t n, cap;
};

static void
progress(struct fsck *f, const char *what, uint64_t n)
{
	uint64_t now;

	if (!f->tty)
		return;
	if ((now = clock_ms()) - f->shown < TICK_MS)
		return;
	f->shown = now;
	fprintf(stderr, "\r%s: %llu", what, (unsigned long long)n);
	if (f->total > 0)
		fprintf(stderr, " of %llu", (unsigned long long)f->total);
	fprintf(stderr, "\033[K");
}

/* Name a row as its owner knows it. */
static void
say_row(struct fsck *f, const struct fsck_row *r, const char *said)
{
	struct arena *mem = arena_new(2048);
	struct fsck_name n;

	if (mem != NULL && fsck_name(f->a->db, mem, r, &n) == DATA_OK)
		fprintf(stderr,
		    r->table == FSCK_FILE
			? "file-%s \"%s\" of %s in %s, blob %s: %s\n"
			: "a part of upload_%s \"%s\" of %s in %s, blob %s: "
			  "%s\n",
		    n.pid, n.name, n.user, n.workspace, r->key, said);
	else
		fprintf(stderr, "row %llu, blob %s: %s\n",
		    (unsigned long long)r->row, r->key, said);
	arena_free(mem);
}

/* Say what is wrong with ${r}, and remember it. */
static int
problem(struct fsck *f, enum kind kind, const struct fsck_row *r)
{
	struct problem *p;
	size_t cap;

	f->found[kind]++;
	fprintf(stderr, "%s", f->tty ? "\r\033[K" : "");
	if (kind == MISSING || kind == SIZE)
		say_row(f, r, kinds[kind].said);
	else
		fprintf(stderr, "blob %s: %s\n", r->key, kinds[kind].said);
	if (f->n == PROBLEMS_MAX)
		return (0);
	if (f->n == f->cap) {
		cap = f->cap == 0 ? 64 : f->cap * 2;
		p = realloc(f->problems, cap * sizeof(*p));
		if (p == NULL) {
			f->rc = DATA_FAIL;
			return (admin_fail("out of memory"), -1);
		}
		f->problems = p;
		f->cap = cap;
	}
	f->problems[f->n].kind = kind;
	f->problems[f->n++].row = *r;
	return (0);
}

/* Compare one live row with its bytes. */
static int
check_row(struct fsck *f, const struct fsck_row *r)
{
	enum data_rc rc;
	enum blob_rc brc;
	uint64_t bytes = 0;
	int fd;

	f->rows++;
	progress(f, "rows", f->rows);
	if ((brc = blob_open(f->S, r->key, &bytes, &fd)) == BLOB_OK) {
		(void)close(fd);
		if (bytes == r->bytes)
			return (0);
	} else if (brc != BLOB_GONE) {
		f->store = brc;
		return (-1);
	}
	/* It may have been deleted and swept while we looked. */
	if ((rc = fsck_live(f->a->db, r)) == DATA_NONE)
		return (0);
	if (rc != DATA_OK) {
		f->rc = rc;
		return (-1);
	}
	return (problem(f, brc == BLOB_OK ? SIZE : MISSING, r));
}

static int
check_rows(struct fsck *f, enum fsck_table table)
{
	struct fsck_row rows[FSCK_BATCH];
	uint64_t after = 0, all = 0;
	size_t n, i;

	if (f->tty && fsck_count(f->a->db, table, &all) == DATA_OK)
		f->total = f->rows + all;
	do {
		f->rc = fsck_rows(f->a->db, table, after, rows, &n);
		if (f->rc != DATA_OK)
			return (-1);
		for (i = 0; i < n; i++)
			if (check_row(f, &rows[i]))
				return (-1);
		if (n > 0)
			after = rows[n - 1].row;
	} while (n == FSCK_BATCH);
	return (0);
}

/* Look for the row of one name in the store. */
static int
check_blob(void *cookie, const struct blob_seen *seen)
{
	struct fsck *f = cookie;
	struct fsck_row r = {0};
	uint64_t bytes;
	int fd, live = 0;

	f->blobs++;
	progress(f, "blobs", f->blobs);
	f->rc = fsck_known(f->a->db, seen->key, &live);
	/* A temporary name is in order as long as its row is not live. */
	if (f->rc == DATA_OK && (!seen->temp || !live))
		return (0);
	if (f->rc != DATA_OK && f->rc != DATA_NONE)
		return (-1);
	/* A row is there before its bytes, and may have gone with them. */
	if (f->rc == DATA_NONE && !seen->temp) {
		if (blob_open(f->S, seen->key, &bytes, &fd) != BLOB_OK) {
			f->rc = DATA_OK;
			return (0);
		}
		(void)close(fd);
		f->orphan_bytes += bytes;
	}
	f->rc = DATA_OK;
	(void)snprintf(r.key, sizeof(r.key), "%s", seen->key);
	return (problem(f, seen->temp ? STRAY : ORPHAN, &r));
}

static int
check_blobs(struct fsck *f)
{
	unsigned int n;

	f->total = 0;
	f->store = blob_walk_temp(f->S, check_blob, f);
	for (n = 0; n < BLOB_SHARDS; n++) {
		if (f->store != BLOB_OK || f->rc != DATA_OK)
			return (-1);
		f->store = blob_walk_shard(f->S, n, check_blob, f);
	}
	return (f->store == BLOB_OK && f->rc == DATA_OK ? 0 : -1);
}

/* Is so much wrong that store and database are not of one system? */
static int
doubtful(const struct fsck *f)
{
	const uint64_t bad = f->found[MISSING], lost = f->found[ORPHAN];

	return ((bad > FEW && bad > f->rows / 2) ||
	    (lost > FEW && lost > f->blobs / 2));
}

/* Put one problem right. */
static int
repair(struct fsck *f, const struct problem *p, uint64_t now)
{
	struct blob_took took;
	int live;

	switch (p->kind) {
	case MISSING:
	case SIZE:
		f->rc = fsck_bury(f->a->db, &p->row, now);
		break;
	case ORPHAN:
		/* Looked at again: it is for good. */
		if ((f->rc = fsck_known(f->a->db, p->row.key, &live)) ==
		    DATA_NONE)
			f->store = blob_reclaim(f->S, p->row.key, &took);
		break;
	default:
		f->store = blob_reclaim_temp(f->S, p->row.key, &took);
		break;
	}
	if (f->rc == DATA_NONE)
		f->rc = DATA_OK;
	if (f->rc != DATA_OK || f->store != BLOB_OK)
		return (-1);
	f->repaired++;
	return (0);
}

static int
repair_all(struct fsck *f)
{
	uint64_t now;
	size_t i;

	if (db_now(f->a->db, &now) != DB_OK) {
		f->rc = DATA_DOWN;
		return (-1);
	}
	for (i = 0; i < f->n; i++)
		if (repair(f, &f->problems[i], now))
			return (-1);
	return (0);
}

/* The last word: a line for people on a terminal, else for programs. */
static int
summary(const struct fsck *f)
{
	json_object *o;
	uint64_t all = 0;
	size_t i;

	for (i = 0; i < NKINDS; i++)
		all += f->found[i];
	if (f->tty && !f->a->json) {
		printf("%llu rows, %llu blobs: %llu problems, %llu repaired\n",
		    (unsigned long long)f->rows, (unsigned long long)f->blobs,
		    (unsigned long long)all, (unsigned long long)f->repaired);
		return (all == 0 ? ADMIN_OK : ADMIN_NO);
	}
	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "rows", jint(f->rows)) || jset(o, "blobs", jint(f->blobs)))
		goto err;
	for (i = 0; i < NKINDS; i++)
		if (jset(o, kinds[i].member, jint(f->found[i])))
			goto err;
	if (jset(o, "orphan_bytes", jint(f->orphan_bytes)) ||
	    jset(o, "repaired", jint(f->repaired)) ||
	    jset(o, "clean", jbool(all == 0)))
		goto err;
	if (print_json(o) != ADMIN_OK)
		return (ADMIN_USAGE);
	return (all == 0 ? ADMIN_OK : ADMIN_NO);

err:
	json_object_put(o);
	(void)admin_fail("out of memory");
	return (ADMIN_USAGE);
}

static int
fsck_run(struct fsck *f, int may_repair, int force)
{

	if (may_repair && (f->store = store_ready(f->S)) != BLOB_OK)
		goto err;
	if (check_rows(f, FSCK_FILE) || check_rows(f, FSCK_PART) ||
	    check_blobs(f))
		goto err;
	if (f->tty)
		fprintf(stderr, "\r\033[K");
	if (may_repair && !force && doubtful(f)) {
		(void)summary(f);
		(void)admin_fail("more than half of it is wrong: is %s the "
				 "store of this database, and mounted?  "
				 "Nothing was changed; --force repairs it",
		    f->a->conf.files_root);
		return (ADMIN_USAGE);
	}
	if (may_repair && repair_all(f))
		goto err;
	if (!may_repair && f->found[ORPHAN] > 0)
		fprintf(stderr,
		    "Blobs without a row are no loss: satchel-sweep removes "
		    "them once they are a day old.\n");
	return (summary(f));

err:
	if (f->store != BLOB_OK) {
		(void)admin_fail("the store %s cannot be read or written",
		    f->a->conf.files_root);
		return (ADMIN_USAGE);
	}
	return (admin_data(f->rc));
}

int
admin_fsck(struct admin *a, int argc, char **argv)
{
	struct fsck f = {.a = a};
	int may_repair = 0, force = 0, status;
	enum data_rc rc;
	const struct admin_opt opts[] = {
	    {"repair", NULL, &may_repair}, {"force", NULL, &force}};

	if (admin_options(
		argc, argv, opts, sizeof(opts) / sizeof(opts[0]), NULL, 0))
		return (ADMIN_USAGE);
	if ((f.S = store_open(a->conf.files_root)) == NULL) {
		(void)admin_fail("out of memory");
		return (ADMIN_USAGE);
	}
	if ((rc = mark_learn(a->db, f.S)) != DATA_OK) {
		store_close(f.S);
		return (admin_data(rc));
	}
	f.tty = isatty(STDOUT_FILENO) && isatty(STDERR_FILENO);
	status = fsck_run(&f, may_repair, force);
	free(f.problems);
	store_close(f.S);
	return (status);
}
