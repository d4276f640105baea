#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/stat.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/conf_row.h"

/* A secret is one line of a file, and not longer. */
#define SECRET_MAX 1024

/* Numbers up to this are bytes or seconds, which people write with units. */
#define UNIT_MAX (1ULL << 30)

int
conf_fail(const struct conf_in *in, const struct scope *s, const char *key,
    const char *fmt, ...)
{
	char text[512];
	va_list ap;

	if (in->err->len > 0)
		return (-1);
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	buf_puts(in->err, in->file);
	if (in->line > 0)
		buf_printf(in->err, ":%zu", in->line);
	buf_printf(
	    in->err, ": %s%s: %s", s == NULL ? "" : s->prefix, key, text);
	return (-1);
}

struct scope
conf_scope(struct conf *c)
{
	struct scope s = {.rows = conf_rows, .base = c, .at = c->src->at};

	return (s);
}

struct scope
conf_provider_scope(struct conf *c, size_t i)
{
	struct scope s = {.rows = conf_provider_rows,
	    .base = &c->providers[i],
	    .at = c->src->provider[i].at};

	(void)snprintf(s.prefix, sizeof(s.prefix), "providers[%zu].", i);
	return (s);
}

int
conf_group(const struct scope *s, const char *name)
{
	const struct row *r;
	size_t len = strlen(name);

	for (r = s->rows; r->name != NULL; r++)
		if (strncmp(r->name, name, len) == 0 && r->name[len] == '.')
			return (1);
	return (0);
}

const struct row *
conf_row(const struct scope *s, const char *name)
{
	const struct row *r;

	for (r = s->rows; r->name != NULL; r++)
		if (strcmp(r->name, name) == 0)
			return (r);
	return (NULL);
}

/* The number of edits that make the ${alen} bytes at ${a} into ${b}'s. */
static size_t
distance(const char *a, size_t alen, const char *b, size_t blen)
{
	size_t row[CONF_NAMEMAX + 1], i, j, diag, up;

	if (alen > CONF_NAMEMAX || blen > CONF_NAMEMAX)
		return (CONF_NAMEMAX);
	for (j = 0; j <= blen; j++)
		row[j] = j;
	for (i = 1; i <= alen; i++) {
		diag = row[0];
		row[0] = i;
		for (j = 1; j <= blen; j++) {
			up = row[j];
			row[j] = diag + (a[i - 1] != b[j - 1]);
			if (up + 1 < row[j])
				row[j] = up + 1;
			if (row[j - 1] + 1 < row[j])
				row[j] = row[j - 1] + 1;
			diag = up;
		}
	}
	return (row[blen]);
}

/* The length of the part of ${known} that has as many dots as ${name}. */
static size_t
same_depth(const char *known, const char *name)
{
	size_t dots = 0, i;

	for (; *name != '\0'; name++)
		dots += *name == '.';
	for (i = 0; known[i] != '\0'; i++)
		if (known[i] == '.' && dots-- == 0)
			break;
	return (i);
}

/* The last segment of ${name}. */
static const char *
last_segment(const char *name)
{
	const char *dot = strrchr(name, '.');

	return (dot == NULL ? name : dot + 1);
}

int
conf_unknown(const struct conf_in *in, const struct scope *s, const char *name)
{
	const struct row *r;
	const char *best = NULL;
	size_t len, d, least = strlen(name) / 3 + 2, best_len = 0;

	for (r = s->rows; r->name != NULL; r++) {
		len = same_depth(r->name, name);
		d = distance(name, strlen(name), r->name, len);
		if (strcmp(last_segment(r->name), last_segment(name)) == 0) {
			len = strlen(r->name);
			d = 1;
		}
		if (d < least) {
			least = d;
			best = r->name;
			best_len = len;
		}
	}
	if (best == NULL)
		return (conf_fail(in, s, name, "there is no such setting"));
	return (conf_fail(in, s, name,
	    "there is no such setting; the nearest is %s%.*s", s->prefix,
	    (int)best_len, best));
}

