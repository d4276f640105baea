/*
 * The list: order, cursors, filters, and what a page costs, which the server's
 * own counters of rows read tell.  PROGRAM SOCKET SCHEMA DEEP: the owner
 * "deep" holds DEEP files.
 */

#include "data/file.h"

#include "t/tool/rows.h"
#include "t/tool/rows_cost.h"

/* Rows a page may read besides its own: the look-up, and the end. */
#define SPARE 4

static struct file page[FILE_PAGE];
static size_t npage;

static enum data_rc
list(const struct owner *o, const char *purpose, const struct file_pos *from,
    int ascending, size_t limit)
{
	struct file_query q = {.owner = o,
	    .purpose = purpose,
	    .from = from,
	    .ascending = ascending,
	    .limit = limit,
	    .now = 1000};
	struct arena *m = arena_new(8 << 20);
	enum data_rc rc = file_list(db, m, &q, page, &npage);
	size_t i;

	/* What the test looks at later must outlive the arena. */
	for (i = 0; i < npage; i++)
		page[i].id = arena_strndup(mem, page[i].id, strlen(page[i].id));
	arena_free(m);
	return (rc);
}

static struct file_pos
at(const struct file *f)
{
	struct file_pos p = {.created = f->created};

	(void)snprintf(p.id, sizeof(p.id), "%s", f->id);
	return (p);
}

/* What one page costs. */
static uint64_t
cost(const struct owner *o, const char *purpose, const struct file_pos *from,
    int ascending)
{
	const uint64_t before = rows_read();

	if (list(o, purpose, from, ascending, 100) != DATA_OK || npage != 100)
		return (UINT64_MAX);
	return (rows_read() - before);
}

/* No page of ${o}, first or deep, costs more than its rows. */
static void
test_cost(const char *who, const struct owner *o, uint64_t n)
{
	static const char *const purposes[] = {NULL, "user_data"};
	struct file_pos deep = {.created = 1000 + n / 2, .id = ""};
	char name[100];
	size_t p;
	int asc;

	for (p = 0; p < 2; p++)
		for (asc = 0; asc < 2; asc++) {
			const uint64_t first = cost(o, purposes[p], NULL, asc),
				       later = cost(o, purposes[p], &deep, asc);

			(void)snprintf(name, sizeof(name),
			    "%s, %s, %s: a first page of 100 reads %d rows",
			    who, asc ? "asc" : "desc",
			    p ? "one purpose" : "all", (int)first);
			ok(first <= 100 + SPARE, name);
			(void)snprintf(name, sizeof(name),
			    "... and one in the middle %d", (int)later);
			ok(later <= 100 + SPARE, name);
		}
}

/* ${n} files of ${user}, a millisecond apart, every other one an output. */
static void
fill(const char *user, uint64_t n)
{
	static const char text[] =
	    "INSERT INTO file (pid, workspace_id, user_id, state, origin,"
	    " store_key, bytes, sha256, name, mime, purpose, created)"
	    " WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s"
	    "   WHERE n < ?)"
	    " SELECT CONCAT(LPAD(HEX(1000 + s.n), 12, '0'), LPAD(HEX(u.id),"
	    "   20, '0')), u.workspace_id, u.id, 'live', 'upload',"
	    "  CONCAT(LPAD(HEX(s.n), 16, '0'), LPAD(HEX(u.id), 16, '0')), 1,"
	    "  REPEAT('a', 64), 'n', 'text/plain', IF(s.n % 2,"
	    "  'code_execution_output', 'user_data'), 1000 + s.n"
	    "  FROM s JOIN user u ON u.name LIKE ?";
	const struct db_arg args[] = {DB_U64(n), DB_STR(user)};

	if (db_exec(db, text, args, 2, NULL, NULL) != DB_OK)
		exit(3);
}

/* Walk the whole list in pages of ${limit}; ${ids} gets what was seen. */
static size_t
walk(const struct owner *o, int ascending, size_t limit, const char **ids,
    size_t max)
{
	struct file_pos pos;
	size_t n = 0, i;

	if (list(o, NULL, NULL, ascending, limit) != DATA_OK)
		return (0);
	while (npage > 0) {
		for (i = 0; i < npage && n < max; i++)
			ids[n++] = page[i].id;
		pos = at(&page[npage - 1]);
		if (list(o, NULL, &pos, ascending, limit) != DATA_OK)
			return (0);
	}
	return (n);
}

static void
test_walk(const char *what, const struct owner *o, size_t n, size_t limit)
{
	static const char *down[4096], *up[4096];
	char name[100];
	size_t i, bad = 0;

	ok(walk(o, 0, limit, down, NELEM(down)) == n &&
		walk(o, 1, limit, up, NELEM(up)) == n,
	    what);
	for (i = 0; i < n; i++)
		bad += strcmp(down[i], up[n - 1 - i]) != 0;
	(void)snprintf(name, sizeof(name),
	    "... in pages of %zu: one walk is the other backwards", limit);
	ok(bad == 0, name);
	/* Ids of one moment are sorted as bytes; so are those of all. */
	for (i = 1; i < n; i++)
		bad += strcmp(up[i - 1], up[i]) >= 0;
	ok(bad == 0, "... none twice, in order");
}

