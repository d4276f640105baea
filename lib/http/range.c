#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "http/range.h"

/* Fronts compute in signed 64 bits and refuse larger numbers. */
#define BIG 1000000000000000000ULL

static const char *
skip_space(const char *s)
{

	return (s + strspn(s, " \t"));
}

/*
 * Read one entity-tag at *${s} and move past it: set ${tag} and ${len} to it
 * with its quotes.  Return 1 if it is weak, 0 if strong, -1 if it is none.
 */
static int
read_tag(const char **s, const char **tag, size_t *len)
{
	const char *end;
	int weak = 0;

	if (strncmp(*s, "W/", 2) == 0) {
		weak = 1;
		*s += 2;
	}
	if (**s != '"' || (end = strchr(*s + 1, '"')) == NULL)
		return (-1);
	*tag = *s;
	*len = (size_t)(end + 1 - *s);
	*s = end + 1;
	return (weak);
}

/* Does the list ${s} hold ${etag}, a weak one counting if ${weak_too}? */
static int
tag_listed(const char *s, const char *etag, int weak_too)
{
	size_t len, want = strlen(etag);
	const char *tag;
	int weak;

	s = skip_space(s);
	if (s[0] == '*' && *skip_space(s + 1) == '\0')
		return (1);
	while (*s != '\0') {
		if ((weak = read_tag(&s, &tag, &len)) == -1)
			return (0);
		if (len == want && memcmp(tag, etag, len) == 0 &&
		    (weak_too || !weak))
			return (1);
		s = skip_space(s);
		if (*s != ',' && *s != '\0')
			return (0);
		while (*s == ',')
			s = skip_space(s + 1);
	}
	return (0);
}

/* May the range be honoured, as far as If-Range goes? */
static int
if_range_holds(const char *s, const struct range_file *f)
{
	const char *tag;
	uint64_t date;
	size_t len;

	s = skip_space(s);
	if (clock_http_parse(s, &date) == 0)
		return (date == f->modified);
	return (read_tag(&s, &tag, &len) == 0 && *skip_space(s) == '\0' &&
	    len == strlen(f->etag) && memcmp(tag, f->etag, len) == 0);
}

/*
 * Read the digits at *${s} and move past them; a number too big becomes the
 * biggest.  Return how many there were.
 */
static size_t
read_number(const char **s, uint64_t *x)
{
	size_t i, n = strspn(*s, "0123456789");
	uint64_t d;

	for (i = 0, *x = 0; i < n; i++) {
		d = (uint64_t)((*s)[i] - '0');
		*x = *x > (UINT64_MAX - d) / 10 ? UINT64_MAX : *x * 10 + d;
	}
	*s += n;
	return (n);
}

/* A range as it was asked for. */
struct asked {
	uint64_t first, last; /* last UINT64_MAX: to the end. */
	int suffix;           /* The last ${last} bytes. */
	int simple;
};

/* Read "bytes=" and one range, nothing else; -1 if ${s} is not that. */
static int
read_range(const char *s, struct asked *a)
{
	int has_first, has_last;

	a->simple = strpbrk(s, " \t") == NULL;
	s = skip_space(s);
	if (strncasecmp(s, "bytes=", 6) != 0)
		return (-1);
	s = skip_space(s + 6);
	has_first = read_number(&s, &a->first) > 0;
	if (*s++ != '-')
		return (-1);
	has_last = read_number(&s, &a->last) > 0;
	if (*skip_space(s) != '\0' || (!has_first && !has_last))
		return (-1);
	if (a->first > BIG || a->last > BIG)
		a->simple = 0;
	a->suffix = !has_first;
	if (!has_last)
		a->last = UINT64_MAX;
	return (has_first && a->first > a->last ? -1 : 0);
}

static enum range_rc
apply(const char *range, const struct range_file *f, struct range_part *part)
{
	struct asked a;

	if (read_range(range, &a))
		return (RANGE_WHOLE);
	if (a.suffix) {
		if (a.last == 0)
			return (RANGE_UNSATISFIABLE);
		if (f->size == 0)
			return (RANGE_WHOLE);
		a.first = a.last < f->size ? f->size - a.last : 0;
		a.last = UINT64_MAX;
	}
	if (a.first >= f->size)
		return (RANGE_UNSATISFIABLE);
	part->first = a.first;
	part->last = a.last < f->size ? a.last : f->size - 1;
	part->simple = a.simple;
	return (RANGE_PART);
}

enum range_rc
range_judge(const struct range_ask *ask, const struct range_file *f,
    struct range_part *part)
{
	enum range_rc rc;
	uint64_t t;

	if (ask->if_match != NULL) {
		if (!tag_listed(ask->if_match, f->etag, 0))
			return (RANGE_PRECONDITION);
	} else if (clock_http_parse(ask->if_unmodified_since, &t) == 0) {
		if (f->modified > t)
			return (RANGE_PRECONDITION);
	}
	if (ask->if_none_match != NULL) {
		if (tag_listed(ask->if_none_match, f->etag, 1))
			return (RANGE_NOT_MODIFIED);
	} else if (clock_http_parse(ask->if_modified_since, &t) == 0) {
		if (f->modified <= t)
			return (RANGE_NOT_MODIFIED);
	}
	if (ask->range == NULL ||
	    (ask->if_range != NULL && !if_range_holds(ask->if_range, f)))
		return (RANGE_WHOLE);
	rc = apply(ask->range, f, part);
	if (rc == RANGE_PART && ask->if_range != NULL)
		part->simple = 0;
	return (rc);
}
