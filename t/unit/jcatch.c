/*
 * An object under one key, out of JSON that comes in pieces: the same wherever
 * it is cut, and the bytes that the whole has there.
 */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/jcatch.h"

#include "tap.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

/* clang-format off */
static const struct { const char *name, *in, *out; int over; } cases[] = {
	{ "plain", "{\"usage\":{\"a\":1}}", "{\"a\":1}", 1 },
	{ "with space", " {\n\"usage\" : { \"a\" : [ 1 ] } , ",
	    "{ \"a\" : [ 1 ] }", 1 },
	{ "brackets and quotes in strings", "{\"a\":\"}]{[\\\"\","
	    "\"usage\":{\"b\":\"}\\\"{\\\\\"}}", "{\"b\":\"}\\\"{\\\\\"}", 1 },
	{ "not a deeper one", "{\"a\":{\"usage\":{\"x\":1}},"
	    "\"b\":[{\"usage\":{}}],\"usage\":{\"y\":2}}", "{\"y\":2}", 1 },
	{ "not a string that reads so", "{\"a\":\"usage\",\"b\":[\"usage\","
	    "{}],\"c\":{}}", "", 1 },
	{ "the first object of several", "{\"usage\":null,\"usage\":[{}],"
	    "\"usage\":\"{}\",\"usage\":{\"z\":3},\"usage\":{}}",
	    "{\"z\":3}", 1 },
	{ "keys that only begin or end so", "{\"usages\":{\"a\":1},"
	    "\"usag\":{\"b\":1},\"\":{},\"ausage\":{},\"uusage\":{}}", "", 1 },
	{ "an escaped key", "{\"us\\u0061ge\":{\"a\":1},"
	    "\"usage\\n\":{\"b\":1}}", "", 1 },
	{ "a list", "[\"usage\",{\"a\":1}]", "", 1 },
	{ "a string", "\"usage\"", "", 1 },
	{ "broken off", "{\"usage\":{\"a\":1", "{\"a\":1", 0 },
	{ "nothing yet", "{\"a\":1,", "", 0 },
	{ "nothing", "", "", 0 },
};
/* clang-format on */

/* Feed ${s} in two pieces; in single bytes if ${cut} is none. */
static int
feed(struct buf *b, const char *s, size_t cut)
{
	struct jcatch J = {.key = "usage"};
	size_t i, len = strlen(s);
	int rc = 0;

	if (cut <= len) {
		(void)jcatch_feed(&J, s, cut, b);
		return (jcatch_feed(&J, s + cut, len - cut, b));
	}
	for (i = 0; i < len; i++)
		rc = jcatch_feed(&J, s + i, 1, b);
	return (rc);
}

/* A key that goes on with a NUL is another, and compared with nothing that lies
 * behind the wanted one. */
static void
test_nul(void)
{
	static const char text[] = "{\"usage\0x\":{\"a\":1},\"usage\":{}}";
	const char key[] = "usage\0x";
	struct jcatch J = {.key = key};
	struct buf b = BUF_INIT(64);

	ok(jcatch_feed(&J, text, sizeof(text) - 1, &b) == 1 && b.len == 2,
	    "a key that goes on with a NUL");
	buf_free(&b);
}

static void
test_cuts(void)
{
	struct buf b = BUF_INIT(4096);
	size_t i, cut, len;
	int good;

	for (i = 0; i < NELEM(cases); i++) {
		len = strlen(cases[i].out);
		for (good = 1, cut = 0; cut <= strlen(cases[i].in) + 1; cut++) {
			buf_drop(&b, b.len);
			good &= feed(&b, cases[i].in, cut) == cases[i].over &&
			    b.len == len &&
			    (len == 0 || memcmp(b.p, cases[i].out, len) == 0);
		}
		ok(good, cases[i].name);
	}
	buf_free(&b);
}

int
main(void)
{
	struct jcatch J = {.key = "usage"};
	const char *big = "{\"usage\":{\"a\":\"0123456789\"}}";
	struct buf b = BUF_INIT(8);

	test_cuts();
	test_nul();
	ok(jcatch_feed(&J, big, strlen(big), &b) == -1,
	    "more than the buffer may hold");
	buf_free(&b);
	return (done_testing());
}
