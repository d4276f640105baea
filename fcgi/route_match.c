#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "data/admin.h"
#include "data/file.h"
#include "http/query.h"

#include "fcgi/req.h"
#include "fcgi/route_match.h"
#include "fcgi/routes.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

#define ID_CHARS                     \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZ" \
	"abcdefghijklmnopqrstuvwxyz" \
	"0123456789_-"
#define ID_MAX 128
#define MODEL_MAX 256
#define LCID_LEN 21 /* Of a LibreChat id. */

enum fit { FIT_NO, FIT_MISFIT, FIT_YES };

static int
is_id(struct req *r, const char *s)
{
	size_t len = strspn(s, ID_CHARS);

	(void)r;
	return (s[len] == '\0' && len >= 1 && len <= ID_MAX);
}

static int
is_lcid(struct req *r, const char *s)
{

	return (is_id(r, s) && strlen(s) == LCID_LEN &&
	    strncmp(s, "file-", 5) != 0 && strncmp(s, "file_", 5) != 0 &&
	    strncmp(s, "cfile_", 6) != 0);
}

/* What a provider may call a model, a slash between two of them aside. */
static int
is_model(struct req *r, const char *s)
{
	const unsigned char *p;

	(void)r;
	for (p = (const unsigned char *)s; *p != '\0'; p++)
		if (*p <= 0x20 || *p == 0x7f)
			return (0);
	return (*s != '\0' && strlen(s) <= MODEL_MAX);
}

static int
is_file(struct req *r, const char *s)
{

	/* What has the form of LibreChat's ids is one (ruling 1). */
	return (!is_lcid(r, s) && file_id_parse(s, r->file_id) == 0);
}

static int
is_name(struct req *r, const char *s)
{

	(void)r;
	return (admin_name_ok(s));
}

/* The types of a path's parameters. */
static const struct type {
	const char *name;
	int (*fits)(struct req *, const char *);
} types[] = {
    {"{file}", is_file},
    {"{lcid}", is_lcid},
    {"{id}", is_id},
    {"{name}", is_name},
    {"{model}", is_model},
};

/*
 * Cut the path at its slashes first and decode each piece once, so that an
 * encoded slash stays inside its piece and nothing can be encoded twice.  One
 * slash at the end is only noted.
 */
static int
split(const struct req *r, struct match_path *p)
{
	const char *s = r->path;
	size_t len;

	p->n = 0;
	p->slash = 0;
	while (*s == '/' && (s[1] != '\0' || p->n == 0)) {
		len = strcspn(++s, "/");
		if (p->n == MATCH_SEGMENTS) {
			p->n = 0; /* Deeper than any route. */
			return (0);
		}
		p->segment[p->n] = r->decoded ? arena_strndup(r->mem, s, len)
					      : percent_decode(r->mem, s, len);
		p->n++;
		s += len;
	}
	p->slash = p->n > 0 && *s == '/';
	return (*s == '\0' || *s == '/' ? 0 : -1);
}

/* Does ${segment} fit ${len} bytes of a pattern at ${pat}? */
static enum fit
fit(struct req *r, const char *segment, const char *pat, size_t len)
{

	if (*pat != '{')
		return (segment != NULL && strlen(segment) == len &&
			    memcmp(segment, pat, len) == 0
			? FIT_YES
			: FIT_NO);
	for (size_t i = 0; i < NELEM(types); i++) {
		if (strlen(types[i].name) == len &&
		    memcmp(types[i].name, pat, len) == 0)
			return (segment != NULL && types[i].fits(r, segment)
				? FIT_YES
				: FIT_MISFIT);
	}
	return (FIT_NO);
}

/*
 * Below /v1/files a first segment that is no LibreChat id is the Files API's
 * (ruling 1), so LibreChat's route is not the one that was meant.
 */
static int
files_api(const struct match_path *p, const struct route *rt)
{

	return (p->base > 0 && (rt->flags & R_CODEAPI) &&
	    strncmp(rt->path, "/files/", 7) == 0);
}

