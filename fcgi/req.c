#include <ctype.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/conf.h"
#include "base/id.h"
#include "base/jget.h"
#include "base/jspan.h"
#include "base/log.h"
#include "io/db.h"

#include "fcgi/body.h"
#include "fcgi/io.h"
#include "fcgi/req.h"
#include "fcgi/req_path.h"
#include "fcgi/routes.h"
#include "fcgi/stats.h"

#define HEAD_MAX 32768   /* Of an answer's headers. */
#define CHUNK 16384      /* Bytes of a JSON body read at a time. */
#define SMALL 4096       /* Bytes of a body that cannot come to a MiB. */
#define VALUE_BYTES 96   /* Of a value in memory, about... */
#define OBJECT_BYTES 640 /* ...and of an object, more. */
#define IDLEN 24         /* Random characters of a request's id. */

const char *
req_header(const struct req *r, const char *name)
{
	static const char prefix[] = "HTTP_";
	char param[128], *p = param;
	const char *s;

	/* CGI has these two without the prefix. */
	if (strcasecmp(name, "Content-Type") != 0 &&
	    strcasecmp(name, "Content-Length") != 0)
		p = stpcpy(param, prefix);
	if (strlen(name) >= sizeof(param) - (size_t)(p - param))
		return (NULL);
	for (s = name; *s != '\0'; s++)
		*p++ = *s == '-' ? '_' : (char)toupper((unsigned char)*s);
	*p = '\0';
	return (io_param(r->io, param));
}

/* The media type of ${r}'s body, if it says one, must be JSON. */
static int
says_json(const struct req *r)
{
	const char *type = req_header(r, "Content-Type");
	size_t len;

	if (type == NULL || *type == '\0')
		return (1);
	len = strcspn(type, "; \t");
	return (len == strlen("application/json") &&
	    strncasecmp(type, "application/json", len) == 0);
}

/*
 * Read the body into ${b}, whose ceiling is one more than it may have.  Return
 * 0; 1 if it has more than ${max} bytes; or -1 after answering.
 */
static int
read_body(struct req *r, struct buf *b, size_t max)
{
	char chunk[CHUNK];
	enum io_rc rc;
	size_t n;

	if (io_declared(r->io) > (int64_t)max)
		return (1);
	while ((rc = req_body_read(r, chunk, sizeof(chunk), &n)) == IO_OK) {
		if (b->len + n > max)
			return (1);
		if (buf_put(b, chunk, n)) {
			(void)reply_problem(
			    r, P_SERVER, NULL, "Internal server error");
			return (-1);
		}
	}
	req_body_end(r);
	if (rc == IO_END)
		return (0);
	(void)req_body_failed(r, rc);
	return (-1);
}

int
req_peek(struct req *r, size_t max, const char **text, size_t *len)
{
	struct buf b = BUF_INIT(max + 1);
	int rc;

	if (!says_json(r))
		return (1);
	r->body.hurry = 1;
	rc = read_body(r, &b, max);
	r->body.hurry = 0;
	if (rc != 0) {
		buf_free(&b);
		return (rc);
	}
	r->peeked = b;
	r->has_peeked = 1;
	*text = b.len > 0 ? b.p : "";
	*len = b.len;
	return (0);
}

/* What is wrong with the JSON of a body. */
static const struct {
	enum jget_parse rc;
	const char *text;
} broken[] = {
    {JGET_PARSE_DEPTH, "The request body is nested too deeply"},
    {JGET_PARSE_REPEATED, "The request body has a key twice in one object"},
};

/* Refuse a body by what its parser said.  Return -1. */
static int
refuse_json(struct req *r, enum jget_parse rc, size_t at)
{

	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		if (broken[i].rc != rc)
			continue;
		(void)reply_problem(r, P_BAD_JSON, NULL, "%s", broken[i].text);
		return (-1);
	}
	if (rc == JGET_PARSE_SYNTAX)
		(void)reply_problem(r, P_BAD_JSON, NULL,
		    "The request body is not valid JSON, at byte %zu", at);
	else if (rc == JGET_PARSE_MANY)
		(void)reply_problem(r, P_BAD_JSON, NULL,
		    "The request body has more than %d values", JGET_VALUES);
	else if (rc == JGET_PARSE_OK)
		(void)reply_problem(r, P_BAD_JSON, NULL,
		    "The request body is not a JSON object");
	else
		(void)reply_problem(r, P_SERVER, NULL, "Internal server error");
	return (-1);
}

/*
 * What a body may come to in memory, bytes: its text, once more as values, and
 * what each of them takes, an object most.
 */
static uint64_t
cost(const struct buf *b)
{
	struct jspan_info info = {.values = 0};
	uint64_t bytes = 2 * (uint64_t)b->len;

	if (b->len <= SMALL)
		return (0);
	(void)jspan_check(b->p, b->len, JSPAN_DEPTH_MAX, &info);
	bytes += info.values * VALUE_BYTES;
	for (const char *p = b->p, *end = b->p + b->len;
	     (p = memchr(p, '{', (size_t)(end - p))) != NULL; p++)
		bytes += OBJECT_BYTES;
	return (bytes);
}

/* Read a body that says it is JSON.  Return 0, or -1 after answering. */
static int
read_json(struct req *r, size_t max, struct buf *b)
{
	int rc = 0;

	if (!says_json(r)) {
		(void)reply_problem(r, P_MEDIA_TYPE, NULL,
		    "The request body must be application/json");
		return (-1);
	}
	if (r->has_peeked) {
		buf_free(b);
		*b = r->peeked;
		r->peeked = (struct buf)BUF_INIT(0);
		r->has_peeked = 0;
	} else {
		rc = read_body(r, b, max);
	}
	if (rc == 1)
		(void)reply_problem(r, P_BODY_TOO_LARGE, NULL,
		    "The request body exceeds the limit of %zu bytes", max);
	return (rc != 0 || buf_puts(b, "") ? -1 : 0);
}

