#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

#include "data/sweep_in.h"
#include "io/blob_walk.h"
#include "io/fault.h"

/* So many strangers, and more than half of all: is this the right database? */
#define DOUBT_MIN 50

/* Names from the store, asked after in the tables a batch at a time. */
struct sieve {
	struct run *r;
	const char *const *sql; /* Two: which names does the table know? */
	uint64_t min_idle;      /* Younger names are left alone. */
	int temp;
	struct blob_seen seen[SWEEP_BATCH];
	char known[SWEEP_BATCH];
	size_t n;
	uint64_t looked, strange;
	enum sweep_rc rc;
};

/* A name in tmp/ is in use only while its row is uploading. */
static const char *const temp_sql[] = {
    "SELECT store_key FROM file"
    " WHERE state = 'uploading' AND store_key IN (" SWEEP_IN ")",
    "SELECT store_key FROM upload_part"
    " WHERE state = 'uploading' AND store_key IN (" SWEEP_IN ")"};

static const char *const shard_sql[] = {
    "SELECT store_key FROM file WHERE store_key IN (" SWEEP_IN ")",
    "SELECT store_key FROM upload_part WHERE store_key IN (" SWEEP_IN ")"};

static int
by_key(const void *a, const void *b)
{

	return (strcmp(((const struct blob_seen *)a)->key,
	    ((const struct blob_seen *)b)->key));
}

static int
mark_known(void *cookie, char *const *cols)
{
	struct sieve *v = cookie;
	struct blob_seen want = {.temp = v->temp}, *hit;

	(void)snprintf(want.key, sizeof(want.key), "%s", cols[0]);
	hit = bsearch(&want, v->seen, v->n, sizeof(want), by_key);
	if (hit != NULL)
		v->known[hit - v->seen] = 1;
	return (0);
}

/* Ask both tables which of the names they know. */
static enum sweep_rc
ask(struct sieve *v)
{
	struct db_arg args[SWEEP_BATCH];
	enum db_rc rc = DB_OK;
	size_t i;

	qsort(v->seen, v->n, sizeof(v->seen[0]), by_key);
	memset(v->known, 0, sizeof(v->known));
	for (i = 0; i < SWEEP_BATCH; i++)
		args[i] = DB_STR(i < v->n ? v->seen[i].key : "");
	for (i = 0; i < 2 && rc == DB_OK; i++)
		rc = db_rows(v->r->s->db, v->sql[i], args, SWEEP_BATCH, 1,
		    mark_known, v);
	for (i = 0; i < v->n; i++)
		v->strange += v->known[i] == 0;
	v->looked += v->n;
	return (run_db(rc));
}

/* Remove one name that no row knows. */
static enum sweep_rc
drop(struct sieve *v, const struct blob_seen *seen)
{
	const struct sweep *s = v->r->s;
	struct sweep_count *n = v->r->n;
	struct blob_took t = {
	    .temp = v->temp, .final = !v->temp, .bytes = seen->bytes};
	enum blob_rc rc = BLOB_OK;

	if (s->dry_run)
		s->found(s->cookie, v->temp ? "temporary" : "orphan", seen->key,
		    seen->bytes);
	else
		rc = (v->temp ? blob_reclaim_temp : blob_reclaim)(
		    s->store, seen->key, &t);
	n->temp += (uint64_t)t.temp;
	n->orphans += (uint64_t)t.final;
	n->bytes += t.bytes;
	if (rc != BLOB_OK)
		return (run_failed(v->r));
	fault_kill(v->temp ? "kill-temp" : "kill-orphan");
	return (SWEEP_DONE);
}

/* Judge the names gathered so far. */
static enum sweep_rc
flush(struct sieve *v)
{
	enum sweep_rc rc = SWEEP_DONE;
	size_t i;

	if (v->n > 0)
		rc = ask(v);
	if (rc == SWEEP_DONE && !v->temp && !v->r->s->orphans &&
	    v->strange >= DOUBT_MIN && v->strange > v->looked / 2) {
		log_err("sweep: no row knows %ju of %ju blobs in the store; "
			"is this its database?  --orphans removes them",
		    (uintmax_t)v->strange, (uintmax_t)v->looked);
		rc = SWEEP_DOUBT;
	}
	for (i = 0; i < v->n && rc == SWEEP_DONE; i++)
		if (!v->known[i])
			rc = drop(v, &v->seen[i]);
	v->n = 0;
	return (rc == SWEEP_DONE ? run_pause(v->r) : rc);
}

static int
gather(void *cookie, const struct blob_seen *seen)
{
	struct sieve *v = cookie;

	if (seen->idle < v->min_idle)
		return (0);
	v->seen[v->n++] = *seen;
	if (v->n == v->r->s->batch)
		v->rc = flush(v);
	return (v->rc == SWEEP_DONE ? 0 : -1);
}

enum sweep_rc
sweep_temp(struct run *r)
{
	struct sieve v = {
	    .r = r, .sql = temp_sql, .min_idle = r->s->abandon_s, .temp = 1};

	if (blob_walk_temp(r->s->store, gather, &v) != BLOB_OK)
		return (SWEEP_STORE);
	return (v.rc == SWEEP_DONE ? flush(&v) : v.rc);
}

/* Walk the shards from ${i} on; set ${i} to the first not walked whole. */
static enum sweep_rc
walk(struct sieve *v, unsigned int *i)
{
	enum sweep_rc rc;

	for (; *i < BLOB_SHARDS && v->rc == SWEEP_DONE; ++*i) {
		if (blob_walk_shard(v->r->s->store, *i, gather, v) != BLOB_OK)
			v->rc = SWEEP_STORE;
		else if (v->rc == SWEEP_DONE)
			v->rc = run_pause(v->r);
		if (v->rc != SWEEP_DONE)
			break;
	}

	/* What was gathered of shards that are behind us must not be lost. */
	if ((v->rc == SWEEP_DONE || v->rc == SWEEP_CUT) &&
	    (rc = flush(v)) != SWEEP_DONE)
		v->rc = rc;
	return (v->rc);
}

enum sweep_rc
sweep_orphans(struct run *r)
{
	struct sieve v = {.r = r, .sql = shard_sql, .min_idle = SWEEP_ORPHAN_S};
	unsigned int i = 0;
	uint64_t age;
	enum sweep_rc rc;

	switch (store_mark_get(r->s->store, &i, &age)) {
	case BLOB_OK:
		if (i >= BLOB_SHARDS && age < SWEEP_WALK_S && !r->s->orphans)
			return (SWEEP_DONE);
		if (i >= BLOB_SHARDS)
			i = 0;
		break;
	case BLOB_GONE:
		break;
	default:
		return (SWEEP_STORE);
	}
	if (r->s->orphans)
		i = 0;
	rc = walk(&v, &i);

	/* A walk that was cut short goes on from there the next time. */
	if (!r->s->dry_run && (rc == SWEEP_DONE || rc == SWEEP_CUT) &&
	    store_mark_set(r->s->store, i) != BLOB_OK)
		return (SWEEP_STORE);
	return (rc);
}
