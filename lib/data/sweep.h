#ifndef DATA_SWEEP_H_
#define DATA_SWEEP_H_

#include <stddef.h>
#include <stdint.h>

/*
 * Reclaiming what has expired, died or was left behind.  Every step is a batch
 * of rows at a time, each statement a transaction of its own, and every state
 * in between is one that a later sweep finds and goes on from:
 *
 *   live file past its expiry	-> dead
 *   upload or part that nobody has written to for long -> dead
 *   part of an upload past its hour -> dead
 *   dead past the grace time	-> claimed, bytes unlinked, file gone (part: no
 *				   row; upload without public id: no row)
 *   gone past the tombstone time -> no row; the same for uploads in parts
 *   container past its expiry, for as long as answers are kept, or deleted, for
 *     the tombstone time -> no row, none of its
 *				   files' places
 *   run or answer kept for later, past its expiry -> no row
 *   usage older than its retention -> no row
 *   key revoked or expired 30 days ago -> no row
 *   name in the store that no row knows, once it is old -> unlinked
 *
 * A claim is a conditional UPDATE with a token and a lease of a few seconds, so
 * that two sweeps do not do the same work; doing it twice would harm nobody.
 */

/* Opaque types. */
struct db;
struct store;

/* At most this many rows are one batch; a statement lists them by id. */
#define SWEEP_BATCH 200

/* Names without a row are taken for orphans once they are this old. */
#define SWEEP_ORPHAN_S 86400

/* How often the whole store is walked for them. */
#define SWEEP_WALK_S 86400

/* What a document says is kept this long, and then read again. */
#define SWEEP_DOCUMENT_S (30 * 86400)

/* Dead keys are kept this long, so that an operator can look them up. */
#define SWEEP_KEY_S (30 * 86400)

/* What was done, from affected rows and names really unlinked; in a dry run,
 * what would have been. */
struct sweep_count {
	uint64_t expired;    /* Files made dead because their time was up. */
	uint64_t files;      /* Files whose bytes were removed. */
	uint64_t bytes;      /* Freed in the store, by whatever step. */
	uint64_t uploads;    /* Unfinished uploads given up, and uploads in
				parts forgotten. */
	uint64_t parts;      /* Parts of uploads removed. */
	uint64_t temp;       /* Names removed from tmp/. */
	uint64_t orphans;    /* Published blobs removed that no row knew. */
	uint64_t tombstones; /* Rows of removed files deleted. */
	uint64_t keys;       /* API keys deleted. */
	uint64_t containers; /* Containers forgotten. */
	uint64_t calls;      /* Runs, answers and documents' texts kept for
				later, forgotten. */
	uint64_t usage;      /* Rows of usage deleted. */
	uint64_t failed;     /* Removals that failed; the next run tries. */
};

enum sweep_rc {
	SWEEP_DONE,  /* Everything that was due was looked at. */
	SWEEP_CUT,   /* Stopped before that, because stop() said so. */
	SWEEP_DB,    /* The database failed; it has been logged. */
	SWEEP_STORE, /* The store is away, or every removal fails. */
	SWEEP_DOUBT  /* So much of the store has no row that the database is
			more likely the wrong one; logged. */
};

struct sweep {
	struct db *db;
	struct store *store;
	uint64_t grace_s, tombstone_s, abandon_s; /* As the settings. */
	uint64_t answer_s; /* For which answers are kept. */
	uint64_t usage_s;  /* 0: usage stays. */
	size_t batch;      /* 1 to SWEEP_BATCH. */
	int dry_run;       /* Change nothing. */
	int orphans; /* Walk the whole store now, and believe what is found. */

	/* Asked between batches: shall we end? */
	int (*stop)(void *);
	/* Told after each batch. */
	void (*progress)(void *, const struct sweep_count *);
	/* A dry run's finds: what, name, bytes. */
	void (*found)(void *, const char *, const char *, uint64_t);
	/* And the files that would be marked dead, by id without prefix. */
	void (*expired)(void *, const char *);
	void *cookie;
};

/**
 * sweep_held(s, files, bytes):
 * Set ${files} and ${bytes} to what is over but within its grace time, so that
 * a sweep without one would free it.  Return 0, or -1.
 */
int sweep_held(const struct sweep *, uint64_t *, uint64_t *);

/**
 * sweep_run(s, n):
 * Do all that is due and set ${n}, also when it ends before that.
 */
enum sweep_rc sweep_run(const struct sweep *, struct sweep_count *);

#endif /* !DATA_SWEEP_H_ */
