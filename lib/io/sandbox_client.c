#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/ends.h"
#include "base/id.h"
#include "base/log.h"
#include "base/utf8.h"

#include "io/sandbox_ask.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define SMALL_MAX 1048576 /* Of any other JSON answer. */
#define DEPTH_MAX 64
#define SHORT_MS 15000 /* For what does not run anything. */
#define HEADERS_MAX 4

static int
on_head(void *cookie, int status, const struct upstream_head *head)
{
	struct ask *a = cookie;

	(void)head;
	a->status = status;
	return (0);
}

static int
on_body(void *cookie, const void *p, size_t len)
{
	struct ask *a = cookie;

	if (a->sink != NULL)
		return (a->status / 100 != 2 ? 0 : a->sink(a->cookie, p, len));
	return (buf_put(&a->body, p, len));
}

static enum sandbox_rc
from_status(int status)
{
	/* clang-format off */
	static const struct { int status; enum sandbox_rc rc; } rows[] = {
		{ 200, SANDBOX_OK }, { 201, SANDBOX_OK }, { 204, SANDBOX_OK },
		{ 400, SANDBOX_BAD }, { 403, SANDBOX_BAD },
		{ 404, SANDBOX_NONE }, { 413, SANDBOX_TOO_BIG },
		{ 422, SANDBOX_BAD }, { 429, SANDBOX_BUSY },
		{ 503, SANDBOX_BUSY },
	};
	/* clang-format on */
	size_t i;

	for (i = 0; i < NELEM(rows); i++)
		if (rows[i].status == status)
			return (rows[i].rc);
	log_err(SANDBOX_LABEL ": unexpected status %d", status);
	return (SANDBOX_DOWN);
}

static enum sandbox_rc
from_upstream(enum upstream_rc rc, int status)
{

	switch (rc) {
	case UPSTREAM_OK:
		return (from_status(status));
	case UPSTREAM_TIMEOUT:
		return (SANDBOX_SLOW);
	case UPSTREAM_TOO_BIG:
		return (SANDBOX_TOO_BIG);
	case UPSTREAM_GONE:
		return (SANDBOX_GONE);
	case UPSTREAM_STOPPED:
		return (SANDBOX_STOPPED);
	case UPSTREAM_REFUSED:
	case UPSTREAM_CUT:
	case UPSTREAM_FAIL:
		break;
	}
	return (SANDBOX_DOWN);
}

enum sandbox_rc
ask(struct ask *a, const char *type)
{
	const char *headers[HEADERS_MAX] = {NULL};
	struct buf auth = BUF_INIT(4096), id = BUF_INIT(256);
	enum sandbox_rc rc = SANDBOX_DOWN;
	enum upstream_rc up;
	size_t n = 0;

	a->call.label = SANDBOX_LABEL;
	a->call.base = a->s->url;
	a->call.headers = headers;
	a->call.on_head = on_head;
	a->call.on_body = on_body;
	a->call.cookie = a;
	if (a->sink == NULL)
		a->call.max = a->body.max;
	if (type != NULL)
		headers[n++] = type;
	if (a->s->token != NULL) {
		buf_printf(&auth, "Authorization: Bearer %s", a->s->token);
		headers[n++] = auth.p;
	}
	/* So that its log can be read beside ours. */
	if (log_request_id() != NULL &&
	    buf_printf(&id, "X-Request-Id: %s", log_request_id()) == 0)
		headers[n++] = id.p;
	a->call.path = a->path.p;
	a->call.on_wait = a->s->on_wait;
	a->call.wait_cookie = a->s->wait_cookie;
	if (buf_ok(&a->path) && buf_ok(&auth)) {
		up = upstream_run(&a->call); /* Sets the status. */
		rc = from_upstream(up, a->status);
	}
	buf_free(&auth);
	buf_free(&id);
	return (rc);
}

void
ask_free(struct ask *a)
{

	buf_free(&a->path);
	buf_free(&a->body);
}