static void
test_order(void)
{
	struct owner o = owner("w", "burst");
	struct file_pos pos;

	/* 25 files of the same millisecond, ids in no order. */
	sql("INSERT INTO file (pid, workspace_id, user_id, state, origin, name,"
	    " mime, purpose, created)"
	    " WITH RECURSIVE s(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM s"
	    "   WHERE n < 24)"
	    " SELECT CONCAT('0000000003e8', LPAD(LOWER(HEX((s.n * 7) % 25)),"
	    "   20, '0')), u.workspace_id, u.id, 'live', 'upload', 'n', 'm',"
	    "   'p', 1000 FROM s JOIN user u ON u.name = 'burst'");
	test_walk("25 files of one moment", &o, 25, 7);
	test_walk("... and again", &o, 25, 1);
	test_walk("... and again", &o, 25, 25);
	if (list(&o, NULL, NULL, 0, 3) != DATA_OK)
		exit(3);
	pos = at(&page[2]);
	ok(list(&o, NULL, &pos, 0, 3) == DATA_OK && npage == 3 &&
		strcmp(page[0].id, pos.id) < 0,
	    "a page begins after its cursor");
	(void)file_delete(db, &o, pos.id, 1000);
	ok(list(&o, NULL, &pos, 0, 3) == DATA_OK && npage == 3 &&
		strcmp(page[0].id, pos.id) < 0,
	    "... also when that has been deleted");
	pos.created = 1;
	ok(list(&o, NULL, &pos, 0, 3) == DATA_OK && npage == 0,
	    "after the last there is none");
	ok(list(&o, NULL, NULL, 0, FILE_PAGE + 1) == DATA_FAIL,
	    "a page longer than the longest is refused");
}

static void
test_filter(void)
{
	struct owner o = owner("w", "filter"), p = owner("w", "empty");

	sql("INSERT INTO file (pid, workspace_id, user_id, state, origin, name,"
	    " mime, purpose, created, expires, sweep_at)"
	    " SELECT x.pid, u.workspace_id, u.id, x.state, 'upload', 'n', 'm',"
	    "   x.purpose, x.created, x.expires, x.expires"
	    "  FROM user u JOIN ("
	    "  SELECT 'a' AS pid, 'live' AS state, 'batch' AS purpose,"
	    "   1 AS created, NULL AS expires UNION ALL"
	    "  SELECT 'b', 'live', 'code_execution_output', 2, 1001 UNION ALL"
	    "  SELECT 'c', 'live', 'batch', 3, 1000 UNION ALL"
	    "  SELECT 'd', 'dead', 'batch', 4, NULL UNION ALL"
	    "  SELECT 'e', 'gone', 'batch', 5, NULL UNION ALL"
	    "  SELECT NULL, 'uploading', 'batch', 6, NULL UNION ALL"
	    "  SELECT 'B', 'live', 'Batch', 7, NULL) x"
	    " WHERE u.name = 'filter'");
	ok(list(&o, NULL, NULL, 1, 10) == DATA_OK && npage == 3 &&
		strcmp(page[0].id, "a") == 0 && strcmp(page[1].id, "b") == 0 &&
		strcmp(page[2].id, "B") == 0,
	    "live files only, not one that expires at this moment");
	ok(list(&o, "batch", NULL, 1, 10) == DATA_OK && npage == 1 &&
		strcmp(page[0].id, "a") == 0,
	    "one purpose, letters' case and all");
	ok(list(&o, "assistants_output", NULL, 0, 10) == DATA_OK &&
		npage == 1 && strcmp(page[0].id, "b") == 0 &&
		list(&o, "code_execution_output", NULL, 0, 10) == DATA_OK &&
		npage == 1 && strcmp(page[0].id, "b") == 0,
	    "an output is found by both words for it");
	ok(list(&o, "none", NULL, 0, 10) == DATA_OK && npage == 0,
	    "a purpose that nothing has");
	ok(list(&p, NULL, NULL, 0, 10) == DATA_OK && npage == 0,
	    "an owner of nothing");
	o.user = p.user;
	ok(list(&o, NULL, NULL, 0, 10) == DATA_OK && npage == 0,
	    "files are listed to their owner only");
}

int
main(int argc, char *argv[])
{
	struct owner deep, one;
	uint64_t n;
	char name[16];
	int i;

	/* One connection, so that its counters tell of our statements. */
	rows_open(argc, argv, 1);
	if (argc != 4 || num_u64(argv[3], 1000, 10000000, &n))
		return (2);
	sql("SET SESSION max_recursive_iterations = 100000000");
	deep = owner("w", "deep");
	fill("deep", n);
	analyze();
	test_cost("one owner of nearly everything", &deep, n);
	for (i = 0; i < 20; i++) {
		(void)snprintf(name, sizeof(name), "many%d", i);
		one = owner("w", name);
	}
	fill("many%", n / 20);
	sql("DELETE FROM file WHERE user_id IN"
	    " (SELECT id FROM user WHERE name = 'deep') AND created > 2000");
	analyze();
	test_cost("one of many owners", &one, n / 20);
	test_order();
	test_filter();
	deep = owner("w", "walk");
	fill("walk", 1500);
	test_walk("1,500 files", &deep, 1500, FILE_PAGE);
	return (rows_close());
}
