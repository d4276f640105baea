#include <string.h>

#include "base/conf_row.h"
#include "base/yamlplain.h"

/*
 * What the YAML library could not read, in words for people who write settings:
 * it names rules of YAML, and a quote or an indent far away from the mistake.
 */

/* The next line of what is left of a text. */
static int
take_line(const char **p, const char *end, const char **line, size_t *len)
{
	const char *nl;

	if (*p >= end)
		return (0);
	if ((nl = memchr(*p, '\n', (size_t)(end - *p))) == NULL)
		nl = end;
	*line = *p;
	*len = (size_t)(nl - *p);
	*p = nl + 1;
	return (1);
}

/* Does a quote begin on this line that does not end on it? */
static int
quote_open(const char *s, size_t len)
{
	char quote = '\0', before = ' ';
	size_t i;

	for (i = 0; i < len; before = s[i++]) {
		if (quote != '\0') {
			if (quote == '"' && s[i] == '\\' && i + 1 < len)
				i++;
			else if (s[i] == quote)
				quote = '\0';
		} else if (s[i] == '#' && before == ' ')
			break;
		else if ((s[i] == '"' || s[i] == '\'') &&
		    strchr(" [{,", before) != NULL)
			quote = s[i];
	}
	return (quote != '\0');
}

/* The first line up to ${last} with a quote that does not end on it; or 0. */
static size_t
find_quote(const char *text, size_t len, size_t last)
{
	const char *p = text, *line;
	size_t n, at;

	for (at = 1; at <= last && take_line(&p, text + len, &line, &n); at++)
		if (quote_open(line, n))
			return (at);
	return (0);
}

/* The first line that sets anything; or 0. */
static size_t
first_setting(const char *text, size_t len)
{
	const char *p = text, *line;
	size_t n, at, i;

	for (at = 1; take_line(&p, text + len, &line, &n); at++) {
		for (i = 0; i < n && line[i] == ' '; i++)
			continue;
		if (i < n && line[i] != '#' && line[i] != '\r' &&
		    strncmp(line, "---", 3) != 0)
			return (at);
	}
	return (0);
}

/* Is ${word} in ${text}, which may be NULL? */
static int
says(const char *text, const char *word)
{

	return (text != NULL && strstr(text, word) != NULL);
}

int
conf_broken(struct conf_in *in, const char *key, const yaml_parser_t *ps,
    const char *text, size_t len)
{
	size_t line = ps->problem_mark.line + 1, at;

	in->line = line;
	if (ps->problem == NULL)
		return (conf_fail(in, NULL, key, "out of memory"));
	if ((at = find_quote(text, len, line)) != 0) {
		in->line = at;
		return (conf_fail(in, NULL, key,
		    "broken YAML: a quote that begins on this line does not "
		    "end on it"));
	}
	if (says(ps->context, "alias"))
		return (conf_fail(in, NULL, key,
		    "a value that begins with * must be in quotes: \"*\""));
	if (says(ps->problem, "<document start>") &&
	    (at = first_setting(text, len)) != 0 && at < line)
		return (conf_fail(in, NULL, key,
		    "broken YAML: line %zu is indented less than line %zu, "
		    "where the settings begin; indent both alike",
		    line, at));
	if (says(ps->problem, "mapping values are not allowed"))
		return (conf_fail(in, NULL, key,
		    "broken YAML: a key cannot begin in the middle of a line; "
		    "give each a line of its own"));
	return (conf_fail(in, NULL, key, "broken YAML: %s", ps->problem));
}
