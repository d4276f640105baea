#ifndef DATA_FSCK_H_
#define DATA_FSCK_H_

#include <stdint.h>

#include "data/rc.h"
#include "io/blob.h"

/* What fsck asks of the rows that name blobs, and does to them. */

/* Opaque types. */
struct arena;
struct db;

/* The tables whose rows name blobs. */
enum fsck_table { FSCK_FILE, FSCK_PART };
#define FSCK_TABLES 2

/* A live row and the blob it names. */
struct fsck_row {
	enum fsck_table table;
	uint64_t row;
	char key[BLOB_KEYLEN + 1];
	uint64_t bytes;
};

/* How many fsck_rows() gives at once. */
#define FSCK_BATCH 500

/**
 * fsck_rows(db, table, after, rows, n):
 * Fill in ${rows}, FSCK_BATCH long, with the next live rows of ${table} after
 * the row ${after}, and set ${n}.  DATA_OK, DATA_DOWN, DATA_FAIL.
 */
enum data_rc
fsck_rows(struct db *, enum fsck_table, uint64_t, struct fsck_row *, size_t *);

/**
 * fsck_count(db, table, n):
 * Set ${n} to about how many rows fsck_rows() will give.  DATA_OK, DATA_DOWN,
 * DATA_FAIL.
 */
enum data_rc fsck_count(struct db *, enum fsck_table, uint64_t *);

/* What people know of a row. */
struct fsck_name {
	const char *pid; /* Of the file, or of the upload of a part. */
	const char *name, *workspace, *user;
};

/**
 * fsck_name(db, mem, r, name):
 * Fill in ${name} for ${r}, from ${mem}.  DATA_OK, DATA_NONE, DATA_DOWN,
 * DATA_FAIL.
 */
enum data_rc fsck_name(
    struct db *, struct arena *, const struct fsck_row *, struct fsck_name *);

/**
 * fsck_live(db, r):
 * Is ${r} still live?  DATA_OK, DATA_NONE, DATA_DOWN, DATA_FAIL.
 */
enum data_rc fsck_live(struct db *, const struct fsck_row *);

/**
 * fsck_bury(db, r, now):
 * Make ${r} dead, for the sweep to remove what is left of it.  DATA_NONE if it
 * was no longer live.
 */
enum data_rc fsck_bury(struct db *, const struct fsck_row *, uint64_t);

/**
 * fsck_known(db, key, live):
 * Does a row name the blob ${key}, and a ${live} one?  DATA_OK, DATA_NONE,
 * DATA_DOWN, DATA_FAIL.
 */
enum data_rc fsck_known(struct db *, const char *, int *);

#endif /* !DATA_FSCK_H_ */
