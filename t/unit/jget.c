#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/jget.h"
#include "t/unit/tap.h"

static enum jget_parse
parse_of(const char *s, size_t len)
{
	json_object *o;
	enum jget_parse rc;
	size_t at;

	rc = jget_parse(s, len, &o, &at);
	json_object_put(o);
	return (rc);
}

#define PARSE(s) parse_of(s, sizeof(s) - 1)
#define REFUSED(s) (PARSE(s) == JGET_PARSE_SYNTAX)

static void
good(void)
{

	ok(PARSE("{}") == JGET_PARSE_OK && PARSE(" [ ] ") == JGET_PARSE_OK,
	    "an empty object, an empty array");
	ok(PARSE("7") == JGET_PARSE_OK && PARSE("-0.5e+3") == JGET_PARSE_OK &&
		PARSE("\"x\"") == JGET_PARSE_OK &&
		PARSE("true") == JGET_PARSE_OK &&
		PARSE("null") == JGET_PARSE_OK,
	    "a lone value of every kind");
	ok(PARSE("{\"a\":\"\\ud800 \\u2028 \\/\"}") == JGET_PARSE_OK,
	    "a lone half of a surrogate pair as an escape");
	ok(PARSE("{\"a\":\"\\u0000\"}") == JGET_PARSE_OK,
	    "an escaped NUL in a value");
	ok(PARSE("[12345678901234567890123, 1e400]") == JGET_PARSE_OK,
	    "numbers that fit no type of ours");
}

static void
bad(void)
{
	json_object *o;
	size_t at = 0;

	ok(REFUSED("") && REFUSED(" ") && REFUSED("{") && REFUSED("[1"),
	    "nothing, or not all of it");
	ok(REFUSED("{} x") && REFUSED("1 2") && REFUSED("{}\0"),
	    "anything behind the value");
	ok(REFUSED("{'a':1}") && REFUSED("{a:1}") && REFUSED("[1,]") &&
		REFUSED("{\"a\":1,}") && REFUSED("[,1]") &&
		REFUSED("{\"a\"}") && REFUSED("[1 2]") && REFUSED("[1}"),
	    "single quotes, bare keys, commas too many or too few");
	ok(REFUSED("NaN") && REFUSED("Infinity") && REFUSED("01") &&
		REFUSED("+1") && REFUSED(".5") && REFUSED("1.") &&
		REFUSED("1e") && REFUSED("-") && REFUSED("0x1"),
	    "numbers that JSON does not know");
	ok(REFUSED("True") && REFUSED("nul") && REFUSED("nulll"),
	    "words that JSON does not know");
	ok(REFUSED("/* c */ 1") && REFUSED("1 // c"), "comments");
	ok(REFUSED("\"a\nb\"") && REFUSED("\"\t\"") && REFUSED("\"a\0b\""),
	    "raw control characters in a string");
	ok(REFUSED("\"\\x41\"") && REFUSED("\"\\u12g4\"") &&
		REFUSED("\"\\u12\"") && REFUSED("\"\\"),
	    "broken escapes");
	ok(REFUSED("\"\xff\"") && REFUSED("\"\xed\xa0\x80\"") &&
		REFUSED("\"\xc0\x80\""),
	    "invalid UTF-8");
	ok(REFUSED("\xef\xbb\xbf{}"), "a byte-order mark");
	ok(REFUSED("{\"a\\u0000b\":1}"), "a key that would be cut at its NUL");
	ok(jget_parse("{\"a\": tru}", 10, &o, &at) == JGET_PARSE_SYNTAX &&
		at == 6 && o == NULL,
	    "the offset of what is wrong is told");
}

static void
repeated(void)
{

	ok(PARSE("{\"a\":1,\"a\":2}") == JGET_PARSE_REPEATED,
	    "a key twice is refused");
	ok(PARSE("{\"a\":1,\"\\u0061\":2}") == JGET_PARSE_REPEATED,
	    "however it is spelled");
	ok(PARSE("[{\"x\":{\"a\":1,\"b\":[],\"a\":null}}]") ==
		JGET_PARSE_REPEATED,
	    "and however deep");
	ok(PARSE("[{\"a\":1},{\"a\":{\"a\":1}}]") == JGET_PARSE_OK,
	    "in two objects it is no repetition");
}

