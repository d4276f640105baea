#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

#define LAST_SECOND 253402300799ULL /* Of the year 9999. */

static const char days[7][4] = {
    "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
static const char months[12][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

static uint64_t
read_ms(clockid_t which)
{
	struct timespec ts;

	/* Cannot fail: both clocks exist on every Linux. */
	(void)clock_gettime(which, &ts);
	return ((uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000);
}

uint64_t
clock_ms(void)
{

	return (read_ms(CLOCK_MONOTONIC));
}

uint64_t
clock_unix_ms(void)
{

	return (read_ms(CLOCK_REALTIME));
}

static void
split(uint64_t t, struct tm *tm)
{
	time_t s;

	s = (time_t)(t > LAST_SECOND ? LAST_SECOND : t);
	(void)gmtime_r(&s, tm);
}

void
clock_rfc3339(uint64_t ms, char s[static CLOCK_RFC3339_SIZE])
{
	/* Kept: the C library reckons a date under a lock of all threads, and
	 * every line of the log has one, mostly of the same second. */
	static __thread struct {
		uint64_t second;
		char date[21];
	} last;
	struct tm tm;

	if (ms / 1000 > LAST_SECOND)
		ms = LAST_SECOND * 1000 + 999;
	if (last.date[0] == '\0' || last.second != ms / 1000) {
		last.second = ms / 1000;
		split(last.second, &tm);
		(void)strftime(
		    last.date, sizeof(last.date), "%Y-%m-%dT%H:%M:%S", &tm);
	}
	ms %= 1000;
	memcpy(s, last.date, 19);
	s[19] = '.';
	s[20] = (char)('0' + ms / 100);
	s[21] = (char)('0' + ms / 10 % 10);
	s[22] = (char)('0' + ms % 10);
	memcpy(s + 23, "Z", 2);
}

void
clock_http(uint64_t t, char s[static CLOCK_HTTP_SIZE])
{
	struct tm tm;
	char date[5], hms[9];

	split(t, &tm);
	(void)strftime(date, sizeof(date), "%Y", &tm);
	(void)strftime(hms, sizeof(hms), "%H:%M:%S", &tm);
	(void)snprintf(s, CLOCK_HTTP_SIZE, "%s, %02u %s %s %s GMT",
	    days[tm.tm_wday], (unsigned int)tm.tm_mday % 100, months[tm.tm_mon],
	    date, hms);
}

/* The ${n} digits at ${s}, which the caller knows to be inside a string. */
static int
digits(const char *s, int n)
{
	int x = 0;

	for (; n > 0; n--, s++) {
		if (!isdigit((unsigned char)*s))
			return (-1);
		x = x * 10 + (*s - '0');
	}
	return (x);
}

int
clock_http_parse(const char *s, uint64_t *t)
{
	char again[CLOCK_HTTP_SIZE];
	struct tm tm = {0};
	time_t x;

	if (s == NULL || strlen(s) != CLOCK_HTTP_SIZE - 1)
		return (-1);
	for (tm.tm_mon = 0; tm.tm_mon < 12; tm.tm_mon++)
		if (memcmp(s + 8, months[tm.tm_mon], 3) == 0)
			break;
	if (tm.tm_mon == 12)
		return (-1);
	if ((tm.tm_mday = digits(s + 5, 2)) < 0 ||
	    (tm.tm_year = digits(s + 12, 4)) < 1970 ||
	    (tm.tm_hour = digits(s + 17, 2)) < 0 ||
	    (tm.tm_min = digits(s + 20, 2)) < 0 ||
	    (tm.tm_sec = digits(s + 23, 2)) < 0)
		return (-1);
	tm.tm_year -= 1900;
	x = timegm(&tm);

	/* Printing it again proves the rest: commas, weekday, 31 February. */
	clock_http((uint64_t)x, again);
	if (strcmp(s, again) != 0)
		return (-1);
	*t = (uint64_t)x;
	return (0);
}
