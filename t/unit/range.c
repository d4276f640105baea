#include <string.h>

#include "http/range.h"
#include "t/unit/tap.h"

#define TAG "\"sha256-ab\""
#define DATE "Sun, 06 Nov 1994 08:49:37 GMT"
#define EARLIER "Sun, 06 Nov 1994 08:49:36 GMT"
#define LATER "Sun, 06 Nov 1994 08:49:38 GMT"

static struct range_file file = {TAG, 784111777, 10};

static int
is(struct range_ask ask, enum range_rc want)
{
	struct range_part part;

	return (range_judge(&ask, &file, &part) == want);
}

#define ASK(...) ((struct range_ask){__VA_ARGS__})

static int
part(const char *range, uint64_t first, uint64_t last)
{
	struct range_part p = {0};

	return (range_judge(&ASK(.range = range), &file, &p) == RANGE_PART &&
	    p.first == first && p.last == last);
}

static int
simple(const char *range)
{
	struct range_part p = {0};

	return (range_judge(&ASK(.range = range), &file, &p) == RANGE_PART &&
	    p.simple);
}

static void
ranges(void)
{

	ok(is(ASK(0), RANGE_WHOLE), "without headers the whole");
	ok(part("bytes=1-2", 1, 2) && part("bytes=0-0", 0, 0) &&
		part("bytes=9-9", 9, 9),
	    "first to last, both included");
	ok(part("bytes=2-", 2, 9) && part("bytes=0-", 0, 9), "to the end");
	ok(part("bytes=-3", 7, 9) && part("bytes=-1", 9, 9), "the last bytes");
	ok(part("bytes=-11", 0, 9) && part("bytes=5-99", 5, 9) &&
		part("bytes=0-99999999999999999999999", 0, 9),
	    "more than there is gives what there is");
	ok(is(ASK(.range = "bytes=10-"), RANGE_UNSATISFIABLE) &&
		is(ASK(.range = "bytes=10-11"), RANGE_UNSATISFIABLE) &&
		is(ASK(.range = "bytes=99999999999999999999999-"),
		    RANGE_UNSATISFIABLE) &&
		is(ASK(.range = "bytes=-0"), RANGE_UNSATISFIABLE),
	    "a start past the end, or nothing at all, cannot be had");
	ok(is(ASK(.range = "bytes=5-2"), RANGE_WHOLE) &&
		is(ASK(.range = "bytes=x"), RANGE_WHOLE) &&
		is(ASK(.range = "items=0-1"), RANGE_WHOLE) &&
		is(ASK(.range = "bytes=-"), RANGE_WHOLE) &&
		is(ASK(.range = "bytes="), RANGE_WHOLE) &&
		is(ASK(.range = "bytes=1"), RANGE_WHOLE) &&
		is(ASK(.range = "bytes=1-2x"), RANGE_WHOLE) &&
		is(ASK(.range = "bytes=+1-2"), RANGE_WHOLE) &&
		is(ASK(.range = ""), RANGE_WHOLE),
	    "what is no range is ignored");
	ok(is(ASK(.range = "bytes=0-1,3-4"), RANGE_WHOLE) &&
		is(ASK(.range = "bytes=0-1,"), RANGE_WHOLE) &&
		is(ASK(.range = "bytes=50-,0-1"), RANGE_WHOLE),
	    "several ranges give the whole");
	ok(part(" Bytes= 1-2 ", 1, 2), "space and letter case do not matter");
	file.size = 3;
	ok(part("bytes=-5", 0, 2), "the last five of three are all");
	file.size = 0;
	ok(is(ASK(.range = "bytes=0-"), RANGE_UNSATISFIABLE) &&
		is(ASK(.range = "bytes=-5"), RANGE_WHOLE),
	    "an empty file has no parts");
	file.size = 10;
}

static void
simple_ones(void)
{
	struct range_part p = {0};

	ok(simple("bytes=1-2") && simple("bytes=1-") && simple("bytes=-2"),
	    "single ranges are simple");
	ok(!simple("bytes= 1-2") && !simple("bytes=1-2 "),
	    "with space they are not");
	ok(!simple("bytes=0-99999999999999999999") &&
		simple("bytes=0-999999999999999999"),
	    "nor with numbers past 64 bits");
	ok(range_judge(&ASK(.range = "bytes=1-2", .if_range = TAG), &file,
	       &p) == RANGE_PART &&
		!p.simple,
	    "nor under If-Range");
}

