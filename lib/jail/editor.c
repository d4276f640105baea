#include <sys/stat.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"

#include "jail/editor.h"
#include "jail/files.h"
#include "jail/limits.h"
#include "jail/walk.h"
#include "jail/ws.h"

/* One command at work. */
struct edit {
	struct editor *E;
	int root;
	const struct msg *m;
	char path[WS_PATH_SIZE];
	struct out *out, *err;
	struct edited *did;
};

static int
fail(struct edit *e, const char *why)
{

	out_put(e->err, e->path, strlen(e->path));
	out_put(e->err, ": ", 2);
	out_put(e->err, why, strlen(why));
	out_put(e->err, "\n", 1);
	if (e->did->why == REPLY_OK)
		e->did->why = REPLY_BAD;
	return (1);
}

static void
say(struct edit *e, const char *done)
{

	out_put(e->out, done, strlen(done));
	out_put(e->out, " ", 1);
	out_put(e->out, e->path, strlen(e->path));
	out_put(e->out, "\n", 1);
}

static int
fail_reply(struct edit *e, enum reply rc)
{
	static const char *const why[] = {
	    [REPLY_OK] = "",
	    [REPLY_BAD] = "the file exists already",
	    [REPLY_NONE] = "no such file or directory",
	    [REPLY_OUTSIDE] = "the path is outside the workspace",
	    [REPLY_DIRECTORY] = "is a directory",
	    [REPLY_NAME] = "not a possible name",
	    [REPLY_FULL] = "too large, or the workspace is full",
	    [REPLY_LATE] = "too late",
	    [REPLY_FAIL] = "cannot be read or written",
	};

	e->did->why = rc;
	return (fail(e, why[rc]));
}

/* Append lines ${first} to ${last} (0 = all the rest) of ${fd}. */
static int
show_lines(struct edit *e, int fd, uint64_t first, uint64_t last)
{
	char piece[65536];
	uint64_t line = 1; /* The one that ${p} is in. */
	int begun = 0;     /* It has bytes. */
	ssize_t n;
	size_t len;
	char *p;

	while ((n = read(fd, piece, sizeof(piece))) > 0) {
		for (p = piece; p < piece + n; p += len) {
			len = (size_t)(piece + n - p);
			begun = memchr(p, '\n', len) == NULL;
			if (!begun)
				len = (size_t)((char *)memchr(p, '\n', len) -
				    p + 1);
			if (line >= first && (last == 0 || line <= last))
				out_put(e->out, p, len);
			line += !begun;
		}
	}
	if (n == -1)
		return (fail_reply(e, REPLY_FAIL));
	line -= !begun; /* So many lines there are. */
	if (first > 1 && first > line)
		return (fail(e, "view_range begins after the last line"));
	e->did->kind = EDITED_VIEW;
	e->did->total = line;
	e->did->start = first;
	if (last == 0 || last > line)
		last = line;
	e->did->lines = last - first + 1;
	return (0);
}

static int
show_dir(struct edit *e, int fd)
{
	struct buf b = BUF_INIT(2 * LIMIT_OUTPUT);
	struct walk w;
	size_t i;

	if (walk_take(fd, 2, 1, &w))
		return (fail_reply(e, REPLY_FAIL));
	e->did->kind = EDITED_DIRECTORY;
	for (i = 0; i < w.n; i++)
		if (ws_escape(&b, w.e[i].path) ||
		    buf_puts(&b, w.e[i].dir ? "/\n" : "\n"))
			break;
	out_put(e->out, b.p, b.len);
	buf_free(&b);
	walk_free(&w);
	return (0);
}

static int
do_view(struct edit *e)
{
	uint64_t first = msg_get_num(e->m, MSG_FIRST, 1);
	uint64_t last = msg_get_num(e->m, MSG_LAST, 0);
	struct stat st;
	enum reply rc;
	int fd, code;

	if (first == 0 || (last != 0 && last < first))
		return (fail(e, "view_range is not [first, last]"));
	if ((rc = ws_open(e->root, e->path, O_RDONLY, &fd)) != REPLY_OK)
		return (fail_reply(e, rc));
	if (fstat(fd, &st))
		code = fail_reply(e, REPLY_FAIL);
	else if (S_ISREG(st.st_mode))
		code = show_lines(e, fd, first, last);
	else if (!S_ISDIR(st.st_mode))
		code = fail(e, "not a file");
	else if (e->m->has & 1ULL << (MSG_FIRST & ~MSG_NUMBER))
		code = fail(e, "view_range of a directory");
	else
		code = show_dir(e, fd);
	(void)close(fd);
	return (code);
}

