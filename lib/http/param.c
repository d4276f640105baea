#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "http/param.h"

size_t
param_token(const char *s, size_t len)
{
	static const char others[] = "!#$%&'*+-.^_`|~";
	size_t i;

	for (i = 0; i < len; i++) {
		if ((s[i] >= '0' && s[i] <= '9') ||
		    (s[i] >= 'A' && s[i] <= 'Z') ||
		    (s[i] >= 'a' && s[i] <= 'z'))
			continue;
		if (s[i] == '\0' || strchr(others, s[i]) == NULL)
			break;
	}
	return (i);
}

static const char *
skip_space(const char *s, const char *end)
{

	while (s < end && (*s == ' ' || *s == '\t'))
		s++;
	return (s);
}

/* The value in quotes that begins at ${s}; sets ${next} behind them. */
static enum param_rc
quoted(const char *s, const char *end, struct param *p, const char **next)
{

	p->quoted = 1;
	p->value = ++s;
	for (; s < end && *s != '"'; s++) {
		if (*s == '\r' || *s == '\n')
			return (PARAM_OPEN);
		if (*s == '\\' && end - s > 1 && (s[1] == '"' || s[1] == '\\'))
			s++;
	}
	if (s == end)
		return (PARAM_OPEN);
	p->value_len = (size_t)(s - p->value);
	*next = s + 1;
	return (PARAM_OK);
}

/* The value up to space or ';' that begins at ${s}. */
static void
bare(const char *s, const char *end, struct param *p, const char **next)
{

	p->quoted = 0;
	p->value = s;
	while (s < end && *s != ';' && *s != ' ' && *s != '\t')
		s++;
	p->value_len = (size_t)(s - p->value);
	*next = s;
}

enum param_rc
param_next(const char **at, const char *end, struct param *p)
{
	const char *s;
	enum param_rc rc;

	if ((s = skip_space(*at, end)) == end)
		return (PARAM_END);
	if (*s != ';')
		return (PARAM_BROKEN);
	while (s < end && *s == ';')
		s = skip_space(s + 1, end);
	if (s == end)
		return (PARAM_END);

	p->name = s;
	p->name_len = param_token(s, (size_t)(end - s));
	s = skip_space(s + p->name_len, end);
	if (p->name_len == 0 || s == end || *s != '=')
		return (PARAM_BROKEN);
	s = skip_space(s + 1, end);
	if (s < end && *s == '"') {
		if ((rc = quoted(s, end, p, at)) != PARAM_OK)
			return (rc);
	} else {
		bare(s, end, p, at);
	}
	return (PARAM_OK);
}

int
param_is(const struct param *p, const char *name)
{

	return (strlen(name) == p->name_len &&
	    strncasecmp(name, p->name, p->name_len) == 0);
}

int
param_value(struct buf *b, const struct param *p)
{
	size_t i, start = 0;

	for (i = 0; p->quoted && i + 1 < p->value_len; i++) {
		if (p->value[i] != '\\' ||
		    (p->value[i + 1] != '"' && p->value[i + 1] != '\\'))
			continue;
		if (buf_put(b, p->value + start, i - start))
			return (-1);
		start = ++i;
	}
	return (buf_put(b, p->value + start, p->value_len - start));
}
