#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/jget.h"
#include "base/jlines.h"
#include "base/jset.h"
#include "base/log.h"

#include "fcgi/sandbox.h"

#define HEAD_MAX 1024
#define REPLY_MAX (64U << 20)

/* clang-format off */
static const struct {
	int status;
	const char *text;
} phrases[] = {
	{ 200, "OK" }, { 201, "Created" }, { 204, "No Content" },
	{ 400, "Bad Request" }, { 401, "Unauthorized" }, { 403, "Forbidden" },
	{ 404, "Not Found" }, { 405, "Method Not Allowed" },
	{ 408, "Request Timeout" }, { 413, "Content Too Large" },
	{ 415, "Unsupported Media Type" }, { 422, "Unprocessable Content" },
	{ 500, "Internal Server Error" }, { 503, "Service Unavailable" },
	{ 0, "Status" }
};
/* clang-format on */

static const char *
phrase(int status)
{
	size_t i;

	for (i = 0; phrases[i].status != 0; i++)
		if (phrases[i].status == status)
			break;
	return (phrases[i].text);
}

int
sbx_write(struct sbx_req *r, const void *p, size_t len)
{

	if (io_write(r->io, p, len)) {
		r->gone = 1;
		return (-1);
	}
	r->bytes_out += len;
	return (0);
}

/* Write the head that begins with ${b}, which is freed. */
static int
send_head(struct sbx_req *r, struct buf *b)
{
	int rc;

	(void)buf_puts(b,
	    "X-Content-Type-Options: nosniff\r\n"
	    "Cache-Control: no-store\r\n\r\n");
	rc = io_write(r->io, b->p, b->len);
	if (rc)
		r->gone = 1;
	buf_free(b);
	return (rc);
}

int
sbx_begin(struct sbx_req *r, int status, const char *type, uint64_t length)
{
	struct buf b = BUF_INIT(HEAD_MAX);

	r->status = status;
	(void)buf_printf(&b, "Status: %d %s\r\n", status, phrase(status));
	if (type != NULL)
		(void)buf_printf(&b,
		    "Content-Type: %s\r\nContent-Length: %ju\r\n", type,
		    (uintmax_t)length);
	if (status == 401)
		(void)buf_puts(&b, "WWW-Authenticate: Bearer\r\n");
	if (status == 503)
		(void)buf_puts(&b, "Retry-After: 1\r\n");
	return (send_head(r, &b));
}

int
sbx_begin_events(struct sbx_req *r)
{
	struct buf b = BUF_INIT(HEAD_MAX);

	r->status = 200;
	r->events = 1;
	(void)buf_puts(&b,
	    "Status: 200 OK\r\nContent-Type: text/event-stream\r\n"
	    "X-Accel-Buffering: no\r\n");
	if (send_head(r, &b) || io_flush(r->io)) {
		r->gone = 1;
		return (-1);
	}
	return (0);
}

int
sbx_event(struct sbx_req *r, const char *name, const char *p, size_t len)
{
	struct buf b = BUF_INIT(3 * len + 64);
	const char *end = p + len;
	size_t n;
	int rc = -1;

	(void)buf_printf(&b, "event: %s\n", name);
	for (; p < end; p += n) {
		/* JSON has line breaks only where any space would do. */
		for (n = 0; p + n < end && p[n] != '\n' && p[n] != '\r'; n++)
			;
		(void)buf_puts(&b, "data: ");
		(void)jlines_put(&b, p, n);
		(void)buf_puts(&b, "\n");
		n += p + n < end;
	}
	(void)buf_puts(&b, "\n");
	if (buf_ok(&b) && sbx_write(r, b.p, b.len) == 0)
		rc = io_flush(r->io);
	if (rc)
		r->gone = 1;
	buf_free(&b);
	return (rc);
}

int
sbx_reply(struct sbx_req *r, int status, json_object *o)
{
	struct buf b = BUF_INIT(REPLY_MAX);
	const char *text;
	size_t len;

	if (o == NULL ||
	    (text = json_object_to_json_string_length(o,
		 JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE,
		 &len)) == NULL) {
		json_object_put(o);
		log_err("sandbox: no memory for an answer");
		if (r->events)
			return (0);
		(void)sbx_begin(r, 500, "application/json", 2);
		(void)sbx_write(r, "{}", 2);
		return (0);
	}
	if (r->events)
		(void)sbx_event(
		    r, status / 100 == 2 ? "result" : "error", text, len);
	else if (jlines_put(&b, text, len) == 0 &&
	    sbx_begin(r, status, "application/json", b.len) == 0)
		(void)sbx_write(r, b.p, b.len);
	buf_free(&b);
	json_object_put(o);
	return (0);
}

int
sbx_fail(struct sbx_req *r, int status, const char *code, const char *fmt, ...)
{
	json_object *o = json_object_new_object();
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (o != NULL &&
	    (jset(o, "detail", jstr(text)) || jset(o, "code", jstr(code)))) {
		json_object_put(o);
		o = NULL;
	}
	return (sbx_reply(r, status, o));
}

static int
too_large(struct sbx_req *r, size_t max)
{

	(void)sbx_fail(
	    r, 413, "too_large", "the body is larger than %zu bytes", max);
	return (-1);
}

int
sbx_body(struct sbx_req *r, size_t max, const char **text, size_t *len)
{
	struct buf b = BUF_INIT(max);
	char piece[16384];
	enum io_rc rc;
	size_t n;

	if (io_declared(r->io) > (int64_t)max)
		return (too_large(r, max));
	while ((rc = io_read(r->io, piece, sizeof(piece), &n)) == IO_OK) {
		r->bytes_in += n;
		if (buf_put(&b, piece, n)) {
			buf_free(&b);
			return (too_large(r, max));
		}
	}
	if (rc == IO_SLOW)
		(void)sbx_fail(r, 408, "slow", "the body came too slowly");
	else if (rc != IO_END)
		(void)sbx_fail(r, 400, "cut", "the body broke off");
	else if (arena_cleanup(r->mem, free, b.p)) {
		log_err("sandbox: no memory for a body");
		(void)sbx_fail(r, 500, "failed", "out of memory");
	} else {
		*text = b.p;
		*len = b.len;
		return (0);
	}
	buf_free(&b);
	return (-1);
}

int
sbx_json(struct sbx_req *r, size_t max, json_object **o)
{
	const char *text;
	size_t len, at;

	*o = NULL;
	if (sbx_body(r, max, &text, &len))
		return (-1);
	if (len == 0)
		return (0);
	switch (jget_parse(text, len, o, &at)) {
	case JGET_PARSE_OK:
		break;
	case JGET_PARSE_SYNTAX:
		(void)sbx_fail(r, 400, "bad_json",
		    "the body is not JSON, at byte %zu", at);
		return (-1);
	case JGET_PARSE_DEPTH:
		(void)sbx_fail(r, 400, "bad_json", "nested too deep");
		return (-1);
	case JGET_PARSE_MANY:
		(void)sbx_fail(r, 400, "bad_json", "too many values");
		return (-1);
	case JGET_PARSE_REPEATED:
		(void)sbx_fail(r, 400, "bad_json", "a key stands twice");
		return (-1);
	case JGET_PARSE_MEMORY:
		log_err("sandbox: no memory for a body");
		(void)sbx_fail(r, 500, "failed", "out of memory");
		return (-1);
	}
	if (!json_object_is_type(*o, json_type_object)) {
		json_object_put(*o);
		*o = NULL;
		(void)sbx_fail(r, 422, "invalid", "the body is no object");
		return (-1);
	}
	return (0);
}