static void
put_escaped(struct buf *b, const char *s)
{

	for (; *s != '\0'; s++)
		if (strchr(
			"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
			"0123456789-_.~/",
			*s) != NULL)
			buf_put(b, s, 1);
		else
			buf_printf(b, "%%%02X", (unsigned char)*s);
}

struct ask
ask_session(const struct sandbox *s, const char *method, const char *id,
    const char *rest, const char *path)
{
	struct ask a = {
	    .s = s,
	    .call = {.method = method,
		.gone_fd = s->gone_fd,
		.first_ms = SHORT_MS,
		.silence_ms = SHORT_MS},
	    .path = BUF_INIT(3 * SANDBOX_PATH_MAX + 256),
	    .body = BUF_INIT(SMALL_MAX),
	};

	buf_printf(&a.path, "/sessions/%s%s", id, rest);
	if (path != NULL) {
		buf_puts(&a.path, "?path=");
		put_escaped(&a.path, path);
	}
	return (a);
}

int
answer_root(const struct ask *a, struct jspan *root)
{
	struct jspan_info info;

	if (a->body.len == 0 ||
	    jspan_check(a->body.p, a->body.len, DEPTH_MAX, &info) != JSPAN_OK) {
		log_err(SANDBOX_LABEL ": its answer is no JSON");
		return (-1);
	}
	*root = info.root;
	return (0);
}

char *
answer_str(struct arena *mem, struct jspan v, size_t max)
{
	struct buf b = BUF_INIT(max);
	char *s = NULL;

	if (jspan_str(&b, v) == 0 && b.len > 0 && strlen(b.p) == b.len)
		s = arena_strndup(mem, b.p, b.len);
	buf_free(&b);
	return (s);
}

struct ask
ask_health(const struct sandbox *s)
{
	struct ask a = {
	    .s = s,
	    .call = {.method = "GET",
		.gone_fd = s->gone_fd,
		.total_ms = SHORT_MS},
	    .path = BUF_INIT(16),
	    .body = BUF_INIT(SMALL_MAX),
	};

	buf_puts(&a.path, "/health");
	return (a);
}

enum sandbox_rc
sandbox_health(const struct sandbox *s)
{
	struct ask a = ask_health(s);
	enum sandbox_rc rc;

	rc = ask(&a, NULL);
	ask_free(&a);
	return (rc);
}

/* An id is used as it is in a path, so it must be harmless there. */
static int
session_id(struct jspan root, char id[static SANDBOX_IDMAX + 1])
{
	struct buf b = BUF_INIT(SANDBOX_IDMAX);
	struct jspan v;
	int rc = -1;

	if (jspan_get(root, "session_id", &v) == 1 && jspan_str(&b, v) == 0 &&
	    b.len > 0 && strlen(b.p) == b.len &&
	    strspn(b.p,
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		"0123456789-_.~") == b.len) {
		memcpy(id, b.p, b.len + 1);
		rc = 0;
	} else
		log_err(SANDBOX_LABEL ": its session id is none");
	buf_free(&b);
	return (rc);
}

enum sandbox_rc
sandbox_create(const struct sandbox *s, uint64_t idle_s, uint64_t lifetime_s,
    char id[static SANDBOX_IDMAX + 1])
{
	struct ask a = {
	    .s = s,
	    /* Not broken off when our client leaves: nobody would know the
	     * session's id, and it would stay. */
	    .call = {.method = "POST", .gone_fd = -1, .total_ms = SHORT_MS},
	    .path = BUF_INIT(16),
	    .body = BUF_INIT(SMALL_MAX),
	};
	struct buf body = BUF_INIT(256);
	struct jspan root;
	enum sandbox_rc rc;

	buf_puts(&a.path, "/sessions");
	buf_printf(&body,
	    "{\"idle_timeout_seconds\":%ju,\"max_lifetime_seconds\":%ju}",
	    (uintmax_t)idle_s, (uintmax_t)lifetime_s);
	a.call.body = body.p;
	a.call.len = body.len;
	rc = buf_ok(&body) ? ask(&a, "Content-Type: application/json")
			   : SANDBOX_DOWN;
	if (rc == SANDBOX_OK &&
	    (answer_root(&a, &root) || session_id(root, id)))
		rc = SANDBOX_DOWN;
	buf_free(&body);
	ask_free(&a);
	return (rc);
}

