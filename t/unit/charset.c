#include <string.h>

#include "base/buf.h"
#include "base/charset.h"
#include "t/unit/tap.h"

/* Is the text at ${p} of this encoding, and does it say ${want}? */
static int
reads(const char *mime, const char *p, size_t len, enum charset_rc rc,
    const char *name, const char *want)
{
	struct buf b = BUF_INIT(1000);
	char got[CHARSET_SIZE];
	size_t used = 0;
	int same;

	same = charset_of(mime, p, len, 1, got) == rc &&
	    strcmp(got, name) == 0 &&
	    charset_put(&b, got, p, len, 1000, &used) == 0 && used == len &&
	    b.len == strlen(want) && memcmp(b.p, want, b.len) == 0;
	if (!same)
		printf("# %s, %.*s\n", got, (int)b.len, b.len > 0 ? b.p : "");
	buf_free(&b);
	return (same);
}

#define READS(mime, s, ...) reads(mime, s, sizeof(s) - 1, __VA_ARGS__)

static void
order(void)
{
	char name[CHARSET_SIZE];

	ok(READS(NULL, "\xef\xbb\xbfK\xc3\xb6ln", CHARSET_SURE, "UTF-8",
	       "K\xc3\xb6ln"),
	    "a mark decides and is no text");
	ok(READS(NULL, "\xff\xfeK\0\xf6\0", CHARSET_SURE, "UTF-16LE",
	       "K\xc3\xb6"),
	    "UTF-16, the low byte first");
	ok(READS(NULL, "\xfe\xff\0K\0\xf6", CHARSET_SURE, "UTF-16BE",
	       "K\xc3\xb6"),
	    "... the high one");
	ok(READS(NULL, "\xff\xfe\0\0K\0\0\0", CHARSET_SURE, "UTF-32LE", "K"),
	    "UTF-32 begins like UTF-16");
	ok(READS("a/b; charset=koi8-r", "K\xc3\xb6", CHARSET_SURE, "UTF-8",
	       "K\xc3\xb6"),
	    "valid UTF-8 comes before what is declared");
	ok(READS("a/b; charset=\"koi8-r\"", "\xf0", CHARSET_SURE, "koi8-r",
	       "\xd0\x9f"),
	    "what is declared comes next");
	ok(READS("a/b", "K\xf6ln", CHARSET_REST, "WINDOWS-1252", "K\xc3\xb6ln"),
	    "and then windows-1252");
	ok(READS("a/b; charset=ISO-8859-1", "\x80", CHARSET_SURE,
	       "WINDOWS-1252", "\xe2\x82\xac"),
	    "which Latin-1 is taken for");
	ok(READS("a/b; charset=no//such", "\xe9", CHARSET_REST, "WINDOWS-1252",
	       "\xc3\xa9"),
	    "a name that is not known counts as none");
	ok(READS(
	       "a/b", "a\1b\xff", CHARSET_NONE, "WINDOWS-1252", "a\1b\xc3\xbf"),
	    "a control character makes it doubtful");
	ok(charset_of("a/b", "a\0b", 3, 1, name) == CHARSET_NONE,
	    "so does a NUL");
	ok(READS("a/b", "\x81", CHARSET_NONE, "WINDOWS-1252", "\xef\xbf\xbd"),
	    "and what windows-1252 does not have");
}

static void
inside(void)
{

	ok(READS(NULL, "<?xml version='1.0' encoding='koi8-r'?>\xf0",
	       CHARSET_SURE, "koi8-r",
	       "<?xml version='1.0' encoding='koi8-r'?>\xd0\x9f"),
	    "XML declares it inside");
	ok(READS("text/html", "<meta charset=koi8-r>\xf0", CHARSET_SURE,
	       "koi8-r", "<meta charset=koi8-r>\xd0\x9f"),
	    "HTML does");
	ok(READS("text/plain", "<meta charset=koi8-r>\xf0", CHARSET_REST,
	       "WINDOWS-1252", "<meta charset=koi8-r>\xc3\xb0"),
	    "a text does not");
}

static void
cut(void)
{
	struct buf b = BUF_INIT(1000);
	char name[CHARSET_SIZE];
	size_t used;

	ok(charset_of(NULL, "ab\xe2\x82", 4, 0, name) == CHARSET_SURE &&
		strcmp(name, "UTF-8") == 0,
	    "a part may end within a letter");
	ok(charset_of(NULL, "ab\xe2\x82", 4, 1, name) == CHARSET_REST,
	    "a whole text may not");
	ok(charset_put(&b, "UTF-16LE", "a\0\xf6\0\xf6\0", 6, 4, &used) == 0 &&
		used == 4 && b.len == 3,
	    "no more is given than asked for, by whole letters");
	buf_free(&b);
	ok(charset_put(&b, "UTF-16LE",
	       "\0\xdc"
	       "a\0b",
	       5, 100, &used) == 0 &&
		used == 5 && b.len == 7 &&
		memcmp(b.p,
		    "\xef\xbf\xbd"
		    "a\xef\xbf\xbd",
		    7) == 0,
	    "what is broken costs no more than itself");
	buf_free(&b);
}

int
main(void)
{

	order();
	inside();
	cut();
	return (done_testing());
}