static void
matching(void)
{

	ok(is(ASK(.if_match = TAG), RANGE_WHOLE) &&
		is(ASK(.if_match = "*"), RANGE_WHOLE) &&
		is(ASK(.if_match = "\"x\", " TAG), RANGE_WHOLE),
	    "If-Match with the tag, a list of it, or *");
	ok(is(ASK(.if_match = "\"x\""), RANGE_PRECONDITION) &&
		is(ASK(.if_match = "W/" TAG), RANGE_PRECONDITION) &&
		is(ASK(.if_match = "sha256-ab"), RANGE_PRECONDITION) &&
		is(ASK(.if_match = ""), RANGE_PRECONDITION),
	    "with another, a weak one or nonsense it fails");
	ok(is(ASK(.if_unmodified_since = DATE), RANGE_WHOLE) &&
		is(ASK(.if_unmodified_since = LATER), RANGE_WHOLE) &&
		is(ASK(.if_unmodified_since = EARLIER), RANGE_PRECONDITION),
	    "If-Unmodified-Since fails when the file is newer");
	ok(is(ASK(.if_unmodified_since = "yesterday"), RANGE_WHOLE),
	    "what is no date is ignored");
	ok(is(ASK(.if_match = TAG, .if_unmodified_since = EARLIER),
	       RANGE_WHOLE),
	    "beside If-Match it does not count");
	ok(is(ASK(.if_none_match = TAG), RANGE_NOT_MODIFIED) &&
		is(ASK(.if_none_match = "*"), RANGE_NOT_MODIFIED) &&
		is(ASK(.if_none_match = "W/" TAG), RANGE_NOT_MODIFIED) &&
		is(ASK(.if_none_match = "W/\"a\" ,\t\"b,c\",," TAG ", \"d\""),
		    RANGE_NOT_MODIFIED),
	    "If-None-Match with the tag, a weak one, a list or *");
	ok(is(ASK(.if_none_match = "\"x\""), RANGE_WHOLE) &&
		is(ASK(.if_none_match = "\"sha256-ab"), RANGE_WHOLE) &&
		is(ASK(.if_none_match = "\"x\" " TAG), RANGE_WHOLE),
	    "another or a broken one gives the whole");
	ok(is(ASK(.if_modified_since = DATE), RANGE_NOT_MODIFIED) &&
		is(ASK(.if_modified_since = LATER), RANGE_NOT_MODIFIED) &&
		is(ASK(.if_modified_since = EARLIER), RANGE_WHOLE),
	    "If-Modified-Since when the file is not newer");
	ok(is(ASK(.if_none_match = "\"x\"", .if_modified_since = LATER),
	       RANGE_WHOLE),
	    "beside If-None-Match it does not count");
}

static void
order(void)
{

	ok(is(ASK(.if_match = "\"x\"", .if_none_match = TAG),
	       RANGE_PRECONDITION),
	    "If-Match comes before If-None-Match");
	ok(is(ASK(.if_none_match = TAG, .range = "bytes=99-"),
	       RANGE_NOT_MODIFIED),
	    "If-None-Match before Range");
	ok(is(ASK(.if_range = TAG, .range = "bytes=1-2"), RANGE_PART) &&
		is(ASK(.if_range = DATE, .range = "bytes=1-2"), RANGE_PART),
	    "If-Range with the tag or the exact date honours the range");
	ok(is(ASK(.if_range = "\"old\"", .range = "bytes=1-2"), RANGE_WHOLE) &&
		is(ASK(.if_range = "W/" TAG, .range = "bytes=1-2"),
		    RANGE_WHOLE) &&
		is(ASK(.if_range = LATER, .range = "bytes=1-2"), RANGE_WHOLE) &&
		is(ASK(.if_range = TAG ", \"x\"", .range = "bytes=1-2"),
		    RANGE_WHOLE),
	    "with an old or weak tag or another date it is ignored");
	ok(is(ASK(.if_range = "\"old\"", .range = "bytes=99-"), RANGE_WHOLE),
	    "then an impossible range does no harm");
	ok(is(ASK(.if_range = "\"old\""), RANGE_WHOLE),
	    "without Range it means nothing");
}

int
main(void)
{

	ranges();
	simple_ones();
	matching();
	order();
	return (done_testing());
}
