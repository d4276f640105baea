/*
 * The beginning of a JSON object: every cut of good ones can be made whole, and
 * of bad ones as much is taken as an object can begin with.
 */
#include <string.h>

#include "base/buf.h"
#include "base/jprefix.h"
#include "base/jspan.h"

#include "tap.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

static int
is_object(const char *p, size_t len)
{
	struct jspan_info info;

	return (len > 0 && jspan_check(p, len, 512, &info) == JSPAN_OK &&
	    info.root.p[0] == '{');
}

/* Take the first ${len} bytes, one at a time or all at once. */
static int
closes(const char *s, size_t len, int single)
{
	struct jprefix J = {0};
	struct buf b = BUF_INIT(4096);
	size_t i, n = 0;
	int rc;

	for (i = 0; single && i < len; i++)
		n += jprefix_feed(&J, s + i, 1);
	if (!single)
		n = jprefix_feed(&J, s, len);
	buf_put(&b, s, n);
	rc = n == len && jprefix_whole(&J) == is_object(s, len) &&
	    jprefix_close(&J, &b) == 0 && is_object(b.p, b.len) &&
	    (!jprefix_whole(&J) || b.len == len);
	buf_free(&b);
	return (rc);
}

static void
cuts(const char *s)
{
	size_t i, len = strlen(s);
	int good = 1;

	for (i = 0; i <= len; i++)
		if (!closes(s, i, 0) || !closes(s, i, 1)) {
			printf("# cut at %zu: %.*s\n", i, (int)i, s);
			good = 0;
		}
	ok(good, s);
}

int
main(void)
{
	/* clang-format off */
	static const char *const good[] = {
		"{}", " {\r\n}\t ", "{\"command\": \"ls\"}",
		"{\"a\":[1,-2,0.5e+7,-0,1E5,0.25, 10 ,{}],\"b\":{\"c\":[]}}",
		"{\"a\":true,\"b\":false,\"c\":null,\"d\":[[],[[]]]}",
		"{\"\\u00e9\\\"\\\\\\n\":\"\\ud83d\\ude00\"}",
	};
	static const struct { const char *s; size_t n; } bad[] = {
		{ "", 0 }, { "[1]", 0 }, { "print(1)", 0 }, { "{'a':1}", 1 },
		{ "{\"a\" 1}", 5 }, { "{\"a\":1,}", 7 }, { "{\"a\":01}", 6 },
		{ "{\"a\":1.}", 7 }, { "{\"a\":+1}", 5 }, { "{\"a\":nil}", 6 },
		{ "{\"a\":\"\n\"}", 6 }, { "{\"a\":\"\\x\"}", 7 },
		{ "{\"a\":\"\\u12g\"}", 10 }, { "{} x", 3 }, { "{}{}", 2 },
		{ "{\"a\":[1}", 7 }, { "{\"a\":{]", 6 }, { "{,", 1 },
		{ "{\"a\":1e}", 7 }, { "{\"a\":-}", 6 },
	};
	/* clang-format on */
	char deep[4 * JPREFIX_DEPTH];
	struct jprefix J;
	size_t i, n;

	for (i = 0; i < NELEM(good); i++)
		cuts(good[i]);
	for (i = 0; i < NELEM(bad); i++) {
		J = (struct jprefix){0};
		n = jprefix_feed(&J, bad[i].s, strlen(bad[i].s));
		ok(n == bad[i].n && !jprefix_whole(&J) &&
			closes(bad[i].s, n, 1),
		    bad[i].s);
		ok(jprefix_feed(&J, "}", 1) == 0 || bad[i].s[0] == '\0',
		    "and then no more");
	}

	memcpy(deep, "{\"a\":", 5);
	memset(deep + 5, '[', sizeof(deep) - 5);
	J = (struct jprefix){0};
	ok(jprefix_feed(&J, deep, sizeof(deep)) == 5 + JPREFIX_DEPTH - 1,
	    "no deeper than its ceiling");
	ok(closes(deep, 5 + JPREFIX_DEPTH - 1, 0), "where it can be closed");
	return (done_testing());
}
