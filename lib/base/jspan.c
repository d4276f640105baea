#include <stdint.h>
#include <string.h>

#include "base/jspan.h"
#include "base/utf8.h"

/* What must come next. */
enum want { WANT_VALUE, WANT_FIRST, WANT_KEY, WANT_MORE };

struct scan {
	const char *p, *end;
	unsigned int depth, max;
	char open[JSPAN_DEPTH_MAX]; /* '{' or '[' of each level. */
	struct jspan_info *info;
};

static void
skip_space(struct scan *s)
{

	while (s->p < s->end &&
	    (*s->p == ' ' || *s->p == '\t' || *s->p == '\n' || *s->p == '\r'))
		s->p++;
}

static int
is_digit(const struct scan *s)
{

	return (s->p < s->end && *s->p >= '0' && *s->p <= '9');
}

static int
is_hex(char c)
{

	return (
	    (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f'));
}

/* Pass an escape; note in ${nul} if it is \u0000. */
static int
check_escape(struct scan *s, int *nul)
{
	size_t i;

	if (s->end - s->p < 2)
		return (-1);
	if (s->p[1] != 'u') {
		if (s->p[1] == '\0' || strchr("\"\\/bfnrt", s->p[1]) == NULL)
			return (-1);
		s->p += 2;
		return (0);
	}
	if (s->end - s->p < 6)
		return (-1);
	for (i = 2; i < 6; i++)
		if (!is_hex(s->p[i])) {
			s->p += i;
			return (-1);
		}
	if (memcmp(s->p + 2, "0000", 4) == 0)
		*nul = 1;
	s->p += 6;
	return (0);
}

static int
check_string(struct scan *s, int *nul)
{
	unsigned char c;
	uint32_t cp;
	size_t n;

	if (s->p == s->end || *s->p != '"')
		return (-1);
	for (s->p++; s->p < s->end;) {
		c = (unsigned char)*s->p;
		if (c == '"') {
			s->p++;
			return (0);
		}
		if (c < 0x20)
			return (-1);
		if (c == '\\') {
			if (check_escape(s, nul))
				return (-1);
		} else if (c < 0x80) {
			s->p++;
		} else {
			n = utf8_next(s->p, (size_t)(s->end - s->p), &cp);
			if (n == 0)
				return (-1);
			s->p += n;
		}
	}
	return (-1);
}

/* At least one digit. */
static int
check_digits(struct scan *s)
{

	if (!is_digit(s))
		return (-1);
	while (is_digit(s))
		s->p++;
	return (0);
}

static int
check_number(struct scan *s)
{

	if (s->p < s->end && *s->p == '-')
		s->p++;
	if (s->p < s->end && *s->p == '0')
		s->p++;
	else if (check_digits(s))
		return (-1);
	if (s->p < s->end && *s->p == '.') {
		s->p++;
		if (check_digits(s))
			return (-1);
	}
	if (s->p < s->end && (*s->p == 'e' || *s->p == 'E')) {
		s->p++;
		if (s->p < s->end && (*s->p == '+' || *s->p == '-'))
			s->p++;
		if (check_digits(s))
			return (-1);
	}
	return (0);
}

static int
check_word(struct scan *s)
{
	static const char *const words[] = {"true", "false", "null"};
	size_t i, len;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		len = strlen(words[i]);
		if ((size_t)(s->end - s->p) >= len &&
		    memcmp(s->p, words[i], len) == 0) {
			s->p += len;
			return (0);
		}
	}
	return (-1);
}

static int
check_key(struct scan *s)
{
	const char *key = s->p;
	int nul = 0;

	if (check_string(s, &nul))
		return (-1);
	if (nul && s->info->nul_key == NULL)
		s->info->nul_key = key;
	skip_space(s);
	if (s->p == s->end || *s->p != ':')
		return (-1);
	s->p++;
	return (0);
}

/* Pass a scalar, or go into an array or object. */
static enum jspan_rc
check_value(struct scan *s, enum want *want)
{
	int nul, rc;

	*want = WANT_MORE;
	s->info->values++;
	if (s->p == s->end)
		return (JSPAN_SYNTAX);
	switch (*s->p) {
	case '{':
	case '[':
		if (s->depth == s->max)
			return (JSPAN_DEPTH);
		s->open[s->depth++] = *s->p++;
		*want = WANT_FIRST;
		return (JSPAN_OK);
	case '"':
		rc = check_string(s, &nul);
		break;
	case 't':
	case 'f':
	case 'n':
		rc = check_word(s);
		break;
	default:
		rc = check_number(s);
		break;
	}
	return (rc ? JSPAN_SYNTAX : JSPAN_OK);
}

/* What stands at ${p} ends the innermost array or object: leave it. */
static int
leave(struct scan *s)
{

	if (s->p == s->end || *s->p != s->open[s->depth - 1] + 2)
		return (0);
	s->p++;
	s->depth--;
	return (1);
}

static enum jspan_rc
check_step(struct scan *s, enum want *want)
{
	enum want inside;

	if (*want == WANT_VALUE)
		return (check_value(s, want));
	if (*want == WANT_KEY) {
		*want = WANT_VALUE;
		return (check_key(s) ? JSPAN_SYNTAX : JSPAN_OK);
	}
	inside = s->open[s->depth - 1] == '{' ? WANT_KEY : WANT_VALUE;
	if (leave(s)) {
		*want = WANT_MORE;
	} else if (*want == WANT_FIRST) {
		*want = inside;
	} else {
		if (s->p == s->end || *s->p != ',')
			return (JSPAN_SYNTAX);
		s->p++;
		*want = inside;
	}
	return (JSPAN_OK);
}

enum jspan_rc
jspan_check(
    const char *text, size_t len, unsigned int depth, struct jspan_info *info)
{
	struct scan s = {.p = text, .end = text + len, .info = info};
	enum want want = WANT_VALUE;
	enum jspan_rc rc;

	s.max = depth < JSPAN_DEPTH_MAX ? depth : JSPAN_DEPTH_MAX;
	*info = (struct jspan_info){0};
	skip_space(&s);
	info->root.p = s.p;
	do {
		skip_space(&s);
		rc = check_step(&s, &want);
	} while (rc == JSPAN_OK && (want != WANT_MORE || s.depth > 0));
	info->root.len = (size_t)(s.p - info->root.p);
	if (rc == JSPAN_OK) {
		skip_space(&s);
		if (s.p != s.end)
			rc = JSPAN_SYNTAX;
	}
	info->at = (size_t)(s.p - text);
	return (rc);
}