long long
answer_int(struct jspan o, const char *key, long long otherwise)
{
	char text[24], *end;
	struct jspan v;
	long long x;

	if (jspan_get(o, key, &v) == 0 || v.len >= sizeof(text))
		return (otherwise);
	memcpy(text, v.p, v.len);
	text[v.len] = '\0';
	x = strtoll(text, &end, 10);
	return (*end == '\0' && end != text ? x : otherwise);
}

/* Where the sandbox says that the middle of its text ${key} is missing. */
static void
read_gap(struct jspan content, const char *key, size_t len, struct gap *g)
{
	char name[32];
	struct jspan o;
	long long at, line, bytes;

	memset(g, 0, sizeof(*g));
	(void)snprintf(name, sizeof(name), "%s_left_out", key);
	if (jspan_get(content, name, &o) == 0 || o.p[0] != '{')
		return;
	bytes = answer_int(o, "bytes", 0);
	at = answer_int(o, "line_begins", -1);
	line = answer_int(o, "line_bytes", -1);
	if (bytes > 0 && at >= 0 && line >= 0 && (size_t)at <= len &&
	    (size_t)line <= len - (size_t)at)
		*g = (struct gap){(uint64_t)bytes, (size_t)at, (size_t)line};
}

/* The text ${raw} as clean UTF-8 in ${b}; what is missing of it in ${g}. */
static int
clean_stream(
    struct buf *b, const struct buf *raw, const struct gap *was, struct gap *g)
{
	struct buf head = BUF_INIT(SANDBOX_ANSWER_MAX), tail = head;
	const size_t nhead = was->bytes > 0 ? was->at : raw->len;
	const size_t from = was->bytes > 0 ? was->at + was->line : raw->len;
	int rc = -1;

	if ((nhead == 0 || utf8_scrub(&head, raw->p, nhead) == 0) &&
	    (from == raw->len ||
		utf8_scrub(&tail, raw->p + from, raw->len - from) == 0))
		rc = ends_join(b,
		    &(struct ends){.head = head.p,
			.nhead = head.len,
			.tail = tail.p,
			.ntail = tail.len,
			.between = was->bytes},
		    g);
	buf_free(&head);
	buf_free(&tail);
	return (rc);
}

/* A stream of a result: null is empty, what is no string stays as it is. */
static const char *
result_stream(struct arena *mem, struct jspan content, const char *key,
    size_t max, size_t *len, struct gap *g)
{
	struct buf raw = BUF_INIT(SANDBOX_ANSWER_MAX), clean = raw, cut = raw;
	struct jspan v = {"null", 4};
	const char *s = NULL;
	struct gap was;

	jspan_get(content, key, &v);
	if (v.p[0] == '"')
		jspan_str(&raw, v);
	else if (v.p[0] != 'n')
		buf_put(&raw, v.p, v.len);
	read_gap(content, key, raw.len, &was);
	if (buf_ok(&raw) && clean_stream(&clean, &raw, &was, &was) == 0 &&
	    ends_put(&cut, clean.p, clean.len, &was, max, g) == 0) {
		*len = cut.len;
		s = arena_strndup(mem, cut.len > 0 ? cut.p : "", cut.len);
	}
	buf_free(&cut);
	buf_free(&clean);
	buf_free(&raw);
	return (s);
}

static int
result_files(
    struct arena *mem, struct jspan content, struct sandbox_result *res)
{
	struct jspan list, v, name;
	struct sandbox_file *f;
	struct jspan_iter it;
	long long bytes;
	size_t n = 0;

