#include <string.h>

#include "base/buf.h"
#include "base/nfc.h"
#include "t/unit/tap.h"

static int
gives(const char *s, const char *want)
{
	struct buf b = BUF_INIT(1000);
	int same;

	same = nfc_put(&b, s, strlen(s)) == 0 && strcmp(b.p, want) == 0;
	buf_free(&b);
	return (same);
}

int
main(void)
{
	struct buf b = BUF_INIT(3);

	ok(gives("", ""), "nothing stays nothing");
	ok(gives("plain.txt", "plain.txt"), "ASCII stays");
	ok(gives("\xc3\xa9.csv", "\xc3\xa9.csv"), "a joined letter stays");
	ok(gives("e\xcc\x81.csv", "\xc3\xa9.csv"),
	    "a letter and its accent join");
	ok(gives("q\xcc\x87\xcc\xa3", "q\xcc\xa3\xcc\x87"),
	    "marks come into their order");
	ok(gives("\xe1\xb8\x8b\xcc\xa3", "\xe1\xb8\x8d\xcc\x87"),
	    "d with dot above and dot below: the lower one joins first");
	ok(gives("a\xcc\x84\xcc\x81", "\xc4\x81\xcc\x81"),
	    "a second mark of the same class is kept out by the first");
	ok(gives("a\xcc\x85\xcc\x81", "a\xcc\x85\xcc\x81"),
	    "also when that first one joins nothing");
	ok(gives("c\xcc\xb8\xcc\xa7", "\xc3\xa7\xcc\xb8"),
	    "a mark of a lower class keeps nothing out");
	ok(gives("\xcc\x87\xcc\xa3", "\xcc\xa3\xcc\x87"),
	    "marks with no letter come into order too");
	ok(gives("\xe2\x84\xab", "\xc3\x85"), "the Angstrom sign is a letter");
	ok(gives("\xe0\xa5\x98", "\xe0\xa4\x95\xe0\xa4\xbc"),
	    "what Unicode keeps apart is not joined");
	ok(gives("\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab", "\xed\x95\x9c"),
	    "three Hangul letters make a syllable");
	ok(gives("\xed\x95\x98\xe1\x86\xab", "\xed\x95\x9c"),
	    "a syllable takes its last letter");
	ok(gives("\xed\x95\x9c", "\xed\x95\x9c"), "and stays whole");
	ok(gives("\xcc\x81"
		 "e\xcc\x81",
	       "\xcc\x81\xc3\xa9"),
	    "a mark with no letter before it stays");
	ok(gives("\xe8\xa1\xa8 \xf0\x9f\x93\x8a",
	       "\xe8\xa1\xa8 \xf0\x9f\x93\x8a"),
	    "other writing stays");
	ok(nfc_put(&b, "\xcd\x80\xcd\x81", 4) == -1 && !buf_ok(&b),
	    "more than the ceiling is refused");
	buf_free(&b);
	return (done_testing());
}
