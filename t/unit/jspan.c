#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/jspan.h"
#include "t/unit/tap.h"

/* The root of the literal ${s}, or nothing if it is refused. */
static struct jspan
root(const char *s)
{
	struct jspan_info info;

	if (jspan_check(s, strlen(s), JSPAN_DEPTH_MAX, &info) != JSPAN_OK)
		return ((struct jspan){NULL, 0});
	return (info.root);
}

static int
is(struct jspan v, const char *want)
{

	return (v.len == strlen(want) && memcmp(v.p, want, v.len) == 0);
}

static enum jspan_rc
nested(size_t depth, unsigned int max)
{
	struct jspan_info info;
	enum jspan_rc rc = JSPAN_SYNTAX;
	char *s;

	if ((s = malloc(6 * depth + 1)) == NULL)
		return (rc);
	for (size_t i = 0; i < depth; i++)
		memcpy(s + 5 * i, "{\"k\":", 5);
	s[5 * depth] = '1';
	memset(s + 5 * depth + 1, '}', depth);
	rc = jspan_check(s, 6 * depth + 1, max, &info);
	free(s);
	return (rc);
}

static void
checking(void)
{
	struct jspan_info info;
	const char *s = " {\"a\":{\"b\":[{\"c\":1},{\"c\":2}]},\"a\":3} ";

	ok(jspan_check(s, strlen(s), 10, &info) == JSPAN_OK &&
		info.root.p == s + 1 && info.root.len == strlen(s) - 2,
	    "the root is the value without the space around it");
	ok(info.values == 8, "values at every level are counted");
	ok(info.nul_key == NULL, "no key holds a NUL");
	s = "{\"a\":\"\\u0000\",\"x\\u0000\":1}";
	ok(jspan_check(s, strlen(s), 10, &info) == JSPAN_OK &&
		info.nul_key == s + 14,
	    "a NUL in a key is found, one in a value is not meant");
	s = "{\"a\":1,}";
	ok(jspan_check(s, strlen(s), 10, &info) == JSPAN_SYNTAX && info.at == 7,
	    "the offset of an error is told");
	ok(nested(512, JSPAN_DEPTH_MAX) == JSPAN_OK, "512 levels pass");
	ok(nested(513, JSPAN_DEPTH_MAX) == JSPAN_DEPTH, "513 do not");
	ok(nested(513, 100000) == JSPAN_DEPTH, "whatever was asked for");
	ok(nested(3, 3) == JSPAN_OK && nested(4, 3) == JSPAN_DEPTH,
	    "a lower limit holds");
	ok(nested(1000000, JSPAN_DEPTH_MAX) == JSPAN_DEPTH,
	    "a million levels do no harm");
	ok(jspan_check("[]", 2, 0, &info) == JSPAN_DEPTH &&
		jspan_check("1", 1, 0, &info) == JSPAN_OK,
	    "at depth 0 only a scalar passes");
}

static void
finding(void)
{
	struct jspan o = root("{ \"model\" : \"gpt\\n\" ,\"n\":-1.50e2, "
			      "\"o\":{\"model\":[\"}\",1]},\"t\":true}");
	struct jspan v = {NULL, 0};

	ok(jspan_get(o, "model", &v) == 1 && is(v, "\"gpt\\n\""),
	    "a member's span is its value with its quotes");
	ok(jspan_get(o, "n", &v) == 1 && is(v, "-1.50e2"),
	    "a number's span ends where the number ends");
	ok(jspan_get(o, "o", &v) == 1 && is(v, "{\"model\":[\"}\",1]}"),
	    "an object's span ends at its own brace");
	ok(jspan_get(o, "t", &v) == 1 && is(v, "true"), "the last one too");
	ok(jspan_get(o, "none", &v) == 0 && is(v, "true"),
	    "an absent key sets nothing");
	ok(jspan_get(root("[1]"), "a", &v) == 0 &&
		jspan_get(root("\"a\""), "a", &v) == 0,
	    "what is no object has no members");
	o = root("{\"model\":1,\"mod\\u0065l\":2,\"\\u006d\\u006Fdel\":3}");
	ok(jspan_get(o, "model", &v) == 3 && is(v, "3"),
	    "a key is compared decoded, and repetitions are counted");
}

static void
walking(void)
{
	struct jspan_iter it;
	struct jspan k, v;

	ok(jspan_iter(&it, root("[ 1 ,\"a,b\", [] ,{\"x\":[1]}, null ]")) ==
		    0 &&
		jspan_next(&it, NULL, &v) && is(v, "1") &&
		jspan_next(&it, NULL, &v) && is(v, "\"a,b\"") &&
		jspan_next(&it, NULL, &v) && is(v, "[]") &&
		jspan_next(&it, NULL, &v) && is(v, "{\"x\":[1]}") &&
		jspan_next(&it, NULL, &v) && is(v, "null") &&
		!jspan_next(&it, NULL, &v),
	    "an array is walked value by value");
	ok(jspan_iter(&it, root("{\"a\\\"\" : 1,\"\":{}}")) == 0 &&
		jspan_next(&it, &k, &v) && is(k, "\"a\\\"\"") && is(v, "1") &&
		jspan_next(&it, &k, &v) && is(k, "\"\"") && is(v, "{}") &&
		!jspan_next(&it, &k, &v),
	    "an object member by member");
	ok(jspan_iter(&it, root("{ }")) == 0 && !jspan_next(&it, &k, &v) &&
		jspan_iter(&it, root("[\n]")) == 0 && !jspan_next(&it, &k, &v),
	    "empty ones have nothing");
	ok(jspan_iter(&it, root("\"[1]\"")) == -1 &&
		jspan_iter(&it, root("12")) == -1,
	    "a string or a number cannot be walked");
}

