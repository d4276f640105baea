#include <stdio.h>
#include <string.h>

#include "base/jset.h"
#include "base/num.h"

#include "tools/admin.h"
#include "tools/admin_print.h"

#define COLUMNS 16
#define DAY_MS 86400000ULL
#define DAYS_MAX 36500

const char *
print_time(uint64_t ms, char s[static PRINT_TIME])
{

	if (ms == 0)
		(void)snprintf(s, PRINT_TIME, "-");
	else
		clock_rfc3339(ms, s);
	return (s);
}

int
print_json(json_object *o)
{
	const char *s = NULL;

	if (o != NULL)
		s = json_object_to_json_string_ext(
		    o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
	if (s == NULL) {
		json_object_put(o);
		return (admin_fail("out of memory"));
	}
	printf("%s\n", s);
	json_object_put(o);
	return (ADMIN_OK);
}

/* How many columns of a terminal the ${len} bytes at ${s} take, about. */
static size_t
width(const char *s, size_t len)
{
	size_t i, n = 0;

	for (i = 0; i < len; i++)
		n += ((unsigned char)s[i] & 0xc0) != 0x80;
	return (n);
}

/* The widths of the columns of ${text}. */
static void
widths(const char *text, size_t wide[COLUMNS])
{
	size_t i = 0, len, n;

	for (; *text != '\0'; text += len + 1) {
		len = strcspn(text, "\t\n");
		n = width(text, len);
		if (i < COLUMNS && n > wide[i])
			wide[i] = n;
		i = text[len] == '\t' ? i + 1 : 0;
		if (text[len] == '\0')
			break;
	}
}

void
print_aligned(FILE *fp, const char *text)
{
	size_t wide[COLUMNS] = {0}, i = 0, len, n;

	widths(text, wide);
	for (; *text != '\0'; text += len + 1) {
		len = strcspn(text, "\t\n");
		fwrite(text, 1, len, fp);
		if (text[len] == '\0')
			break;
		n = width(text, len);
		if (text[len] == '\t')
			fprintf(fp, "%*s",
			    i < COLUMNS ? (int)(wide[i] - n) + 2 : 2, "");
		else
			fputc('\n', fp);
		i = text[len] == '\t' ? i + 1 : 0;
	}
}

int
print_jtime(json_object *o, const char *key, uint64_t ms)
{
	char s[PRINT_TIME];

	if (ms == 0)
		return (jnull(o, key));
	return (jset(o, key, jstr(print_time(ms, s))));
}

/* Read ${n} digits at ${*s} as a number up to ${max}, and move past them. */
static int
digits(const char **s, size_t n, uint64_t min, uint64_t max, uint64_t *x)
{
	char buf[8];

	if (n >= sizeof(buf) || strnlen(*s, n) < n)
		return (-1);
	memcpy(buf, *s, n);
	buf[n] = '\0';
	*s += n;
	return (num_u64(buf, min, max, x));
}

/* Move past ${c} at ${*s}. */
static int
mark(const char **s, char c)
{

	return (*(*s)++ == c ? 0 : -1);
}

/* Days from 1970-01-01 to the given date of the Gregorian calendar. */
static uint64_t
days(uint64_t y, uint64_t m, uint64_t d)
{
	static const uint16_t before[] = {
	    0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
	const uint64_t last = y - 1;
	int leap = (y % 4 == 0 && (y % 100 != 0 || y % 400 == 0));

	return (last * 365 + last / 4 - last / 100 + last / 400 - 719162 +
	    before[m - 1] + (m > 2 && leap) + d - 1);
}

/* Is there such a day? */
static int
day_ok(uint64_t y, uint64_t m, uint64_t d)
{

	/* The next month's first day less this one's tells its length. */
	return (d <= (m == 12 ? 31 : days(y, m + 1, 1) - days(y, m, 1)));
}

/* Fractions of a second: any number of digits, of which three count. */
static int
fraction(const char **s, uint64_t *ms)
{
	uint64_t unit = 100;

	if (**s != '.')
		return (0);
	if (*++*s < '0' || **s > '9')
		return (-1);
	for (; **s >= '0' && **s <= '9'; ++*s, unit /= 10)
		*ms += (uint64_t)(**s - '0') * unit;
	return (0);
}

/* "Z", or "+hh:mm" and "-hh:mm": milliseconds to take off. */
static int
offset(const char **s, int64_t *ms)
{
	uint64_t h, m;
	char c = *(*s)++;

	*ms = 0;
	if (c == 'Z')
		return (0);
	if ((c != '+' && c != '-') || digits(s, 2, 0, 23, &h) || mark(s, ':') ||
	    digits(s, 2, 0, 59, &m))
		return (-1);
	*ms = (int64_t)((h * 60 + m) * 60000) * (c == '+' ? 1 : -1);
	return (0);
}

static int
rfc3339(const char *s, uint64_t *out)
{
	uint64_t y, mo, d, h, mi, sec, ms = 0;
	int64_t off;

	if (digits(&s, 4, 1971, 9999, &y) || mark(&s, '-') ||
	    digits(&s, 2, 1, 12, &mo) || mark(&s, '-') ||
	    digits(&s, 2, 1, 31, &d) || mark(&s, 'T') ||
	    digits(&s, 2, 0, 23, &h) || mark(&s, ':') ||
	    digits(&s, 2, 0, 59, &mi) || mark(&s, ':') ||
	    digits(&s, 2, 0, 59, &sec) || fraction(&s, &ms) ||
	    offset(&s, &off) || *s != '\0' || !day_ok(y, mo, d))
		return (-1);
	ms += (days(y, mo, d) * 86400 + h * 3600 + mi * 60 + sec) * 1000;
	*out = (uint64_t)((int64_t)ms - off);
	return (0);
}

int
time_parse(const char *s, uint64_t now, uint64_t *ms)
{
	char buf[8];
	size_t len = strlen(s);
	uint64_t n;

	if (*s != '+')
		return (rfc3339(s, ms));
	if (len < 3 || len - 2 >= sizeof(buf) || s[len - 1] != 'd')
		return (-1);
	memcpy(buf, s + 1, len - 2);
	buf[len - 2] = '\0';
	if (num_u64(buf, 0, DAYS_MAX, &n))
		return (-1);
	*ms = now + n * DAY_MS;
	return (0);
}
