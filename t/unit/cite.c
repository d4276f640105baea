/*
 * Where a text names a file, in code points; and which files are cited.
 */
#include <string.h>

#include "base/arena.h"
#include "speech/cite.h"
#include "speech/outcome.h"

#include "tap.h"

#define LINK "[Download totals.csv](sandbox:/mnt/data/totals.csv)"

/* clang-format off */
static const struct {
	const char *name, *text, *path;
	size_t start, end;
} cases[] = {
	/* The contract's two examples. */
	{ "a Markdown link", "data.csv totals 42 and data_2.csv totals 17. "
	    LINK, "totals.csv", 45, 96 },
	{ "a bare name", "data.csv totals 42 and data_2.csv totals 17. The "
	    "table is in totals.csv.", "totals.csv", 61, 71 },
	{ "the link rather than the name before it", "totals.csv: " LINK,
	    "totals.csv", 12, 63 },
	{ "a link without a scheme", "See [it](/mnt/data/a/b.txt)!",
	    "a/b.txt", 4, 27 },
	{ "a link's text with brackets", "x [a [b] c](/mnt/data/d) y", "d", 2,
	    24 },
	{ "a path with a scheme", "It is sandbox:/mnt/data/d.txt.", "d.txt", 6,
	    29 },
	{ "a path", "It is /mnt/data/d.txt, yes", "d.txt", 6, 21 },
	{ "the path rather than the name", "d.txt is /mnt/data/d.txt",
	    "d.txt", 9, 24 },
	{ "the name alone of a path with directories", "In b.txt.", "a/b.txt",
	    3, 8 },
	{ "code points are counted", "\xc3\xa9\xf0\x9f\x98\x80 \xe8\xa1\xa8.csv"
	    " ok", "\xe8\xa1\xa8.csv", 3, 8 },
	{ "in a text without spaces", "\xe8\xa6\x8b""a.csv\xe3\x80\x82",
	    "a.csv", 1, 6 },
	{ "not a longer name's end", "mytotals.csv", "totals.csv", 12, 12 },
	{ "nor its beginning", "totals.csv.bak", "totals.csv", 14, 14 },
	{ "nor a path's", "/mnt/data/a.txt2", "a.txt", 16, 16 },
	{ "the next one that is it", "mytotals.csv totals.csv", "totals.csv",
	    13, 23 },
	{ "a link that is percent-encoded", "See [it](sandbox:/mnt/data/"
	    "my%20t%C3%A9st%2Ecsv).", "my t\xc3\xa9st.csv", 4, 48 },
	{ "a path that is", "In /mnt/data/a%20b.csv, yes", "a b.csv", 3, 22 },
	{ "a name that is", "%C3%A9.csv is it", "\xc3\xa9.csv", 0, 10 },
	{ "a percent sign that is one", "In a%20b.csv.", "a%20b.csv", 3, 12 },
	{ "half of an escape", "In a%2", "a b", 6, 6 },
	{ "not named", "Done \xc3\xa9.", "totals.csv", 7, 7 },
	{ "no text", "", "totals.csv", 0, 0 },
};
/* clang-format on */

static void
places(void)
{
	struct cite_range r;
	struct text x;
	size_t i;
	int good;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		x.p = cases[i].text;
		x.len = strlen(x.p);
		cite_find(x, cases[i].path, &r);
		good = r.start == cases[i].start && r.end == cases[i].end;
		if (!good)
			printf("# %zu to %zu\n", r.start, r.end);
		ok(good, cases[i].name);
	}
}

static void
lists(void)
{
	struct arena *mem = arena_new(65536);
	struct outcome_file
	    b = {.next = NULL, .id = "2", .path = "b", .bytes = 1},
	    a = {.next = &b, .id = "1", .path = "d/a", .bytes = 1};
	struct outcome o = {.files = &a};
	struct cites cs = {NULL, NULL};

	ok(cite_add(&cs, mem, &o) == 0 && strcmp(cs.first->id, "1") == 0 &&
		strcmp(cs.first->next->id, "2") == 0,
	    "files stand in their order");
	a.id = "3";
	a.next = NULL;
	ok(cite_add(&cs, mem, &o) == 0 && strcmp(cs.first->id, "3") == 0 &&
		cs.first->next->next == NULL,
	    "one written again is cited once, the newer");
	ok(strcmp(cite_name("d/a"), "a") == 0 &&
		strcmp(cite_name("b"), "b") == 0,
	    "a name is the path's last part");
	arena_free(mem);
}

int
main(void)
{

	places();
	lists();
	return (done_testing());
}