static int
decodes(const char *s, const char *want, size_t len)
{
	struct buf b = BUF_INIT(100);
	int same;

	same = jspan_str(&b, root(s)) == 0 && b.len == len &&
	    memcmp(b.p, want, len) == 0;
	buf_free(&b);
	return (same);
}

static void
strings(void)
{
	struct buf b = BUF_INIT(3);

	ok(decodes("\"\"", "", 0), "an empty string");
	ok(decodes("\"a\\\"\\\\\\/\\b\\f\\n\\r\\tz\"", "a\"\\/\b\f\n\r\tz", 10),
	    "every short escape");
	ok(decodes("\"\\u0041\\u00e9\\u8868\"", "A\xc3\xa9\xe8\xa1\xa8", 6),
	    "numbered escapes");
	ok(decodes("\"\\ud83d\\udcca\"", "\xf0\x9f\x93\x8a", 4),
	    "a surrogate pair is one character");
	ok(decodes("\"\\ud83d\\u0041\"",
	       "\xef\xbf\xbd"
	       "A",
	       4) &&
		decodes("\"\\udcca\"", "\xef\xbf\xbd", 3) &&
		decodes("\"\\ud83d\"", "\xef\xbf\xbd", 3) &&
		decodes("\"\\ud83d\\n\"", "\xef\xbf\xbd\n", 4),
	    "half of one is U+FFFD");
	ok(decodes("\"a\\u0000b\"", "a\0b", 3), "a NUL stays");
	ok(jspan_str(&b, root("1")) == -1 && buf_ok(&b),
	    "a number is no string");
	ok(jspan_str(&b, root("\"abcd\"")) == -1 && !buf_ok(&b),
	    "a string past the ceiling is refused");
	buf_free(&b);
	ok(jspan_is(root("\"m\\u006fdel\""), "model") &&
		!jspan_is(root("\"modell\""), "model") &&
		!jspan_is(root("\"mode\""), "model") &&
		!jspan_is(root("\"model\\u0000\""), "model"),
	    "a string is compared decoded and whole");
	ok(jspan_is(root("\"\""), "") && !jspan_is(root("1"), "1") &&
		!jspan_is((struct jspan){NULL, 0}, ""),
	    "only a string equals one");
}

static void
repeating(void)
{

	ok(jspan_repeated(root("{\"a\":1,\"b\":2,\"\\u0061\":3}")) == 1,
	    "a key twice is seen, however it is spelled");
	ok(jspan_repeated(root("{\"a\":[0,{\"b\":1,\"b\":2}],\"b\":1}")) == 1,
	    "also in an object further in");
	ok(jspan_repeated(
	       root("{\"a\":{\"a\":1},\"b\":[{\"a\":1},{\"a\":1}]}")) == 0,
	    "the same key in several objects is not repeated");
	ok(jspan_repeated(
	       root("{\"\\ud83d\\ude00\":1,\"\xf0\x9f\x98\x80\":2}")) == 1,
	    "an escape of several bytes is the bytes that it says");
	ok(jspan_repeated(root("{\"\":1,\"a\":1,\"\":2}")) == 1,
	    "the empty key counts");
	ok(jspan_repeated(root("{\"a\":1,\"a\\u0000\":1,\"aa\":1}")) == 0,
	    "keys that only begin alike differ");
	ok(jspan_repeated(root("{}")) == 0 &&
		jspan_repeated(root("[1,1]")) == 0 &&
		jspan_repeated(root("1")) == 0,
	    "without keys there is none");
}

static void
many_keys(void)
{
	struct buf b = BUF_INIT(10000000);
	size_t i;

	for (i = 0; i < 200000; i++)
		(void)buf_printf(&b, "%s\"k%zu\":0", i ? "," : "{", i);
	(void)buf_puts(&b, "}");
	ok(jspan_repeated(root(b.p)) == 0, "200,000 keys are judged at once");
	buf_free(&b);
}

static void
splicing(void)
{
	struct jspan o =
	    root("{\"model\": \"gw\",\t\"x\":12345678901234567890123,"
		 "\"f\":[{\"id\":\"a\"},\"\\ud800\"] }");
	struct jspan v, f, e;
	struct jspan_iter it;
	struct buf b = BUF_INIT(1000);
	struct jspan_edit edits[2];

	(void)jspan_get(o, "model", &v);
	(void)jspan_get(o, "f", &f);
	(void)jspan_iter(&it, f);
	(void)jspan_next(&it, NULL, &e);
	(void)jspan_get(e, "id", &e);
	edits[0] = (struct jspan_edit){v, {"\"gpt-5\"", 7}};
	edits[1] = (struct jspan_edit){e, {"null", 4}};
	ok(jspan_splice(&b, o, edits, 2) == 0 &&
		strcmp(b.p,
		    "{\"model\": \"gpt-5\",\t\"x\":"
		    "12345678901234567890123,"
		    "\"f\":[{\"id\":null},\"\\ud800\"] }") == 0,
	    "only what is replaced changes");
	buf_free(&b);
	ok(jspan_splice(&b, o, NULL, 0) == 0 && b.len == o.len &&
		memcmp(b.p, o.p, o.len) == 0,
	    "without edits nothing changes");
	buf_free(&b);
	edits[0].at = e;
	edits[1].at = v;
	ok(jspan_splice(&b, o, edits, 2) == -1 && !buf_ok(&b),
	    "edits out of order are refused");
	buf_free(&b);
}

int
main(void)
{

	checking();
	finding();
	walking();
	strings();
	repeating();
	many_keys();
	splicing();
	return (done_testing());
}