/* Does ${name} end with ${suffix} after the name of a secret? */
static const struct row *
secret_by(const struct scope *s, const char *name, const char *suffix)
{
	char base[CONF_NAMEMAX];
	const struct row *r;
	size_t len = strlen(name), cut = strlen(suffix);

	if (len <= cut || len >= sizeof(base) ||
	    strcmp(name + len - cut, suffix) != 0)
		return (NULL);
	memcpy(base, name, len - cut);
	base[len - cut] = '\0';
	r = conf_row(s, base);
	return (r != NULL && r->kind == &conf_secret ? r : NULL);
}

void
conf_base(
    const struct scope *s, const char *name, char base[static CONF_NAMEMAX])
{
	const struct row *r;

	if ((r = secret_by(s, name, "_file")) != NULL ||
	    (r = secret_by(s, name, "_env")) != NULL)
		name = r->name;
	(void)snprintf(base, CONF_NAMEMAX, "%s", name);
}

/* Read the one line of the file ${path} into ${buf}. */
static int
read_secret(const char *path, char buf[static SECRET_MAX + 2])
{
	struct stat sb;
	ssize_t n;
	int fd;

	/* A pipe or a terminal would have us wait for it. */
	if ((fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) == -1)
		return (-1);
	if (fstat(fd, &sb) == 0 && !S_ISREG(sb.st_mode))
		n = 0;
	else
		n = read(fd, buf, SECRET_MAX + 1);
	(void)close(fd);
	if (n < 0)
		return (-1);
	if (n > 0 && buf[n - 1] == '\n')
		n--;
	buf[n] = '\0';
	if (n == 0 || n > SECRET_MAX || strlen(buf) != (size_t)n ||
	    strpbrk(buf, "\r\n") != NULL) {
		errno = EINVAL;
		return (-1);
	}
	return (0);
}

/* Remember where the value of ${r} came from. */
static int
note(const struct conf_in *in, const struct scope *s, const struct row *r,
    const char *via, const char *from)
{
	char **at = &s->at[r - s->rows];
	struct buf b = BUF_INIT(8192);

	buf_puts(&b, in->file);
	if (in->line > 0)
		buf_printf(&b, ":%zu", in->line);
	if (via != NULL)
		buf_printf(&b, " (%s %s)", via, from);
	free(*at);
	*at = buf_ok(&b) ? strdup(b.p) : NULL;
	buf_free(&b);
	return (*at == NULL ? conf_fail(in, s, r->name, "out of memory") : 0);
}

/* Set ${r}, which the source calls ${name}, to ${value}. */
static int
assign(const struct conf_in *in, const struct scope *s, const struct row *r,
    const char *name, const char *value)
{
	struct buf want = BUF_INIT(1024);
	int rc = -1;

	switch (r->kind->set(r, value, (char *)s->base + r->offset)) {
	case CONF_OK:
		rc = 0;
		break;
	case CONF_LATER:
		conf_fail(in, s, name, "%s is not built yet", value);
		break;
	case CONF_NOMEM:
		conf_fail(in, s, name, "out of memory");
		break;
	case CONF_BAD:
		r->kind->want(r, &want);
		if (r->kind == &conf_num && r->max >= UNIT_MAX)
			buf_puts(&want, ", without a unit");
		if (r->kind == &conf_secret)
			conf_fail(in, s, name, "is not valid; use %s",
			    buf_ok(&want) ? want.p : "");
		else
			conf_fail(in, s, name, "\"%.60s\" is not valid; use %s",
			    value, buf_ok(&want) ? want.p : "");
		break;
	}
	buf_free(&want);
	return (rc);
}