static int
do_create(struct edit *e)
{
	const char *text = msg_get(e->m, MSG_FILE_TEXT);
	const int fresh = !msg_get_num(e->m, MSG_OVERWRITE, 0);
	enum reply rc;
	int fd;

	if (text == NULL)
		return (fail(e, "create needs file_text"));
	if (!fresh && ws_open(e->root, e->path, O_PATH, &fd) == REPLY_OK) {
		e->did->update = 1;
		(void)close(fd);
	}
	rc = files_replace(e->root, e->path, text, strlen(text), fresh);
	if (rc != REPLY_OK)
		return (fail_reply(e, rc));
	e->did->kind = EDITED_CREATE;
	say(e, e->did->update ? "Replaced" : "Created");
	return (0);
}

/* Read the text that is to be edited. */
static int
load(struct edit *e, struct buf *b)
{
	enum reply rc;

	if ((rc = files_slurp(e->root, e->path, b)) != REPLY_OK)
		return (fail_reply(e, rc));
	if (!utf8_valid(b->p, b->len))
		return (fail(e, "not UTF-8 text"));
	return (0);
}

static void
forget(struct editor *E, size_t i)
{

	E->bytes -= E->undo[i].len;
	free(E->undo[i].path);
	free(E->undo[i].text);
	E->n--;
	memmove(&E->undo[i], &E->undo[i + 1], (E->n - i) * sizeof(E->undo[0]));
}

/* Keep ${was}, whose bytes become ours; without memory there is no undo. */
static void
remember(struct editor *E, const char *path, struct buf *was)
{
	char *copy;

	while (E->n > 0 &&
	    (E->n == EDITOR_UNDO_STATES ||
		E->bytes + was->len > EDITOR_UNDO_MAX))
		forget(E, 0);
	if ((copy = strdup(path)) == NULL)
		return;
	E->undo[E->n].path = copy;
	E->undo[E->n].text = was->p;
	E->undo[E->n].len = was->len;
	E->n++;
	E->bytes += was->len;
	was->p = NULL;
	was->len = was->cap = 0;
}

static uint64_t
count_lines(const char *p, size_t len)
{
	const char *end = p + len;
	uint64_t n = 0;

	for (; p < end; n++)
		if ((p = memchr(p, '\n', (size_t)(end - p))) == NULL)
			return (n + 1);
		else
			p++;
	return (n);
}

/* Append the lines of the ${len} bytes at ${p}, ${sign} before each. */
static void
put_lines(struct buf *b, const char *sign, const char *p, size_t len)
{
	const char *end = p + len, *nl;

	for (; p < end; p = nl + 1) {
		if ((nl = memchr(p, '\n', (size_t)(end - p))) == NULL)
			nl = end;
		(void)buf_puts(b, sign);
		(void)buf_put(b, p, (size_t)(nl - p));
		(void)buf_puts(b, "\n");
	}
}

/* Does a line of ${b} begin at ${at}? */
static int
begins_line(const struct buf *b, size_t at)
{

	return (at == 0 || b->p[at - 1] == '\n');
}

/*
 * The ${n} bytes at ${at} of ${was} have become ${m} of ${is}: tell it by whole
 * lines of both.
 */
static void
tell_change(struct edit *e, const struct buf *was, const struct buf *is,
    size_t at, size_t n, size_t m)
{
	size_t from = at, to = at + n;
	struct edited *did = e->did;

	while (!begins_line(was, from))
		from--;
	while (to < was->len &&
	    !(begins_line(was, to) && begins_line(is, to - n + m)))
		to++;
	did->kind = EDITED_CHANGE;
	did->start = did->new_start = 1 + count_lines(was->p, from);
	did->lines = count_lines(was->p + from, to - from);
	did->new_lines = count_lines(is->p + from, to - n + m - from);
	put_lines(&did->diff, "-", was->p + from, to - from);
	put_lines(&did->diff, "+", is->p + from, to - n + m - from);
	if (!buf_ok(&did->diff) ||
	    memchr(did->diff.p, '\0', did->diff.len) != NULL)
		buf_free(&did->diff);
}

/* Write ${is} in place of ${was}; the ${n} bytes at ${at} have changed. */
static int
store(struct edit *e, struct buf *was, const struct buf *is, size_t at,
    size_t n, const char *done)
{
	enum reply rc;

	if (!buf_ok(is))
		return (fail_reply(e, REPLY_FULL));
	rc = files_replace(e->root, e->path, is->p, is->len, 0);
	if (rc != REPLY_OK)
		return (fail_reply(e, rc));
	tell_change(e, was, is, at, n, is->len - (was->len - n));
	remember(e->E, e->path, was);
	say(e, done);
	return (0);
}

/*
 * How often does ${b} hold ${s}: 0, 1, or 2 for more; ${at} becomes the first
 * place.  Looking for all of them could take minutes.
 */
static size_t
count(const struct buf *b, const char *s, size_t len, size_t *at)
{
	const char *p = b->p, *end = b->p + b->len;
	size_t n = 0;

	while (b->len > 0 && n < 2 &&
	    (p = memmem(p, (size_t)(end - p), s, len)) != NULL) {
		if (n++ == 0)
			*at = (size_t)(p - b->p);
		p++;
	}
	return (n);
}