	if (jspan_get(content, "content", &list) == 0 || list.p[0] != '[')
		return (0);
	for (jspan_iter(&it, list); jspan_next(&it, NULL, &v);)
		n++;
	if (n > SANDBOX_PATHS)
		n = SANDBOX_PATHS;
	if ((f = arena_alloc(mem, (n + 1) * sizeof(*f))) == NULL)
		return (-1);
	res->files = f;
	for (jspan_iter(&it, list); jspan_next(&it, NULL, &v);) {
		if (res->nfiles == n)
			break;
		if (jspan_get(v, "filename", &name) == 0)
			continue;
		f->path = answer_str(mem, name, SANDBOX_PATH_MAX);
		bytes = answer_int(v, "size_bytes", -1);
		f->bytes = bytes < 0 ? SANDBOX_UNKNOWN : (uint64_t)bytes;
		if (f->path != NULL) {
			res->nfiles++;
			f++;
		}
	}
	return (0);
}

enum sandbox_rc
answer_result(const struct ask *a, struct arena *mem, size_t max,
    struct sandbox_result *res)
{
	struct jspan root, block, content, v;

	if (answer_root(a, &root))
		return (SANDBOX_DOWN);
	if (jspan_get(root, "result_block", &block) == 0 ||
	    jspan_get(block, "content", &content) == 0 || content.p[0] != '{') {
		log_err(SANDBOX_LABEL ": an execution without a result");
		return (SANDBOX_DOWN);
	}
	res->return_code = (int)answer_int(content, "return_code", 0);
	res->ms =
	    (uint64_t)answer_int(root, "execution_time_ms", (long long)res->ms);
	res->truncated = jspan_get(content, "truncated", &v) && v.p[0] == 't';
	res->out = result_stream(
	    mem, content, "stdout", max, &res->outlen, &res->out_gap);
	res->err = result_stream(
	    mem, content, "stderr", max, &res->errlen, &res->err_gap);
	if (res->out == NULL || res->err == NULL ||
	    result_files(mem, content, res)) {
		log_err(SANDBOX_LABEL ": no memory for a result");
		return (SANDBOX_DOWN);
	}
	return (SANDBOX_OK);
}

enum sandbox_rc
sandbox_exec(const struct sandbox *s, struct arena *mem, const char *id,
    const char *tool, struct jspan input, uint64_t timeout_s, size_t max,
    struct sandbox_result *res)
{
	struct ask a = ask_session(s, "POST", id, "/exec", NULL);
	struct buf body = BUF_INIT(input.len + 256);
	uint64_t start = clock_ms();
	enum sandbox_rc rc = SANDBOX_DOWN;

	*res = (struct sandbox_result){0};
	a.body.max = SANDBOX_ANSWER_MAX;
	a.call.total_ms = timeout_s * 1000 + SANDBOX_GRACE_MS;
	a.call.first_ms = a.call.total_ms;
	buf_printf(&body,
	    "{\"tool\":\"%s\",\"timeout_seconds\":%ju,\"input\":", tool,
	    (uintmax_t)timeout_s);
	buf_put(&body, input.p, input.len);
	buf_puts(&body, "}");
	a.call.body = body.p;
	a.call.len = body.len;
	if (buf_ok(&body))
		rc = ask(&a, "Content-Type: application/json");
	res->ms = clock_ms() - start;
	if (rc == SANDBOX_OK)
		rc = answer_result(&a, mem, max, res);
	buf_free(&body);
	ask_free(&a);
	return (rc);
}

/* A multipart body: text, the file's bytes, text. */
struct form {
	struct buf head, tail;
	upstream_read_fn *read;
	void *cookie;
	uint64_t len;
	struct ask *ask; /* Callbacks share one cookie. */
};

static ssize_t
form_piece(const struct buf *b, uint64_t off, void *buf, size_t len)
{

	if (len > b->len - off)
		len = (size_t)(b->len - off);
	memcpy(buf, b->p + off, len);
	return ((ssize_t)len);
}

static ssize_t
form_read(void *cookie, uint64_t off, void *buf, size_t len)
{
	struct form *f = ((struct ask *)cookie)->cookie;

	if (off < f->head.len)
		return (form_piece(&f->head, off, buf, len));
	off -= f->head.len;
	if (off >= f->len)
		return (form_piece(&f->tail, off - f->len, buf, len));
	if (len > f->len - off)
		len = (size_t)(f->len - off);
	return (f->read(f->cookie, off, buf, len));
}

