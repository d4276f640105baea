#ifndef DATA_SWEEP_IN_H_
#define DATA_SWEEP_IN_H_

#include "data/file.h"
#include "data/sweep.h"
#include "io/blob.h"
#include "io/db.h"

/*
 * What the sweep's files share.  Steps return SWEEP_DONE to go on with the next
 * one, anything else to end the run.
 */

/* How long a claim keeps other sweeps off; one batch takes far less. */
#define SWEEP_LEASE_MS 3000

/* Numbers before SWEEP_IN in a statement, at most. */
#define SWEEP_LEAD 4

/* A run under way. */
struct run {
	const struct sweep *s;
	struct sweep_count *n;
	uint64_t now0, mono0; /* The database's clock, and ours at that time. */
	uint64_t token;       /* Our claims; never 0. */
};

/* A row that is due. */
struct due {
	uint64_t id, at;           /* at: its sweep_at. */
	char key[BLOB_KEYLEN + 1]; /* "" = no bytes in the store. */
	char name[FILE_IDMAX + 1]; /* Public id; "" = never had one. */
};

struct batch {
	struct due row[SWEEP_BATCH];
	size_t n;
};

/* Where a pass through the rows of one kind has come to. */
struct pass {
	uint64_t before;  /* Rows with sweep_at up to this. */
	uint64_t at, id;  /* The last row seen. */
	uint64_t claimed; /* 1: only rows with a claim that lapsed. */
};

/* 200 placeholders. */
#define SWEEP_IN10 "?,?,?,?,?,?,?,?,?,?"
#define SWEEP_IN50 \
	SWEEP_IN10 "," SWEEP_IN10 "," SWEEP_IN10 "," SWEEP_IN10 "," SWEEP_IN10
#define SWEEP_IN SWEEP_IN50 "," SWEEP_IN50 "," SWEEP_IN50 "," SWEEP_IN50

/* The rows of ${table} in ${state} that are due, in the order of pass. */
#define SWEEP_DUE(table, state)                                           \
	"SELECT id, sweep_at, COALESCE(store_key, ''), COALESCE(pid, '')" \
	"  FROM " table " FORCE INDEX (" table "_sweep)"                  \
	" WHERE state = '" state "' AND sweep_at <= ? AND sweep_at >= ?"  \
	"   AND (sweep_at > ? OR id > ?) AND claim_until BETWEEN ? AND ?" \
	" ORDER BY sweep_at, id LIMIT ?"

/**
 * run_now(r):
 * The database's clock in Unix milliseconds.
 */
uint64_t run_now(const struct run *);

/**
 * run_due(r, seconds):
 * The time by which something must have died for ${seconds} to be over.
 */
uint64_t run_due(const struct run *, uint64_t);

/**
 * run_pause(r):
 * Between batches: tell the progress; SWEEP_CUT if the run shall end.
 */
enum sweep_rc run_pause(struct run *);

/**
 * run_db(rc):
 * SWEEP_DONE for DB_OK, else SWEEP_DB.
 */
enum sweep_rc run_db(enum db_rc);

/**
 * run_failed(r):
 * Count a removal that failed.  SWEEP_STORE if it is the store that fails.
 */
enum sweep_rc run_failed(struct run *);

/**
 * batch_next(r, sql, p, b):
 * Read the next rows of the SWEEP_DUE statement ${sql} into ${b} and move ${p}
 * on.
 */
enum sweep_rc
batch_next(const struct run *, const char *, struct pass *, struct batch *);

/**
 * batch_exec(r, sql, lead, nlead, b, affected):
 * Run ${sql}, whose placeholders are the ${nlead} numbers at ${lead} and then
 * SWEEP_IN, on the rows of ${b}.
 */
enum sweep_rc batch_exec(const struct run *, const char *, const uint64_t *,
    size_t, const struct batch *, uint64_t *);

/**
 * sweep_pretend(r, part, live, d):
 * Count and tell what sweep_reclaim() would do with the row ${d} of a part or a
 * file, which may still be called live.
 */
enum sweep_rc sweep_pretend(struct run *, int, int, const struct due *);

/* The steps, in their order. */
enum sweep_rc sweep_temp(struct run *);
enum sweep_rc sweep_mark(struct run *);
enum sweep_rc sweep_reclaim(struct run *);
enum sweep_rc sweep_containers(struct run *);
enum sweep_rc sweep_forget(struct run *);
enum sweep_rc sweep_orphans(struct run *);

#endif /* !DATA_SWEEP_IN_H_ */
