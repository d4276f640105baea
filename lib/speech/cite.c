#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/utf8.h"

#include "speech/cite.h"
#include "speech/outcome.h"

#define PATH_MOST 1200 /* "](sandbox:/mnt/data/", a path and ")". */

static struct cited *
find_path(const struct cites *cs, const char *path)
{
	struct cited *c;

	for (c = cs->first; c != NULL; c = c->next)
		if (strcmp(c->path, path) == 0)
			break;
	return (c);
}

int
cite_add(struct cites *cs, struct arena *mem, const struct outcome *o)
{
	const struct outcome_file *f;
	struct cited *c;

	for (f = o->files; f != NULL; f = f->next) {
		if (f->path == NULL)
			continue;
		if ((c = find_path(cs, f->path)) == NULL) {
			if ((c = arena_alloc(mem, sizeof(*c))) == NULL ||
			    (c->path = arena_strndup(
				 mem, f->path, strlen(f->path))) == NULL)
				return (-1);
			if (cs->end == NULL)
				cs->end = &cs->first;
			*cs->end = c;
			cs->end = &c->next;
		}
		if ((c->id = arena_strndup(mem, f->id, strlen(f->id))) == NULL)
			return (-1);
	}
	return (0);
}

const char *
cite_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return (slash != NULL ? slash + 1 : path);
}

static int
is_word(char c)
{

	return ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') || c == '_' || c == '-');
}

/* Do the ${len} bytes at ${p} in ${x} stand for themselves, not as a piece of a
 * longer name?  A full stop may be the sentence's. */
static int
stands_alone(struct text x, const char *p, size_t len)
{
	const char *end = p + len, *stop = x.p + x.len;

	if (p > x.p && (is_word(p[-1]) || p[-1] == '.'))
		return (0);
	if (end == stop)
		return (1);
	if (*end == '.' || *end == '/')
		return (end + 1 == stop || !is_word(end[1]));
	return (!is_word(*end));
}

static int
hex(char c)
{

	return (c >= '0' && c <= '9'   ? c - '0'
		: c >= 'a' && c <= 'f' ? c - 'a' + 10
		: c >= 'A' && c <= 'F' ? c - 'A' + 10
				       : -1);
}

/* How many bytes at ${p} say ${what}, any of it percent-encoded, as models
 * write it in links; 0 if they do not. */
static size_t
says(const char *p, const char *end, const char *what)
{
	const char *from = p;

	for (; *what != '\0'; what++) {
		if (p < end && *p == *what) {
			p++;
			continue;
		}
		if (end - p < 3 || *p != '%' || hex(p[1]) < 0 ||
		    hex(p[2]) < 0 ||
		    (char)(hex(p[1]) * 16 + hex(p[2])) != *what)
			return (0);
		p += 3;
	}
	return ((size_t)(p - from));
}

/* The first place of ${what} in ${x}, alone or as it comes, and its ${len};
 * NULL if there is none. */
static const char *
place(struct text x, const char *what, int alone, size_t *len)
{
	const char *p, *end = x.p + x.len;

	for (p = x.p; p < end; p++)
		if ((*p == *what || *p == '%') &&
		    (*len = says(p, end, what)) > 0 &&
		    (!alone || stands_alone(x, p, *len)))
			return (p);
	return (NULL);
}

/* The bracket that opens the link whose text ends before ${end}. */
static const char *
link_begin(struct text x, const char *end)
{
	const char *p;
	int depth = 1;

	for (p = end; p > x.p;) {
		p--;
		if (*p == '\n')
			break;
		depth += *p == ']' ? 1 : *p == '[' ? -1 : 0;
		if (depth == 0)
			return (p);
	}
	return (NULL);
}

static int
find_link(struct text x, const char *path, const char **begin, const char **end)
{
	static const char *const before[] = {
	    "](sandbox:/mnt/data/", "](/mnt/data/"};
	char what[PATH_MOST];
	const char *p;
	size_t i, len;

	for (i = 0; i < 2; i++) {
		(void)snprintf(what, sizeof(what), "%s%s)", before[i], path);
		if ((p = place(x, what, 0, &len)) != NULL &&
		    (*begin = link_begin(x, p)) != NULL) {
			*end = p + len;
			return (1);
		}
	}
	return (0);
}

static int
find_bare(struct text x, const char *path, const char **begin, const char **end)
{
	static const char *const before[] = {
	    "sandbox:/mnt/data/", "/mnt/data/", ""};
	char what[PATH_MOST];
	size_t i, len;

	for (i = 0; i < 3; i++) {
		(void)snprintf(what, sizeof(what), "%s%s", before[i],
		    i < 2 ? path : cite_name(path));
		if ((*begin = place(x, what, 1, &len)) != NULL) {
			*end = *begin + len;
			return (1);
		}
	}
	return (0);
}

void
cite_find(struct text x, const char *path, struct cite_range *r)
{
	const char *begin, *end;

	if (x.len > 0 && path[0] != '\0' && strlen(path) < PATH_MOST - 32 &&
	    (find_link(x, path, &begin, &end) ||
		find_bare(x, path, &begin, &end))) {
		r->start = utf8_count(x.p, (size_t)(begin - x.p));
		r->end = r->start + utf8_count(begin, (size_t)(end - begin));
		return;
	}
	r->start = r->end = x.len > 0 ? utf8_count(x.p, x.len) : 0;
}