int
conf_put(const struct conf_in *in, const struct scope *s, const char *name,
    const char *value)
{
	char text[SECRET_MAX + 2];
	const struct row *r;
	const char *env;

	if ((r = conf_row(s, name)) != NULL)
		return (
		    assign(in, s, r, name, value) || note(in, s, r, NULL, NULL)
			? -1
			: 0);
	if ((r = secret_by(s, name, "_file")) != NULL) {
		if (read_secret(value, text))
			return (conf_fail(in, s, name, "%.200s: %s", value,
			    errno == EINVAL ? "must be a file of one line"
					    : strerror(errno)));
		return (assign(in, s, r, name, text) ||
			    note(in, s, r, "file", value)
			? -1
			: 0);
	}
	if ((r = secret_by(s, name, "_env")) != NULL) {
		if ((env = getenv(value)) == NULL || *env == '\0')
			return (conf_fail(in, s, name,
			    "the environment has no variable %.100s", value));
		return (assign(in, s, r, name, env) ||
			    note(in, s, r, "environment", value)
			? -1
			: 0);
	}
	if (conf_group(s, name))
		return (conf_fail(
		    in, s, name, "is a group of settings, not a value"));
	return (conf_unknown(in, s, name));
}

int
conf_new_provider(struct conf *c)
{
	struct conf_provider *p;
	struct conf_provider_src *at;
	size_t n = c->nproviders;

	if (n == CONF_PROVIDERS)
		return (-1);
	if ((p = realloc(c->providers, (n + 1) * sizeof(*p))) == NULL)
		return (-1);
	c->providers = p;
	memset(&p[n], 0, sizeof(*p));
	if ((at = realloc(c->src->provider, (n + 1) * sizeof(*at))) == NULL)
		return (-1);
	c->src->provider = at;
	memset(&at[n], 0, sizeof(*at));
	c->nproviders++;
	return (0);
}

/* Free what the rows of ${s} hold. */
static void
scope_free(const struct scope *s)
{
	const struct row *r;

	for (r = s->rows; r->name != NULL; r++) {
		r->kind->drop((char *)s->base + r->offset);
		free(s->at[r - s->rows]);
	}
}

void
conf_drop_providers(struct conf *c)
{
	struct scope s;
	size_t i;

	for (i = 0; i < c->nproviders; i++) {
		s = conf_provider_scope(c, i);
		scope_free(&s);
	}
	free(c->providers);
	free(c->src->provider);
	c->providers = NULL;
	c->src->provider = NULL;
	c->nproviders = 0;
}

/* Give what nobody set in ${s} its default. */
static int
scope_finish(const struct conf_in *in, const struct scope *s)
{
	struct buf want = BUF_INIT(1024);
	const struct row *r;

	for (r = s->rows; r->name != NULL; r++) {
		if (s->at[r - s->rows] != NULL || r->kind == &conf_providers)
			continue;
		if (r->dflt == NULL && in->partial)
			continue;
		if (r->dflt == NULL) {
			r->kind->want(r, &want);
			conf_fail(in, s, r->name, "must be set; use %s",
			    buf_ok(&want) ? want.p : "");
			buf_free(&want);
			return (-1);
		}
		if (assign(in, s, r, r->name, r->dflt))
			return (-1);
	}
	return (0);
}

int
conf_finish(const struct conf_in *in, struct conf *c)
{
	struct scope s = conf_scope(c);
	size_t i, j;

	if (scope_finish(in, &s))
		return (-1);
	for (i = 0; i < c->nproviders; i++) {
		s = conf_provider_scope(c, i);
		if (scope_finish(in, &s))
			return (-1);
		for (j = 0; j < i; j++)
			if (strcmp(c->providers[i].name,
				c->providers[j].name) == 0)
				return (conf_fail(in, &s, "name",
				    "\"%s\" is the name of providers[%zu] too",
				    c->providers[i].name, j));
	}
	s = conf_scope(c);
	if (c->exec_timeout_s > c->turn_budget_s)
		return (conf_fail(in, &s, "code_execution.exec_timeout_s",
		    "must not be more than turn_budget_s"));
	if ((c->lc_jwks_file != NULL) + (c->lc_pem_dir != NULL) +
		(c->lc_pem_file != NULL) >
	    1)
		return (conf_fail(in, &s, "librechat.jwt",
		    "give only one of jwks_file, pem_dir and pem_file"));
	return (0);
}

void
conf_free(struct conf *c)
{
	struct scope s;

	if (c->src != NULL) {
		conf_drop_providers(c);
		s = conf_scope(c);
		scope_free(&s);
		free(c->src);
	}
	memset(c, 0, sizeof(*c));
}