static int
replace_once(struct edit *e, struct buf *was, struct buf *is)
{
	const char *old = msg_get(e->m, MSG_OLD), *new = msg_get(e->m, MSG_NEW);
	size_t n, len, at = 0;

	if (old == NULL || *old == '\0' || new == NULL)
		return (fail(e, "str_replace needs old_str and new_str"));
	if (load(e, was))
		return (1);
	len = strlen(old);
	if ((n = count(was, old, len, &at)) != 1)
		return (fail(e,
		    n == 0 ? "old_str is not in it"
			   : "old_str is in it more than once"));
	(void)buf_put(is, was->p, at);
	(void)buf_puts(is, new);
	(void)buf_put(is, was->p + at + len, was->len - at - len);
	return (store(e, was, is, at, len, "Replaced the text in"));
}

/* Where line ${n} ends in ${b}, its newline included; -1 if there is none. */
static ssize_t
line_end(const struct buf *b, uint64_t n)
{
	const char *p = b->p, *end = b->p + b->len;

	for (; n > 0; n--) {
		if (p == end)
			return (-1);
		if ((p = memchr(p, '\n', (size_t)(end - p))) == NULL)
			p = end;
		else
			p++;
	}
	return (b->len > 0 ? p - b->p : 0);
}

static int
insert_after(struct edit *e, struct buf *was, struct buf *is)
{
	uint64_t line = msg_get_num(e->m, MSG_LINE, UINT64_MAX);
	const char *new = msg_get(e->m, MSG_NEW);
	ssize_t at;

	if (line == UINT64_MAX || new == NULL)
		return (fail(e, "insert needs insert_line and new_str"));
	if (load(e, was))
		return (1);
	if ((at = line_end(was, line)) == -1)
		return (fail(e, "insert_line is past the last line"));
	(void)buf_put(is, was->p, (size_t)at);
	if (at > 0 && was->p[at - 1] != '\n')
		(void)buf_puts(is, "\n");
	(void)buf_puts(is, new);
	if (*new == '\0' || new[strlen(new) - 1] != '\n')
		(void)buf_puts(is, "\n");
	(void)buf_put(is, was->p + at, was->len - (size_t)at);
	return (store(e, was, is, (size_t)at, 0, "Inserted the text in"));
}

static int
with_texts(struct edit *e, int (*fn)(struct edit *, struct buf *, struct buf *))
{
	struct buf was = BUF_INIT(EDITOR_FILE_MAX), is = was;
	int code;

	code = fn(e, &was, &is);
	buf_free(&was);
	buf_free(&is);
	return (code);
}

static int
do_str_replace(struct edit *e)
{

	return (with_texts(e, replace_once));
}

static int
do_insert(struct edit *e)
{

	return (with_texts(e, insert_after));
}

static int
do_undo(struct edit *e)
{
	struct editor *E = e->E;
	enum reply rc;
	size_t i;

	for (i = E->n; i > 0; i--)
		if (strcmp(E->undo[i - 1].path, e->path) == 0)
			break;
	if (i-- == 0)
		return (fail(e, "there is no edit to undo"));
	rc =
	    files_replace(e->root, e->path, E->undo[i].text, E->undo[i].len, 0);
	if (rc != REPLY_OK)
		return (fail_reply(e, rc));
	forget(E, i);
	say(e, "Undid the last edit of");
	return (0);
}

static const struct {
	const char *name;
	int (*run)(struct edit *);
} commands[] = {
    {"view", do_view},
    {"create", do_create},
    {"str_replace", do_str_replace},
    {"insert", do_insert},
    {"undo_edit", do_undo},
};
#define NCOMMANDS (sizeof(commands) / sizeof(commands[0]))

static size_t
find(const char *name)
{
	size_t i;

	for (i = 0; i < NCOMMANDS; i++)
		if (strcmp(commands[i].name, name) == 0)
			break;
	return (i);
}

int
editor_known(const char *command)
{

	return (find(command) < NCOMMANDS);
}

int
editor_run(struct editor *E, int root, const struct msg *m, struct out *out,
    struct out *err, struct edited *did)
{
	struct edit e = {
	    .E = E, .root = root, .m = m, .out = out, .err = err, .did = did};
	const char *path = msg_get(m, MSG_PATH), *name = msg_get(m, MSG_EDIT);
	enum reply rc;
	size_t i;

	if (path == NULL || name == NULL || (i = find(name)) == NCOMMANDS) {
		return (fail(&e, "no such editor command"));
	}
	if ((rc = ws_path(path, e.path)) != REPLY_OK) {
		(void)snprintf(e.path, sizeof(e.path), "%.200s", path);
		return (fail_reply(&e, rc));
	}
	return (commands[i].run(&e));
}

void
editor_free(struct editor *E)
{

	while (E->n > 0)
		forget(E, E->n - 1);
}