static void
last(void)
{
	static const char text[] =
	    "{\"a\":[1],\"b\":{\"x\":1,\"\\u0078\":2},\"a\":3,\"a\":null}";
	json_object *o = NULL;
	size_t at;

	ok(jget_parse_last(text, strlen(text), 64, &o, &at) == JGET_PARSE_OK,
	    "a key twice is taken by who asks for that");
	ok(strcmp(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN),
	       "{\"a\":null,\"b\":{\"x\":2}}") == 0,
	    "and the last one counts, at every level");
	json_object_put(o);
	ok(jget_parse_last("[[[]]]", 6, 3, &o, &at) == JGET_PARSE_OK,
	    "three levels of three");
	json_object_put(o);
	ok(jget_parse_last("[[[]]]", 6, 2, &o, &at) == JGET_PARSE_DEPTH &&
		o == NULL,
	    "three levels of two");
}

static enum jget_parse
nested(size_t depth)
{
	enum jget_parse rc;
	char *s;

	if ((s = malloc(2 * depth + 1)) == NULL)
		return (JGET_PARSE_MEMORY);
	memset(s, '[', depth);
	memset(s + depth, ']', depth);
	rc = parse_of(s, 2 * depth);
	free(s);
	return (rc);
}

static void
depth(void)
{

	ok(nested(40) == JGET_PARSE_OK, "40 levels are fine");
	ok(nested(JGET_DEPTH) == JGET_PARSE_OK, "128 levels are too");
	ok(nested(JGET_DEPTH + 1) == JGET_PARSE_DEPTH, "129 are not");
	ok(nested(1000000) == JGET_PARSE_DEPTH, "a million do no harm");
}

/* An array of ${n} numbers. */
static enum jget_parse
wide(size_t n)
{
	char *s = malloc(2 * n + 1);
	enum jget_parse rc;
	size_t i;

	if (s == NULL)
		return (JGET_PARSE_MEMORY);
	for (i = 0; i < n; i++)
		memcpy(s + 2 * i, ",1", 2);
	s[0] = '[';
	s[2 * n] = ']';
	rc = parse_of(s, 2 * n + 1);
	free(s);
	return (rc);
}

/* The most levels around a long text that is slow to pass over. */
static enum jget_parse
deep_and_long(void)
{
	const size_t pairs = 4U << 20, depth = JGET_DEPTH,
		     len = 2 * depth + 2 * pairs + 2;
	enum jget_parse rc;
	char *s = malloc(len);
	size_t i;

	if (s == NULL)
		return (JGET_PARSE_MEMORY);
	memset(s, '[', depth);
	for (i = 0; i < pairs; i++)
		memcpy(s + depth + 1 + 2 * i, "\\\"", 2);
	s[depth] = s[len - depth - 1] = '"';
	memset(s + len - depth, ']', depth);
	rc = parse_of(s, len);
	free(s);
	return (rc);
}

static void
width(void)
{
	const clock_t began = clock();

	ok(deep_and_long() == JGET_PARSE_OK, "8 MiB in 128 levels");
	ok(clock() - began < 3 * CLOCKS_PER_SEC, "are read in one pass");

	ok(wide(JGET_VALUES - 1) == JGET_PARSE_OK, "200,000 values are fine");
	ok(wide(JGET_VALUES) == JGET_PARSE_MANY, "one more is not");
}

static const char doc[] = "{\"s\":\"text\",\"nul\":\"a\\u0000b\",\"t\":true,"
			  "\"f\":false,\"n\":7,\"big\":99999999999999999999,"
			  "\"max\":18446744073709551614,\"neg\":-1,"
			  "\"lowest\":-99999999999999999999,\"d\":7.0,"
			  "\"null\":null,\"a\":[1],\"o\":{\"k\":1},\"e\":\"\"}";

static void
strings(json_object *o)
{
	const char *s = "before";
	size_t len = 99;

	ok(jget_str(o, "s", &s) == JGET_OK && strcmp(s, "text") == 0,
	    "a string is read");
	ok(jget_str(o, "e", &s) == JGET_OK && *s == '\0', "an empty one too");
	ok(jget_str(o, "nul", &s) == JGET_RANGE && *s == '\0',
	    "one with a NUL is out of bounds");
	ok(jget_text(o, "nul", &s, &len) == JGET_OK && len == 3 &&
		memcmp(s, "a\0b", 3) == 0,
	    "unless the reader can take it");
	s = "before";
	ok(jget_str(o, "x", &s) == JGET_ABSENT &&
		jget_str(o, "null", &s) == JGET_NULL &&
		jget_str(o, "n", &s) == JGET_TYPE && strcmp(s, "before") == 0,
	    "absent, null and another type differ and set nothing");
	ok(jget_str(NULL, "x", &s) == JGET_TYPE, "null has no members");
}

