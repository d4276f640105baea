#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "t/unit/tap.h"

static int
rfc3339_is(uint64_t ms, const char *want)
{
	char s[CLOCK_RFC3339_SIZE];

	clock_rfc3339(ms, s);
	return (strcmp(s, want) == 0);
}

static int
http_is(uint64_t t, const char *want)
{
	char s[CLOCK_HTTP_SIZE];

	clock_http(t, s);
	return (strcmp(s, want) == 0);
}

static int
parses_to(const char *s, uint64_t want)
{
	uint64_t t = 7;

	return (clock_http_parse(s, &t) == 0 && t == want);
}

static int
refused(const char *s)
{
	uint64_t t = 7;

	return (clock_http_parse(s, &t) == -1 && t == 7);
}

static void
printing(void)
{

	ok(rfc3339_is(0, "1970-01-01T00:00:00.000Z"), "the epoch");
	ok(rfc3339_is(1767225600123, "2026-01-01T00:00:00.123Z"),
	    "milliseconds print with three digits");
	ok(rfc3339_is(951782400007, "2000-02-29T00:00:00.007Z"),
	    "a leap day in a century year");
	ok(rfc3339_is(UINT64_MAX, "9999-12-31T23:59:59.999Z"),
	    "a time past the year 9999 prints as its end");
	ok(http_is(784111777, "Sun, 06 Nov 1994 08:49:37 GMT"),
	    "the date that RFC 9110 shows");
	ok(http_is(UINT64_MAX, "Fri, 31 Dec 9999 23:59:59 GMT"),
	    "an HTTP date past the year 9999 prints as its end");
}

static void
parsing(void)
{

	ok(parses_to("Sun, 06 Nov 1994 08:49:37 GMT", 784111777),
	    "an IMF-fixdate is read");
	ok(parses_to("Thu, 01 Jan 1970 00:00:00 GMT", 0), "so is the epoch");
	ok(parses_to("Tue, 29 Feb 2000 12:00:00 GMT", 951825600),
	    "so is a leap day");
	ok(refused("Mon, 06 Nov 1994 08:49:37 GMT"), "a wrong day of the week");
	ok(refused("Wed, 31 Feb 2026 00:00:00 GMT"), "a day that is not");
	ok(refused("Sun, 06 Nov 1994 24:00:00 GMT"), "hour 24");
	ok(refused("Sun, 06 Nov 1994 08:49:37 CET"), "another zone");
	ok(refused("Sun, 06 nov 1994 08:49:37 GMT"),
	    "a month in small letters");
	ok(refused("Sun, 06 Nov 1994 08:49:37 GMT "), "a space behind");
	ok(refused("Sun, +6 Nov 1994 08:49:37 GMT"), "a sign for a digit");
	ok(refused("Sunday, 06-Nov-94 08:49:37 GMT"), "the form of RFC 850");
	ok(refused("Wed, 31 Dec 1969 23:59:59 GMT"), "before the epoch");
	ok(refused("") && refused(NULL), "nothing");
}

static void
running(void)
{
	uint64_t a = clock_ms(), wall = clock_unix_ms();
	const struct timespec nap = {0, 20000000};

	(void)nanosleep(&nap, NULL);
	ok(clock_ms() - a >= 20 && clock_ms() - a < 5000,
	    "the clock counts milliseconds");
	ok(wall / 1000 <= (uint64_t)time(NULL) &&
		wall / 1000 + 5 > (uint64_t)time(NULL),
	    "the wall clock agrees with time()");
}

int
main(void)
{

	printing();
	parsing();
	running();
	return (done_testing());
}
