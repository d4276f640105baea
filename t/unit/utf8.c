#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "t/unit/tap.h"

#define VALID(s) utf8_valid(s, sizeof(s) - 1)

static int
scrubs_to(const char *s, size_t len, const char *want)
{
	struct buf b = BUF_INIT(1000);
	int same;

	same = utf8_scrub(&b, s, len) == 0 && b.len == strlen(want) &&
	    memcmp(b.p, want, b.len) == 0;
	buf_free(&b);
	return (same);
}

#define SCRUB(s, want) scrubs_to(s, sizeof(s) - 1, want)
#define BAD "\xef\xbf\xbd"

static void
validity(void)
{

	ok(VALID(""), "nothing is valid");
	ok(VALID("plain text, longer than eight bytes"), "ASCII is valid");
	ok(VALID("\xc3\xa9 \xe8\xa1\xa8 \xf0\x9f\x93\x8a"),
	    "two, three and four bytes are valid");
	ok(VALID("a\0b"), "NUL counts as valid");
	ok(VALID("\xef\xbf\xbf\xf4\x8f\xbf\xbf"), "so do the last ones");
	ok(!VALID("\xc0\x80") && !VALID("\xe0\x80\xaf") &&
		!VALID("\xf0\x80\x80\xaf") && !VALID("\xc1\xbf"),
	    "overlong forms are not");
	ok(!VALID("\xed\xa0\x80") && !VALID("\xed\xbf\xbf"),
	    "surrogates are not");
	ok(!VALID("\xf4\x90\x80\x80") && !VALID("\xf5\x80\x80\x80"),
	    "past U+10FFFF is not");
	ok(!VALID("12345678\xff"), "a bad byte behind eight good ones is not");
	ok(!VALID("\x80") && !VALID("\xc3") && !VALID("\xe8\xa1") &&
		!VALID("\xf0\x9f\x93") && !VALID("\xc3("),
	    "halves are not");
}

static void
round_trip(void)
{
	uint32_t cp, back;
	char s[4];
	size_t n;
	int bad = 0;

	for (cp = 0; cp < 0x110000; cp++) {
		if (cp >= 0xd800 && cp < 0xe000)
			continue;
		n = utf8_encode(cp, s);
		bad |= !utf8_valid(s, n) || utf8_next(s, n, &back) != n ||
		    back != cp || utf8_next(s, n - 1, &back) != 0;
	}
	ok(!bad, "every code point is encoded, valid and decoded again");
	ok(utf8_encode(0xd800, s) == 3 && memcmp(s, BAD, 3) == 0,
	    "a surrogate is written as U+FFFD");
	ok(utf8_encode(0x110000, s) == 3 && memcmp(s, BAD, 3) == 0,
	    "so is what is past the end");
}

static void
counting(void)
{
	static const char s[] = "a\xc3\xa9\xe8\xa1\xa8\xf0\x9f\x93\x8a";

	ok(utf8_count(s, sizeof(s) - 1) == 4, "four characters are four");
	ok(utf8_cut(s, 10, 10) == 10 && utf8_cut(s, 10, 20) == 10,
	    "what fits is not cut");
	ok(utf8_cut(s, 10, 9) == 6 && utf8_cut(s, 10, 7) == 6,
	    "a cut inside four bytes goes before them");
	ok(utf8_cut(s, 10, 5) == 3 && utf8_cut(s, 10, 2) == 1 &&
		utf8_cut(s, 10, 3) == 3,
	    "inside three or two bytes too");
	ok(utf8_cut(s, 10, 0) == 0, "a cut to nothing leaves nothing");
}

static void
cleaning(void)
{
	struct buf b = BUF_INIT(100);

	ok(SCRUB("good \xc3\xa9", "good \xc3\xa9"), "clean text stays");
	ok(SCRUB("a\0b\0", "ab"), "NULs go");
	ok(SCRUB("a\xff\xfe"
		 "b",
	       "a" BAD BAD "b"),
	    "bytes that begin nothing become U+FFFD each");
	ok(SCRUB("\xf0\x9f\x93", BAD), "a cut character becomes one");
	ok(SCRUB("\xed\xa0\x80", BAD BAD BAD),
	    "a surrogate becomes one a byte, as browsers do it");
	ok(SCRUB("\xe8\xa1\xe8\xa1\xa8", BAD "\xe8\xa1\xa8"),
	    "what follows a broken piece survives");
	ok(utf8_latin1(&b, "r\xe9sum\xe9\xff", 7) == 0 && b.len == 10 &&
		strcmp(b.p, "r\xc3\xa9sum\xc3\xa9\xc3\xbf") == 0,
	    "ISO-8859-1 becomes UTF-8");
	buf_free(&b);
}

int
main(void)
{

	validity();
	round_trip();
	counting();
	cleaning();
	return (done_testing());
}
