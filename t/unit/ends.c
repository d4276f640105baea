#include <string.h>

#include "base/buf.h"
#include "base/ends.h"

#include "tap.h"

static struct buf b;
static struct gap g;

/* What ends_put() makes of ${s}, of which ${was} is missing. */
static const char *
cut(const char *s, const struct gap *was, size_t max)
{

	buf_free(&b);
	b = (struct buf)BUF_INIT(1 << 16);
	if (ends_put(&b, s, strlen(s), was, max, &g) || buf_put(&b, "", 1))
		return ("(failed)");
	return (b.p);
}

/* Is it that?  Says what it is if not. */
static int
is(const char *got, const char *want)
{

	if (strcmp(got, want) == 0)
		return (1);
	printf("# got: %s\n# want: %s\n", got, want);
	return (0);
}

int
main(void)
{
	static const struct gap none;
	struct gap was;
	char first[64];

	ok(is(cut("0123456789", &none, 10), "0123456789") && g.bytes == 0,
	    "what fits is whole");
	ok(is(cut("0123456789", &none, 9),
	       "0123\n[... 2 bytes left out ...]\n6789") &&
		g.bytes == 2 && g.at == 4 && g.line == 28,
	    "else the first and the last half are");
	ok(is(cut("", &none, 0), ""), "nothing");
	ok(is(cut("abc", &none, 0), "[... 3 bytes left out ...]\n"),
	    "nothing of something");
	ok(is(cut("a\xc3\xa4"
		  "bcd\xe2\x82\xac"
		  "e",
		  &none, 4),
	       "a\n[... 8 bytes left out ...]\ne"),
	    "no character is cut");

	/* Cut again, the line counts both. */
	(void)snprintf(
	    first, sizeof(first), "%s", cut("0123456789abcdefghij", &none, 12));
	was = g;
	ok(is(first, "012345\n[... 8 bytes left out ...]\nefghij"), "once");
	ok(is(cut(first, &was, 6), "012\n[... 14 bytes left out ...]\nhij"),
	    "twice");
	ok(is(cut(first, &was, 12), first), "what fits stays");
	ends_find(first, strlen(first), &was);
	ok(was.bytes == 8 && was.at == 6 && was.line == 28,
	    "the line is found in a text that was away");
	ok(is(cut(first, &was, 6), "012\n[... 14 bytes left out ...]\nhij"),
	    "... and counts the same");
	ends_find(
	    "[... 5 bytes left out ...]\n\n\n[... 7 bytes left out ...]\nx"
	    "yz",
	    58, &was);
	ok(was.bytes == 7, "of two, the one near the middle");
	ends_find("x[... 5 bytes left out ...]\n[... 5x bytes left out ...]\n",
	    57, &was);
	ok(was.bytes == 0, "what only looks like one is none");
	ends_find("", 0, &was);
	ok(was.bytes == 0, "nothing has none");
	buf_free(&b);
	return (done_testing());
}