static void
numbers(json_object *o)
{
	uint64_t x = 5;
	double d = 5;
	int b = 5;

	ok(jget_u64(o, "n", 7, 7, &x) == JGET_OK && x == 7,
	    "a number in bounds is read");
	x = 5;
	ok(jget_u64(o, "n", 8, 9, &x) == JGET_RANGE &&
		jget_u64(o, "n", 0, 6, &x) == JGET_RANGE && x == 5,
	    "one out of bounds is not");
	ok(jget_u64(o, "neg", 0, 9, &x) == JGET_RANGE &&
		jget_u64(o, "lowest", 0, 9, &x) == JGET_RANGE,
	    "nor a negative one");
	ok(jget_u64(o, "big", 0, UINT64_MAX - 1, &x) == JGET_RANGE,
	    "nor one past 64 bits");
	ok(jget_u64(o, "max", 0, UINT64_MAX - 1, &x) == JGET_OK &&
		x == UINT64_MAX - 1,
	    "the largest is exact");
	ok(jget_u64(o, "d", 0, 9, &x) == JGET_TYPE &&
		jget_u64(o, "s", 0, 9, &x) == JGET_TYPE &&
		jget_u64(o, "t", 0, 9, &x) == JGET_TYPE,
	    "7.0, a string and true are no integers");
	ok(jget_num(o, "d", 0, 9, &d) == JGET_OK && d == 7.0 &&
		jget_num(o, "n", 7, 7, &d) == JGET_OK,
	    "a number may be whole or not");
	ok(jget_num(o, "neg", 0, 9, &d) == JGET_RANGE &&
		jget_num(o, "s", 0, 9, &d) == JGET_TYPE &&
		jget_num(o, "x", 0, 9, &d) == JGET_ABSENT,
	    "within its bounds");
	ok(jget_bool(o, "t", &b) == JGET_OK && b == 1 &&
		jget_bool(o, "f", &b) == JGET_OK && b == 0,
	    "true and false are read");
	ok(jget_bool(o, "n", &b) == JGET_TYPE &&
		jget_bool(o, "null", &b) == JGET_NULL && b == 0,
	    "7 and null are neither");
}

static void
containers(json_object *o)
{
	json_object *v = NULL;

	ok(jget_array(o, "a", &v) == JGET_OK &&
		json_object_array_length(v) == 1,
	    "an array is read");
	ok(jget_object(o, "o", &v) == JGET_OK &&
		json_object_object_length(v) == 1,
	    "an object is read");
	ok(jget_array(o, "o", &v) == JGET_TYPE &&
		jget_object(o, "a", &v) == JGET_TYPE &&
		jget_object(v, "k", &v) == JGET_TYPE,
	    "neither is taken for the other");
}

/* Does the escaped surrogate pair of ${c} come out as its four bytes? */
static int
pair(unsigned int c)
{
	const char want[] = {(char)(0xf0 | c >> 18),
	    (char)(0x80 | (c >> 12 & 0x3f)), (char)(0x80 | (c >> 6 & 0x3f)),
	    (char)(0x80 | (c & 0x3f)), '\0'};
	json_object *o = NULL;
	char text[32];
	size_t at;
	int n, same;

	n = snprintf(text, sizeof(text), "\"\\u%04X\\u%04x\"",
	    0xd800 + ((c - 0x10000) >> 10), 0xdc00 + (c & 0x3ff));
	same = jget_parse(text, (size_t)n, &o, &at) == JGET_PARSE_OK &&
	    strcmp(json_object_get_string(o), want) == 0;
	json_object_put(o);
	return (same);
}

static void
pairs(void)
{
	unsigned int c, wrong = 0;

	for (c = 0x10000; c <= 0x10ffff; c++)
		wrong += !pair(c);
	ok(wrong == 0, "every escaped surrogate pair is its code point");
}

int
main(void)
{
	json_object *o = NULL;
	size_t at;

	good();
	bad();
	repeated();
	last();
	depth();
	width();
	pairs();
	if (jget_parse(doc, sizeof(doc) - 1, &o, &at) != JGET_PARSE_OK)
		return (1);
	strings(o);
	numbers(o);
	containers(o);
	json_object_put(o);
	return (done_testing());
}
