/*
 * A member's string out of JSON that comes in pieces: the same wherever it is
 * cut, and the same as of the whole.
 */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/jmember.h"
#include "base/jspan.h"

#include "tap.h"

/* clang-format off */
static const struct { const char *name, *in, *out; } cases[] = {
	{ "plain", "{\"code\":\"print(1)\"}", "print(1)" },
	{ "with space", " { \"code\" : \"a b\" } ", "a b" },
	{ "escapes", "{\"code\":\"a\\n\\t\\\"\\\\\\/\\b\\f\\r\"}",
	    "a\n\t\"\\/\b\f\r" },
	{ "code points", "{\"code\":\"\\u00e9\\u2028\\ud83d\\ude00\xc3\xa9\"}",
	    "\xc3\xa9\xe2\x80\xa8\xf0\x9f\x98\x80\xc3\xa9" },
	{ "half a pair", "{\"code\":\"\\ud83dx\\ude00\"}",
	    "\xef\xbf\xbdx\xef\xbf\xbd" },
	{ "half a pair at the end", "{\"code\":\"x\\ud83d\"}",
	    "x\xef\xbf\xbd" },
	{ "after others", "{\"a\":{\"code\":\"no\",\"b\":[\"code\",{}]},"
	    "\"c\":1,\"d\":\"code\",\"code\":\"yes\"}", "yes" },
	{ "before others", "{\"code\":\"yes\",\"code\":\"no\",\"x\":1}",
	    "yes" },
	{ "a key that only begins so", "{\"codes\":\"no\",\"cod\":\"no\","
	    "\"code\":\"yes\"}", "yes" },
	{ "an escaped key", "{\"co\\u0064e\":\"no\"}", "" },
	{ "not a string", "{\"code\":[\"no\"],\"x\":\"code\"}", "" },
	{ "a number", "{\"code\":5,\"x\":\"no\"}", "" },
	{ "a list", "[\"code\",\"no\"]", "" },
	{ "a string", "\"code\"", "" },
	{ "broken off", "{\"code\":\"abc", "abc" },
	{ "a wrong escape ends it", "{\"code\":\"abc\\xdef\"}", "abc" },
	{ "empty", "{\"code\":\"\"}", "" },
	{ "nothing", "", "" },
};
/* clang-format on */

static void
feed(struct buf *b, const char *s, size_t len, size_t cut)
{
	struct jmember J = {.key = "code"};
	size_t i;

	if (cut == 0)
		for (i = 0; i < len; i++)
			jmember_feed(&J, s + i, 1, b);
	else {
		jmember_feed(&J, s, cut, b);
		jmember_feed(&J, s + cut, len - cut, b);
	}
}

int
main(void)
{
	struct buf b = BUF_INIT(4096);
	size_t i, cut, len;
	int good;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		len = strlen(cases[i].in);
		for (good = 1, cut = 0; cut <= len; cut++) {
			buf_drop(&b, b.len);
			feed(&b, cases[i].in, len, cut);
			good &= b.len == strlen(cases[i].out) &&
			    (b.len == 0 ||
				memcmp(b.p, cases[i].out, b.len) == 0);
			if (!good) {
				printf("# cut at %zu: <%.*s>\n", cut,
				    (int)b.len, b.len > 0 ? b.p : "");
				break;
			}
		}
		ok(good, cases[i].name);
	}
	buf_free(&b);
	return (done_testing());
}