/*
 * Does the route's path fit?  Its parameters go to r->arg.  A slash at the end
 * does no harm, but at the root the path must be exact: the front guards some
 * of those by the very name.
 */
static enum fit
fit_path(struct req *r, const struct match_path *p, const struct route *rt)
{
	const char *pat = rt->path;
	size_t at = p->base, args = 0, len;
	enum fit f, all = FIT_YES;

	if (*pat == '=' ? p->base > 0 || p->slash
			: p->base == 0 && !(rt->flags & R_CODEAPI))
		return (FIT_NO);
	for (pat += *pat == '='; *pat != '\0'; pat += len, at++) {
		len = strcspn(++pat, "/");
		if (at == p->n ||
		    (f = fit(r, p->segment[at], pat, len)) == FIT_NO)
			return (FIT_NO);
		if (f == FIT_MISFIT && args == 0 && files_api(p, rt))
			return (FIT_NO);
		if (f == FIT_MISFIT)
			all = FIT_MISFIT;
		if (*pat == '{' && args < REQ_MAXARGS)
			r->arg[args++] = p->segment[at];
	}
	return (at == p->n ? all : FIT_NO);
}

/* How many segments from ${at} on are a version: /v1 or /api/v1. */
static size_t
version(const struct match_path *p, size_t at)
{
	const char *const *s = &p->segment[at];
	const size_t n = p->n - at;

	if (n >= 1 && s[0] != NULL && strcmp(s[0], "v1") == 0)
		return (1);
	if (n >= 2 && s[0] != NULL && s[1] != NULL &&
	    strcmp(s[0], "api") == 0 && strcmp(s[1], "v1") == 0)
		return (2);
	return (0);
}

/* LibreChat's client may put two slashes between its base and a route. */
static void
squeeze(const struct match_path *p, struct match_path *lean)
{

	lean->n = 0;
	lean->slash = p->slash;
	for (size_t i = 0; i < p->n; i++) {
		if (p->segment[i] == NULL || *p->segment[i] != '\0')
			lean->segment[lean->n++] = p->segment[i];
	}
	lean->base = version(lean, 0);
}

static void
allow(struct match *m, const char *method)
{
	const size_t len = strlen(m->allow);

	(void)snprintf(m->allow + len, sizeof(m->allow) - len, "%s%s%s",
	    len > 0 ? ", " : "", method,
	    strcmp(method, "GET") == 0 ? ", HEAD" : "");
}

void
match_find(struct req *r, struct match *m)
{
	const struct route *rt;
	struct match_path p, lean;

	memset(m, 0, sizeof(*m));
	if (split(r, &p))
		return;
	p.base = version(&p, 0);
	squeeze(&p, &lean);
	for (rt = routes; rt->method != NULL; rt++) {
		r->file_id[0] = '\0';
		switch (fit_path(r, rt->flags & R_CODEAPI ? &lean : &p, rt)) {
		case FIT_NO:
			continue;
		case FIT_MISFIT:
			/* Where both vendors' ids stand, the error is not
			 * LibreChat's. */
			if (m->misfit == NULL || (m->misfit->flags & R_CODEAPI))
				m->misfit = rt;
			continue;
		case FIT_YES:
			break;
		}
		if (m->first == NULL)
			m->first = rt;
		allow(m, rt->method);
		if (strcmp(rt->method, r->method) == 0) {
			m->route = rt;
			return;
		}
	}
}

int
match_meant(struct req *r)
{
	struct match_path p, lean, one = {.segment = {"v1"}, .n = 1, .base = 1};
	size_t at = 0, n;

	if (split(r, &p))
		return (0);
	squeeze(&p, &lean);
	while ((n = version(&lean, at)) > 0)
		at += n;
	while (at < lean.n && one.n < MATCH_SEGMENTS)
		one.segment[one.n++] = lean.segment[at++];
	if (at < lean.n)
		return (0);
	for (const struct route *rt = routes; rt->method != NULL; rt++)
		if (fit_path(r, &one, rt) == FIT_YES)
			return (1);
	return (0);
}