enum sandbox_rc
sandbox_put(const struct sandbox *s, const char *id, const char *path,
    upstream_read_fn *read, void *cookie, uint64_t len)
{
	struct ask a = ask_session(s, "POST", id, "/files", NULL);
	struct form f = {.head = BUF_INIT(SANDBOX_PATH_MAX + 512),
	    .tail = BUF_INIT(128),
	    .read = read,
	    .cookie = cookie,
	    .len = len};
	enum sandbox_rc rc = SANDBOX_DOWN;
	char line[33], type[96];

	if (id_hex(line, 32) == 0) {
		buf_printf(&f.head,
		    "--%s\r\nContent-Disposition: form-data; name=\"path\""
		    "\r\n\r\n%s\r\n--%s\r\nContent-Disposition: form-data;"
		    " name=\"file\"; filename=\"file\"\r\n"
		    "Content-Type: application/octet-stream\r\n\r\n",
		    line, path, line);
		buf_printf(&f.tail, "\r\n--%s--\r\n", line);
		(void)snprintf(type, sizeof(type),
		    "Content-Type: multipart/form-data; boundary=%s", line);
		a.call.read = form_read;
		a.call.len = f.head.len + len + f.tail.len;
		a.cookie = &f;
		if (buf_ok(&f.head) && buf_ok(&f.tail))
			rc = ask(&a, type);
	}
	buf_free(&f.head);
	buf_free(&f.tail);
	ask_free(&a);
	return (rc);
}

enum sandbox_rc
sandbox_get(const struct sandbox *s, const char *id, const char *path,
    uint64_t max, upstream_body_fn *sink, void *cookie)
{
	struct ask a = ask_session(s, "GET", id, "/files", path);
	enum sandbox_rc rc;

	a.call.max = max;
	a.sink = sink;
	a.cookie = cookie;
	rc = ask(&a, NULL);
	ask_free(&a);
	return (rc);
}

static enum sandbox_rc
entries_read(struct arena *mem, struct jspan root,
    struct sandbox_entry **entries, size_t *n)
{
	struct jspan list, v, path;
	struct jspan_iter it;
	size_t all = 0;

	if (jspan_get(root, "files", &list) == 0 || list.p[0] != '[') {
		log_err(SANDBOX_LABEL ": a listing without files");
		return (SANDBOX_DOWN);
	}
	for (jspan_iter(&it, list); jspan_next(&it, NULL, &v);)
		all++;
	if ((*entries = arena_alloc(mem, (all + 1) * sizeof(**entries))) ==
	    NULL)
		return (SANDBOX_DOWN);
	*n = 0;
	for (jspan_iter(&it, list); jspan_next(&it, NULL, &v);) {
		if (jspan_get(v, "path", &path) == 0)
			continue;
		(*entries)[*n].path = answer_str(mem, path, SANDBOX_PATH_MAX);
		(*entries)[*n].bytes = (uint64_t)answer_int(v, "size_bytes", 0);
		if ((*entries)[*n].path != NULL)
			(*n)++;
	}
	return (SANDBOX_OK);
}

enum sandbox_rc
sandbox_list(const struct sandbox *s, struct arena *mem, const char *id,
    const char *path, struct sandbox_entry **entries, size_t *n)
{
	struct ask a = ask_session(s, "GET", id, "/files/list", path);
	struct jspan root;
	enum sandbox_rc rc;

	a.body.max = SANDBOX_ANSWER_MAX;
	if ((rc = ask(&a, NULL)) == SANDBOX_OK)
		rc = answer_root(&a, &root)
		    ? SANDBOX_DOWN
		    : entries_read(mem, root, entries, n);
	ask_free(&a);
	return (rc);
}

enum sandbox_rc
sandbox_destroy(const struct sandbox *s, const char *id)
{
	struct ask a = ask_session(s, "DELETE", id, "", NULL);
	enum sandbox_rc rc;

	a.call.gone_fd = -1;
	a.call.total_ms = SHORT_MS;
	rc = ask(&a, NULL);
	ask_free(&a);
	return (rc == SANDBOX_NONE ? SANDBOX_OK : rc);
}
