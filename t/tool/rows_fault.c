/*
 * What becomes of rows when COMMIT goes wrong, as SATCHEL_FAULT tells it to.
 * PROGRAM SOCKET SCHEMA file|part|complete publishes a file of 6 bytes under a
 * quota of 10, publishes a part, or completes an upload, and prints what it
 * came to, and how many files (or parts) are live then.
 */

#include "data/upload.h"
#include "io/blob.h"

#include "t/tool/rows.h"

static const char *const names[] = {[DATA_OK] = "OK",
    [DATA_NONE] = "NONE",
    [DATA_EXPIRED] = "EXPIRED",
    [DATA_TAKEN] = "TAKEN",
    [DATA_STATE] = "STATE",
    [DATA_QUOTA] = "QUOTA",
    [DATA_UNSURE] = "UNSURE",
    [DATA_DOWN] = "DOWN",
    [DATA_FAIL] = "FAIL"};

/* The upload, and what is begun, without a transaction that could fail. */
static void
prepare(struct upload *u, const struct owner *o, uint64_t row[2])
{
	char key[2][BLOB_KEYLEN + 1];

	sql("DELETE FROM file");
	sql("DELETE FROM upload_part");
	sql("DELETE FROM upload");
	sql("INSERT INTO upload (pid, workspace_id, user_id, state, bytes,"
	    " name, mime, purpose, lifetime_s, created, expires, sweep_at)"
	    " VALUES ('01a229f128007c5e8f21d0a4b6e93f11', 1, 1, 'pending', 6,"
	    " 'n', 'm', 'p', 0, 1, 99999999999999, 99999999999999)");
	if (blob_key(key[0]) || blob_key(key[1]) ||
	    upload_find(db, mem, o, "01a229f128007c5e8f21d0a4b6e93f11", now(),
		u) != DATA_OK ||
	    file_begin(db, o, key[0], now(), &row[0]) != DATA_OK ||
	    upload_part_begin(db, u, key[1], now(), &row[1]) != DATA_OK)
		exit(3);
}

int
main(int argc, char *argv[])
{
	const struct file_new n = {.name = "n",
	    .mime = "m",
	    .purpose = "p",
	    .sha256 = "0",
	    .bytes = 6,
	    .quota = 10};
	const struct owner o = {1, 1};
	struct upload_part p;
	struct upload u;
	struct file f;
	uint64_t row[2], live;
	enum data_rc rc;

	rows_open(argc, argv, 2);
	if (argc != 4)
		return (2);
	prepare(&u, &o, row);
	if (strcmp(argv[3], "file") == 0)
		rc = file_publish(db, mem, &o, row[0], &n, &f);
	else if (strcmp(argv[3], "part") == 0)
		rc = upload_part_publish(db, mem, &u, row[1], 6, now(), &p);
	else
		rc = upload_complete(db, mem, &o, &u, row[0], &n, &f);
	live = number("SELECT (SELECT COUNT(*) FROM file WHERE state = 'live')"
		      " + (SELECT COUNT(*) FROM upload_part"
		      "     WHERE state = 'live') + ?",
	    0);
	printf("%s %llu\n", names[rc], (unsigned long long)live);
	arena_free(mem);
	db_close(db);
	return (0);
}