/* Leave the text of ${b} to the request.  Return 0, or -1 after answering. */
static int
keep_text(struct req *r, struct buf *b)
{

	if (arena_cleanup(r->mem, free, b->p) == 0)
		return (0);
	(void)reply_problem(r, P_SERVER, NULL, "Internal server error");
	return (-1);
}

/* As req_json(), or with a ${depth} as req_json_last(). */
static int
take_json(struct req *r, size_t max, unsigned int depth, json_object **o,
    const char **text, size_t *len)
{
	struct buf b = BUF_INIT(max + 1);
	enum jget_parse rc;
	size_t at = 0;

	if (read_json(r, max, &b) || share_bulk(r, cost(&b)))
		goto err0;
	rc = depth > 0 ? jget_parse_last(b.p, b.len, depth, o, &at)
		       : jget_parse(b.p, b.len, o, &at);
	if (rc != JGET_PARSE_OK || !json_object_is_type(*o, json_type_object)) {
		(void)refuse_json(r, rc, at);
		goto err1;
	}
	if (text == NULL) {
		buf_free(&b);
		return (0);
	}
	if (keep_text(r, &b))
		goto err1;
	*text = b.p;
	*len = b.len;
	return (0);

err1:
	json_object_put(*o);
err0:
	/* Failure! */
	buf_free(&b);
	return (-1);
}

int
req_span(struct req *r, size_t max, struct jspan *text, struct jspan *root)
{
	struct buf b = BUF_INIT(max + 1);
	enum jget_parse rc;
	size_t at = 0;

	if (read_json(r, max, &b) || share_bulk(r, 2 * (uint64_t)b.len))
		goto err0;
	rc = jget_check(b.p, b.len, root, &at);
	if (rc != JGET_PARSE_OK || *root->p != '{') {
		(void)refuse_json(r, rc, at);
		goto err0;
	}
	if (keep_text(r, &b))
		goto err0;
	*text = (struct jspan){b.p, b.len};
	return (0);

err0:
	/* Failure! */
	buf_free(&b);
	return (-1);
}

int
req_json(
    struct req *r, size_t max, json_object **o, const char **text, size_t *len)
{

	return (take_json(r, max, 0, o, text, len));
}

int
req_json_last(struct req *r, size_t max, unsigned int depth, json_object **o,
    const char **text, size_t *len)
{

	return (take_json(r, max, depth, o, text, len));
}

static void
make_id(struct req *r)
{

	(void)snprintf(r->id, sizeof(r->id), "req_");
	/* Without random bytes (logged) an id still tells requests apart. */
	if (id_base62(r->id + 4, IDLEN))
		(void)snprintf(r->id + 4, IDLEN + 1, "%024" PRIx64,
		    clock_unix_ms() << 20 | ((uintptr_t)r & 0xfffff));
}

static void
take_method(struct req *r)
{
	const char *s = io_param(r->io, "REQUEST_METHOD");

	r->method = s != NULL && *s != '\0' ? s : "GET";
	r->head = strcmp(r->method, "HEAD") == 0;
	if (r->head)
		r->method = "GET";
}

static void
log_done(const struct req *r, uint64_t us)
{
	char name[ROUTES_NAMEMAX];
	struct log_access a = r->log;

	routes_name(r->route, name);
	a.method = r->head ? "HEAD" : r->method;
	a.route = name;
	a.status = r->status;
	a.ms = (double)us / 1000;
	a.bytes_in = r->bytes_in;
	a.bytes_out = r->bytes_out;
	a.key = r->caller.key;
	a.aborted = r->gone;
	a.workspace = r->caller.workspace;
	a.user = r->caller.user;
	log_access(&a);
}

/*
 * What a large body took, as text and as a tree of small pieces, goes back to
 * the system: the allocator would keep it for good.  One thread does so for all
 * that ask at the same time.
 */
static void
give_back(void *none)
{
	static _Atomic unsigned int asked;
	unsigned int n;

	(void)none;
	if (atomic_fetch_add(&asked, 1) > 0)
		return;
	do {
		n = atomic_load(&asked);
		(void)malloc_trim(0);
	} while (!atomic_compare_exchange_strong(&asked, &n, 0));
}

/* A monotonic clock in microseconds, to measure by. */
static uint64_t
now_us(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000);
}

void
req_serve(struct server *srv, struct io *io)
{
	struct req r = {.srv = srv,
	    .io = io,
	    .dialect = &dialect_openai,
	    .peeked = BUF_INIT(0),
	    .headers = BUF_INIT(HEAD_MAX)};
	const uint64_t since = now_us();
	uint64_t us;

	stats_begin(srv->stats, srv->slot);
	make_id(&r);
	log_request(r.id);
	db_afresh();
	take_method(&r);
	if ((r.mem = arena_new(REQ_MEM_MAX)) == NULL || req_path(&r)) {
		log_err("req: out of memory");
		(void)reply_problem(
		    &r, P_SERVER, NULL, "Internal server error");
	} else {
		dispatch(&r);
	}
	req_body_end(&r);
	if (r.share[SHARE_BULK].held != 0)
		io_after(io, give_back, NULL);
	share_leave(&r);
	us = now_us() - since;
	log_done(&r, us);
	stats_end(srv->stats, srv->slot, r.route, r.status, us, r.bytes_in,
	    r.bytes_out);
	log_request(NULL);
	buf_free(&r.peeked);
	buf_free(&r.headers);
	arena_free(r.mem);
}
