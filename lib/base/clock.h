#ifndef BASE_CLOCK_H_
#define BASE_CLOCK_H_

#include <stdint.h>

/* Times are Unix times, UTC; a time past the year 9999 prints as its end. */

#define CLOCK_RFC3339_SIZE 25 /* "2026-01-02T03:04:05.678Z" and a NUL. */
#define CLOCK_HTTP_SIZE 30    /* "Fri, 02 Jan 2026 03:04:05 GMT" and a NUL. */

/**
 * clock_ms():
 * Milliseconds on a clock that only goes forward; for measuring and deadlines.
 */
uint64_t clock_ms(void);

/**
 * clock_unix_ms():
 * This machine's wall clock in Unix milliseconds.  For logs: whatever decides
 * about a row takes the database's time.
 */
uint64_t clock_unix_ms(void);

/**
 * clock_rfc3339(ms, s):
 * Write the Unix milliseconds ${ms} as RFC 3339 text with milliseconds and 'Z'.
 */
void clock_rfc3339(uint64_t, char[static CLOCK_RFC3339_SIZE]);

/**
 * clock_http(t, s):
 * Write the Unix seconds ${t} as an HTTP date (IMF-fixdate).
 */
void clock_http(uint64_t, char[static CLOCK_HTTP_SIZE]);

/**
 * clock_http_parse(s, t):
 * Read all of ${s} as an IMF-fixdate of 1970 or later, its day of the week
 * included, into the Unix seconds ${t}.  Return 0, or -1 with ${t} untouched.
 */
int clock_http_parse(const char *, uint64_t *);

#endif /* !BASE_CLOCK_H_ */
