#include <string.h>

#include "base/arena.h"
#include "http/query.h"
#include "t/unit/tap.h"

static struct arena *mem;

static int
has(const char *s, const char *name, size_t nth, const char *want)
{
	struct query *q = query_parse(mem, s);
	const char *got;

	if (q == NULL)
		return (0);
	got = query_get(q, name, nth);
	return (
	    want == NULL ? got == NULL : got != NULL && strcmp(got, want) == 0);
}

static void
queries(void)
{
	char many[3 * QUERY_MAX + 10] = "";
	struct query *q;
	size_t i;

	ok(has(NULL, "a", 0, NULL) && has("", "a", 0, NULL),
	    "no query has no pairs");
	ok(has("limit=10&order=asc", "order", 0, "asc"), "a pair is found");
	ok(has("limit=", "limit", 0, "") && has("limit", "limit", 0, ""),
	    "an empty value and none are empty");
	ok(has("a=b=c", "a", 0, "b=c"), "only the first = separates");
	ok(has("&&a=1&", "a", 0, "1"), "empty pairs are passed over");
	ok(has("ids%5B%5D=x&ids[]=y", "ids[]", 1, "y") &&
		has("ids%5B%5D=x&ids[]=y", "ids[]", 0, "x"),
	    "a name is compared decoded, repeated ones keep their order");
	ok(has("q=a+b%2Bc", "q", 0, "a b+c"), "+ is a space, %2B is a +");
	ok(has("q=%C3%a9%20%09", "q", 0, "\xc3\xa9 \t"),
	    "every digit and either case of hex");
	ok(has("a=1&A=2", "A", 0, "2"), "names keep their letter case");
	q = query_parse(mem, "limit=1&x=2&limit=3");
	ok(q != NULL && query_count(q, "limit") == 2 &&
		query_count(q, "y") == 0,
	    "pairs of a name are counted");
	ok(query_parse(mem, "a=%") == NULL &&
		query_parse(mem, "a=%4") == NULL &&
		query_parse(mem, "a=%4g") == NULL &&
		query_parse(mem, "%zz=1") == NULL,
	    "a broken escape is refused");
	ok(query_parse(mem, "a=%00") == NULL &&
		query_parse(mem, "%00=") == NULL,
	    "an encoded NUL is refused");
	for (i = 0; i < QUERY_MAX; i++)
		memcpy(many + 3 * i, "a=&", 4);
	q = query_parse(mem, many);
	ok(q != NULL && query_count(q, "a") == QUERY_MAX, "256 pairs pass");
	memcpy(many + 3 * QUERY_MAX, "a=", 3);
	ok(query_parse(mem, many) == NULL, "257 do not");
}

static int
decoded(const char *s, size_t len, const char *want)
{
	const char *got = percent_decode(mem, s, len);

	return (
	    want == NULL ? got == NULL : got != NULL && strcmp(got, want) == 0);
}

static void
paths(void)
{
	struct arena *small = arena_new(3);

	ok(decoded("a%2Fb+c", 7, "a/b+c"), "in a path + stays a +");
	ok(decoded("abc%41", 3, "abc"), "only the bytes given are read");
	ok(decoded("abc%41", 5, NULL), "an escape cut short is refused");
	ok(decoded("a\0b", 3, NULL) && decoded("a%00", 4, NULL),
	    "a NUL is refused, raw or encoded");
	ok(percent_decode(small, "abc", 3) == NULL &&
		query_parse(small, "") == NULL,
	    "when memory runs out there is no answer");
	arena_free(small);
}

int
main(void)
{

	if ((mem = arena_new(1 << 20)) == NULL)
		return (1);
	queries();
	paths();
	arena_free(mem);
	return (done_testing());
}
