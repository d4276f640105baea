#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/utf8.h"

#include "speech/outcome.h"
#include "speech/pick.h"

#include "run/edit.h"

#define FILE_MAX 1048576 /* Of a file that is viewed or edited. */
#define LIST_MAX 65536   /* Of a directory's listing. */

/* One command under way. */
struct edit {
	struct room *room;
	struct arena *mem;
	struct jspan input;
	const char *path; /* As the model said it. */
	const char *file; /* Below the workspace. */
	struct outcome *o;
};

static enum run_rc fail(struct edit *, enum outcome_kind, const char *, ...)
    __attribute__((format(printf, 3, 4)));

static enum run_rc
fail(struct edit *e, enum outcome_kind kind, const char *fmt, ...)
{
	struct buf clean = BUF_INIT(2048);
	char s[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(s, sizeof(s), fmt, ap);
	va_end(ap);
	e->o->kind = kind;
	if (utf8_scrub(&clean, s, strlen(s)) == 0)
		e->o->message = arena_strndup(e->mem, clean.p, clean.len);
	buf_free(&clean);
	return (RUN_OK);
}

/* What a failed request to the sandbox means for the model. */
static enum run_rc
failed(struct edit *e, enum sandbox_rc rc)
{

	switch (rc) {
	case SANDBOX_GONE:
		return (RUN_GONE);
	case SANDBOX_NONE:
		return (
		    fail(e, OUTCOME_NO_FILE, "No such file: %.300s", e->path));
	case SANDBOX_BAD:
		return (fail(e, OUTCOME_BAD_INPUT,
		    "%.300s is a directory or outside /mnt/data", e->path));
	case SANDBOX_TOO_BIG:
	case SANDBOX_STOPPED:
		return (fail(e, OUTCOME_BAD_INPUT,
		    "%.300s is too large for the editor", e->path));
	default:
		return (fail(
		    e, OUTCOME_UNAVAILABLE, "The sandbox is not available"));
	}
}

static int
gather(void *cookie, const void *p, size_t len)
{

	return (buf_put(cookie, p, len));
}

/* Read the file into ${b}; clean text only. */
static enum sandbox_rc
read_file(struct edit *e, struct buf *b)
{

	return (sandbox_get(
	    &e->room->sandbox, e->room->session, e->file, FILE_MAX, gather, b));
}

static ssize_t
read_text(void *cookie, uint64_t off, void *buf, size_t len)
{
	const struct text *x = cookie;

	memcpy(buf, x->p + off, len);
	return ((ssize_t)len);
}

/* Write the file, and have it reported with the next run. */
static enum sandbox_rc
write_file(struct edit *e, struct text x)
{
	enum sandbox_rc rc;

	rc = sandbox_put(
	    &e->room->sandbox, e->room->session, e->file, read_text, &x, x.len);
	if (rc == SANDBOX_OK && room_written(e->room, e->file))
		e->o->failed++;
	return (rc);
}

static int
get_text(struct edit *e, const char *key, struct text *x)
{
	struct jspan v;

	if (jspan_get(e->input, key, &v) == 0 || pick_text(e->mem, v, x)) {
		(void)fail(e, OUTCOME_BAD_INPUT,
		    "arguments must be JSON with a string field \"%s\"", key);
		return (-1);
	}
	return (0);
}

static size_t
count_lines(const char *p, size_t len)
{
	const char *end = p + len;
	size_t n = 0;

	for (; p < end && (p = memchr(p, '\n', (size_t)(end - p))) != NULL; p++)
		n++;
	return (n + (len > 0 && end[-1] != '\n'));
}

/* ---- view */

static enum run_rc
view_directory(struct edit *e)
{
	struct buf b = BUF_INIT(LIST_MAX);
	struct sandbox_entry *list;
	enum sandbox_rc rc;
	size_t n, i;

	rc = sandbox_list(&e->room->sandbox, e->mem, e->room->session,
	    e->file[0] != '\0' ? e->file : ".", &list, &n);
	if (rc != SANDBOX_OK)
		return (failed(e, rc));
	for (i = 0; i < n && buf_ok(&b); i++)
		buf_printf(&b, "/mnt/data/%s (%" PRIu64 " bytes)\n",
		    list[i].path, list[i].bytes);
	e->o->kind = OUTCOME_VIEW;
	e->o->out.len = b.len;
	e->o->out.p = arena_strndup(e->mem, b.len > 0 ? b.p : "", b.len);
	e->o->start = 1;
	e->o->lines = e->o->total = i;
	buf_free(&b);
	return (e->o->out.p != NULL ? RUN_OK : failed(e, SANDBOX_DOWN));
}

/* One end of view_range; -1 is the last line. */
static int
range_end(struct jspan v, uint64_t total, uint64_t *x)
{

	if (v.len == 2 && memcmp(v.p, "-1", 2) == 0) {
		*x = total;
		return (0);
	}
	return (pick_u64(v, x));
}

static int
view_range(struct edit *e, uint64_t total, uint64_t *first, uint64_t *last)
{
	struct jspan_iter it;
	struct jspan v, a, b;

	*first = 1;
	*last = total;
	if (jspan_get(e->input, "view_range", &v) == 0 || pick_is(v, 'n'))
		return (0);
	if (jspan_iter(&it, v) || it.object || !jspan_next(&it, NULL, &a) ||
	    !jspan_next(&it, NULL, &b) || pick_u64(a, first) ||
	    range_end(b, total, last) || *first < 1 || *first > *last ||
	    *first > total)
		return (-1);
	if (*last > total)
		*last = total;
	return (0);
}

/* Set ${o} to the lines ${first} to ${last} of ${b}. */
static enum run_rc
view_lines(struct edit *e, const struct buf *b)
{
	const char *p = b->p, *end = b->p + b->len, *stop;
	uint64_t total = count_lines(p, b->len), first, last, i;

	if (view_range(e, total, &first, &last))
		return (fail(e, OUTCOME_BAD_INPUT,
		    "view_range must be two line numbers of the %" PRIu64
		    " lines",
		    total));
	for (i = 1; i < first; i++)
		p = (const char *)memchr(p, '\n', (size_t)(end - p)) + 1;
	for (stop = p; i <= last; i++) {
		stop = memchr(stop, '\n', (size_t)(end - stop));
		stop = stop != NULL ? stop + 1 : end;
	}
	e->o->kind = OUTCOME_VIEW;
	e->o->start = first;
	e->o->lines = total > 0 ? last - first + 1 : 0;
	e->o->total = total;
	e->o->out.len = (size_t)(stop - p);
	e->o->out.p = arena_strndup(e->mem, p, e->o->out.len);
	return (e->o->out.p != NULL ? RUN_OK : failed(e, SANDBOX_DOWN));
}

static enum run_rc
view(struct edit *e)
{
	struct buf b = BUF_INIT(FILE_MAX);
	enum sandbox_rc rc = SANDBOX_BAD;
	enum run_rc run;

	if (e->file[0] != '\0')
		rc = read_file(e, &b);
	if (rc == SANDBOX_BAD)
		run = view_directory(e);
	else if (rc != SANDBOX_OK || buf_puts(&b, ""))
		run = failed(e, rc);
	else if (!utf8_valid(b.p, b.len))
		run = fail(
		    e, OUTCOME_BAD_INPUT, "%.300s is no text file", e->path);
	else
		run = view_lines(e, &b);
	buf_free(&b);
	return (run);
}

/* ---- create */

static int
drop(void *cookie, const void *p, size_t len)
{

	(void)cookie;
	(void)p;
	(void)len;
	return (-1); /* That there are bytes is all we asked. */
}

static enum run_rc
create(struct edit *e)
{
	enum sandbox_rc rc;
	struct text x;

	if (get_text(e, "file_text", &x))
		return (RUN_OK);
	rc = sandbox_get(&e->room->sandbox, e->room->session, e->file,
	    UINT64_MAX, drop, NULL);
	if (rc != SANDBOX_OK && rc != SANDBOX_STOPPED && rc != SANDBOX_NONE)
		return (failed(e, rc));
	e->o->update = rc != SANDBOX_NONE;
	if ((rc = write_file(e, x)) != SANDBOX_OK)
		return (failed(e, rc));
	e->o->kind = OUTCOME_CREATE;
	return (RUN_OK);
}

/* ---- str_replace */

static size_t
occurrences(const struct buf *b, struct text x, const char **at)
{
	const char *p = b->p, *end = b->p + b->len;
	size_t n = 0;

	while ((p = memmem(p, (size_t)(end - p), x.p, x.len)) != NULL) {
		if (n++ == 0)
			*at = p;
		p += x.len;
	}
	return (n);
}

/* Append the ${len} bytes at ${p} line by line, each behind ${sign}. */
static size_t
put_lines(struct buf *b, char sign, const char *p, size_t len)
{
	size_t n, k;
	const char *nl;

	for (n = 0; len > 0; n++, p += k, len -= k) {
		nl = memchr(p, '\n', len);
		k = nl != NULL ? (size_t)(nl - p) : len;
		if (b->len > 0)
			buf_puts(b, "\n");
		buf_put(b, &sign, 1);
		buf_put(b, p, k);
		k += nl != NULL;
	}
	return (n);
}

/*
 * The change as whole lines, old and new: from the start of the line where it
 * begins to the end of the one where it ends, unless it is whole lines already.
 */
static enum run_rc
describe(struct edit *e, const struct buf *old, const struct buf *new,
    size_t at, size_t oldlen, size_t newlen)
{
	struct buf b = BUF_INIT(5 * FILE_MAX);
	size_t from = at, end = at + oldlen;
	const char *nl;
	int whole;

	while (from > 0 && old->p[from - 1] != '\n')
		from--;
	whole = old->p[end - 1] == '\n' &&
	    (newlen == 0 ? from == at : new->p[at + newlen - 1] == '\n');
	if (!whole) {
		nl = memchr(old->p + end, '\n', old->len - end);
		end = nl != NULL ? (size_t)(nl - old->p) + 1 : old->len;
	}
	e->o->kind = OUTCOME_REPLACE;
	e->o->start = e->o->new_start = 1 + count_lines(old->p, from);
	e->o->lines = put_lines(&b, '-', old->p + from, end - from);
	e->o->new_lines =
	    put_lines(&b, '+', new->p + from, end - oldlen + newlen - from);
	e->o->out.len = b.len;
	e->o->out.p = arena_strndup(e->mem, b.p, b.len);
	buf_free(&b);
	return (e->o->out.p != NULL ? RUN_OK : failed(e, SANDBOX_DOWN));
}

static enum run_rc
replace_in(
    struct edit *e, const struct buf *old, struct text from, struct text to)
{
	struct buf new = BUF_INIT(2 * FILE_MAX);
	enum run_rc run = RUN_OK;
	enum sandbox_rc rc;
	const char *at = NULL;
	size_t n = occurrences(old, from, &at), head;

	if (n == 0)
		return (fail(e, OUTCOME_BAD_INPUT,
		    "old_str was not found in %.300s", e->path));
	if (n > 1)
		return (fail(e, OUTCOME_BAD_INPUT,
		    "old_str stands %zu times in %.300s", n, e->path));
	head = (size_t)(at - old->p);
	buf_put(&new, old->p, head);
	buf_put(&new, to.p, to.len);
	buf_put(&new, at + from.len, old->len - head - from.len);
	if (!buf_ok(&new))
		rc = SANDBOX_TOO_BIG;
	else
		rc = write_file(e, (struct text){new.p, new.len});
	if (rc == SANDBOX_OK)
		run = describe(e, old, &new, head, from.len, to.len);
	else
		run = failed(e, rc);
	buf_free(&new);
	return (run);
}

static enum run_rc
str_replace(struct edit *e)
{
	struct buf b = BUF_INIT(FILE_MAX);
	enum sandbox_rc rc;
	enum run_rc run;
	struct text from, to = TEXT_LIT("");
	struct jspan v;

	if (get_text(e, "old_str", &from))
		return (RUN_OK);
	if (jspan_get(e->input, "new_str", &v) > 0 &&
	    get_text(e, "new_str", &to))
		return (RUN_OK);
	if (from.len == 0)
		return (fail(e, OUTCOME_BAD_INPUT, "old_str is empty"));
	if ((rc = read_file(e, &b)) != SANDBOX_OK || buf_puts(&b, ""))
		run = failed(e, rc);
	else if (!utf8_valid(b.p, b.len))
		run = fail(
		    e, OUTCOME_BAD_INPUT, "%.300s is no text file", e->path);
	else
		run = replace_in(e, &b, from, to);
	buf_free(&b);
	return (run);
}

/* clang-format off */
static const struct {
	const char *name;
	enum run_rc (*run)(struct edit *);
} commands[] = {
	{ "view", view }, { "create", create }, { "str_replace", str_replace },
	{ NULL, NULL }
};
/* clang-format on */

/* The path below the workspace, or NULL for one that is not. */
static const char *
below(const char *path)
{

	if (strncmp(path, "/mnt/data", 9) == 0 &&
	    (path[9] == '/' || path[9] == '\0'))
		path += 9 + strspn(path + 9, "/");
	return (path[0] == '/' ? NULL : path);
}

enum run_rc
edit_run(struct room *room, struct jspan input, struct outcome *o)
{
	struct edit e = {
	    .room = room, .mem = room->env->mem, .input = input, .o = o};
	struct jspan command, path;
	size_t i;

	if (jspan_get(input, "path", &path) == 0 ||
	    (e.path = pick_str(e.mem, path)) == NULL)
		return (fail(&e, OUTCOME_BAD_INPUT,
		    "arguments must be JSON with a string field \"path\""));
	if ((e.file = below(e.path)) == NULL)
		return (fail(&e, OUTCOME_BAD_INPUT,
		    "%.300s is outside /mnt/data", e.path));
	if (jspan_get(input, "command", &command) > 0)
		for (i = 0; commands[i].name != NULL; i++)
			if (jspan_is(command, commands[i].name))
				return (commands[i].run(&e));
	return (fail(&e, OUTCOME_BAD_INPUT,
	    "command must be view, create or str_replace"));
}
