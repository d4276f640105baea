/*
 * What a quota costs, of an owner with many rows beside others with more: no
 * entry is read but those that count, and from their indexes alone.
 */

#include <time.h>

#include "data/file.h"
#include "io/blob.h"

#include "t/tool/rows.h"
#include "t/tool/rows_cost.h"

#define LIVE 2000
#define PENDING 50

/* Besides those that count: the user, the file, ends of ranges. */
#define SPARE 12

/* Of every user: LIVE files that never expire or do so later; and three times
 * as many that have expired, are dead or only begun. */
static void
fill_files(void)
{
	static const char text[] =
	    "INSERT INTO file (pid, workspace_id, user_id, state, origin,"
	    " store_key, bytes, name, mime, purpose, created, sweep_at)"
	    " WITH RECURSIVE s(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM s"
	    "   WHERE n < 4 * ? - 1)"
	    " SELECT CONCAT(LPAD(HEX(s.n), 12, '0'), LPAD(HEX(u.id), 20, '0')),"
	    "  u.workspace_id, u.id, ELT(1 + s.n % 4, 'live', 'live', 'dead',"
	    "  'uploading'), 'upload', CONCAT(LPAD(HEX(s.n), 16, '0'),"
	    "  LPAD(HEX(u.id), 16, '0')), 3, 'n', 'm', 'p', s.n,"
	    "  IF(s.n % 4, 5, IF(s.n % 8, 99999999999999, NULL))"
	    "  FROM s JOIN user u";
	const struct db_arg args[] = {DB_U64(LIVE)};

	if (db_exec(db, text, args, 1, NULL, NULL) != DB_OK)
		exit(3);
}

/* Of every user: PENDING uploads that hold 2 bytes each; as many that have
 * expired, and that were cancelled. */
static void
fill_uploads(void)
{
	static const char text[] =
	    "INSERT INTO upload (pid, workspace_id, user_id, state, bytes,"
	    " name, mime, purpose, lifetime_s, held, created, expires,"
	    " sweep_at)"
	    " WITH RECURSIVE s(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM s"
	    "   WHERE n < 3 * ? - 1)"
	    " SELECT CONCAT(LPAD(HEX(s.n), 16, '0'), LPAD(HEX(u.id), 16, '0')),"
	    "  u.workspace_id, u.id, IF(s.n % 3 = 2, 'cancelled', 'pending'),"
	    "  2, 'n', 'm', 'p', 0, 2, 1, IF(s.n % 3 = 1, 5, 99999999999999),"
	    "  5 FROM s JOIN user u";
	const struct db_arg args[] = {DB_U64(PENDING)};

	if (db_exec(db, text, args, 1, NULL, NULL) != DB_OK)
		exit(3);
}

/* Publish a file of one byte under ${quota}; how many rows that read. */
static uint64_t
publish(const struct owner *o, uint64_t quota, enum data_rc *rc)
{
	const struct file_new n = {.name = "n",
	    .mime = "m",
	    .purpose = "p",
	    .sha256 = "0",
	    .bytes = 1,
	    .origin = FILE_UPLOAD,
	    .quota = quota};
	char key[BLOB_KEYLEN + 1];
	uint64_t row, before;
	struct file f;

	if (blob_key(key) || file_begin(db, o, key, now(), &row) != DATA_OK)
		exit(3);
	before = rows_read();
	*rc = file_publish(db, mem, o, row, &n, &f);
	return (rows_read() - before);
}

static int
take_number(void *cookie, char *const *cols)
{

	return (num_u64(cols[1], 0, UINT64_MAX, cookie));
}

/* Pages that the server has looked into so far. */
static uint64_t
pages_read(void)
{
	static const char text[] =
	    "SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_read_requests'";
	uint64_t n = 0;

	if (db_rows(db, text, NULL, 0, 2, take_number, &n) != DB_OK)
		exit(3);
	return (n);
}

/*
 * A row beside its entry in an index costs a page or more; so many entries fit
 * on a page that the rows have not been looked into.  While the server works of
 * its own, on statistics or purging, it counts more pages and cannot trust the
 * index alone: the least of some seconds is the statement's.
 */
static void
test_pages(const struct owner *o)
{
	static const struct timespec moment = {.tv_nsec = 100000000};
	uint64_t before, least = UINT64_MAX, n;
	enum data_rc rc;
	char name[100];
	int i;

	for (i = 0; i < 100 && least >= LIVE / 4; i++) {
		if (i > 0)
			(void)nanosleep(&moment, NULL);
		before = pages_read();
		(void)publish(o, 1, &rc);
		n = pages_read() - before;
		least = n < least ? n : least;
	}
	(void)snprintf(name, sizeof(name),
	    "... and takes %d pages, not as many as rows", (int)least);
	ok(least < LIVE / 4, name);
}

int
main(int argc, char *argv[])
{
	const uint64_t held = 3 * LIVE + 2 * PENDING;
	struct owner o;
	enum data_rc rc;
	uint64_t cost, base;
	char name[100];

	/* One connection, whose counters are the whole truth. */
	rows_open(argc, argv, 1);
	(void)owner("w", "before");
	o = owner("w", "mine");
	(void)owner("w", "after");
	sql("SET max_recursive_iterations = 1000000");
	fill_files();
	fill_uploads();
	analyze();
	base = publish(&o, 0, &rc);
	ok(rc == DATA_OK, "without a quota");
	cost = publish(&o, held + 1, &rc);
	ok(rc == DATA_QUOTA, "what is held is known to the byte: too much");
	(void)snprintf(name, sizeof(name),
	    "... and is added up from %d rows more", (int)(cost - base));
	ok(cost <= base + LIVE + PENDING + SPARE && cost > LIVE, name);
	(void)publish(&o, held + 2, &rc);
	ok(rc == DATA_OK, "... and just enough");
	test_pages(&o);
	return (rows_close());
}
