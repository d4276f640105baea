#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/buf.h"
#include "base/conf.h"
#include "base/jlines.h"
#include "base/id.h"
#include "base/log.h"
#include "base/utf8.h"
#include "io/blob.h"

#include "fcgi/io.h"
#include "fcgi/req.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define LINE_MAX 4096    /* Of one header. */
#define MESSAGE_MAX 1024 /* Of an error's text. */
#define SOON_MIN 1000    /* When to come back, ms: from here... */
#define SOON_MAX 5000    /* ...to here. */

/* What a browser's program may read of an answer from another origin. */
#define EXPOSED                                      \
	"x-request-id, request-id, retry-after, "    \
	"content-disposition, content-range, etag, " \
	"last-modified, accept-ranges, x-should-retry"

/* clang-format off */
static const struct phrase {
	int status;
	const char *text;
} phrases[] = {
	{ 200, "OK" },
	{ 204, "No Content" },
	{ 206, "Partial Content" },
	{ 304, "Not Modified" },
	{ 400, "Bad Request" },
	{ 401, "Unauthorized" },
	{ 403, "Forbidden" },
	{ 404, "Not Found" },
	{ 405, "Method Not Allowed" },
	{ 408, "Request Timeout" },
	{ 412, "Precondition Failed" },
	{ 413, "Content Too Large" },
	{ 415, "Unsupported Media Type" },
	{ 416, "Range Not Satisfiable" },
	{ 429, "Too Many Requests" },
	{ 500, "Internal Server Error" },
	{ 502, "Bad Gateway" },
	{ 503, "Service Unavailable" },
	{ 504, "Gateway Timeout" },
	{ 507, "Insufficient Storage" },
};
/* clang-format on */

static const char *
phrase(int status)
{

	for (size_t i = 0; i < NELEM(phrases); i++) {
		if (phrases[i].status == status)
			return (phrases[i].text);
	}
	return ("Status");
}

/* Send ${len} bytes; remember a client that has gone. */
static int
put(struct req *r, const void *p, size_t len)
{

	if (io_write(r->io, p, len) == 0)
		return (0);
	r->gone = 1;
	return (-1);
}

/* Add a header whose ${value} is one line for sure. */
static void
add(struct req *r, const char *name, const char *value)
{

	(void)buf_puts(&r->headers, name);
	(void)buf_puts(&r->headers, ": ");
	(void)buf_puts(&r->headers, value);
	if (buf_puts(&r->headers, "\r\n"))
		log_err("reply: no room for the header %s", name);
}

void
reply_header(struct req *r, const char *name, const char *fmt, ...)
{
	char value[LINE_MAX];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(value, sizeof(value), fmt, ap);
	va_end(ap);
	if (n < 0 || n >= (int)sizeof(value)) {
		log_err("reply: the header %s is too long", name);
		return;
	}
	for (char *p = value; *p != '\0'; p++) {
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '_';
	}
	add(r, name, value);
}

/* Headers for a browser's program from the origin that may call. */
static void
cors(struct req *r)
{
	const char *allowed = r->srv->conf->cors_origin;
	const char *origin = req_header(r, "Origin");

	if (allowed == NULL || origin == NULL || *origin == '\0')
		return;
	if (strcmp(allowed, "*") != 0) {
		reply_header(r, "Vary", "Origin");
		if (strcmp(allowed, origin) != 0)
			return;
	}
	reply_header(r, "Access-Control-Allow-Origin", "%s", allowed);
	reply_header(r, "Access-Control-Expose-Headers", "%s", EXPOSED);
}

static int
is_json(const char *type)
{

	return (type != NULL && strncmp(type, "application/json", 16) == 0);
}

int
reply_begin(struct req *r, int status, const char *type, int64_t length)
{
	char line[64];
	int n;

	if (type != NULL)
		reply_header(r, "Content-Type", "%s", type);
	if (length >= 0)
		reply_header(r, "Content-Length", "%lld", (long long)length);
	add(r, "x-request-id", r->id);
	add(r, "request-id", r->id);
	add(r, "X-Content-Type-Options", "nosniff");
	/* Some agents ask again without end and without a word otherwise. */
	if (status == 401 || status == 403)
		add(r, "x-should-retry", "false");
	/* A stored file may be JSON too, and has a rule of its own. */
	if (is_json(type) &&
	    (r->headers.p == NULL ||
		strstr(r->headers.p, "Cache-Control: ") == NULL))
		add(r, "Cache-Control", "no-store");
	cors(r);
	n = snprintf(
	    line, sizeof(line), "Status: %d %s\r\n", status, phrase(status));
	r->status = status;
	if (put(r, line, (size_t)n) || put(r, r->headers.p, r->headers.len))
		return (-1);
	return (put(r, "\r\n", 2));
}

int
reply_body(struct req *r, const void *buf, size_t len)
{

	if (r->head || len == 0)
		return (0);
	if (put(r, buf, len))
		return (-1);
	r->bytes_out += len;
	return (0);
}

int
reply_text(struct req *r, int status, const char *json, size_t len)
{
	struct buf b = BUF_INIT(3 * len);
	int rc = -1;

	if (jlines_has(json, len)) {
		(void)jlines_put(&b, json, len);
		json = b.p;
		len = b.len;
	}
	if (buf_ok(&b) &&
	    reply_begin(r, status, "application/json", (int64_t)len) == 0)
		rc = reply_body(r, json, len);
	buf_free(&b);
	return (rc);
}

int
reply_json(struct req *r, int status, json_object *body)
{
	const char *s;
	size_t len;
	int rc = -1;

	if (body == NULL)
		return (-1);
	if ((s = json_object_to_json_string_length(body,
		 JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE,
		 &len)) != NULL)
		rc = reply_text(r, status, s, len);
	json_object_put(body);
	return (rc);
}

unsigned int
reply_soon_ms(void)
{
	uint32_t x;

	/* Without random bytes (logged) the time is as good. */
	if (id_bytes(&x, sizeof(x)))
		x = (uint32_t)clock_ms();
	return (SOON_MIN + x % (SOON_MAX - SOON_MIN + 1));
}

int
reply_row(struct req *r, const struct problem_row *row, const char *param,
    const char *message)
{
	struct buf clean = BUF_INIT(4 * MESSAGE_MAX);
	unsigned int ms;
	int rc;

	if (r->status != 0) {
		/* Too late to say so; dispatch breaks the answer off. */
		log_err("reply: after the answer began: %s", message);
		return (-1);
	}
	/* It may quote the caller, or have been cut inside a character. */
	if (utf8_scrub(&clean, message, strlen(message)))
		return (-1);
	if ((ms = row->retry_after == PROBLEM_SOON
		    ? reply_soon_ms()
		    : (unsigned int)row->retry_after * 1000) > 0) {
		reply_header(r, "Retry-After", "%u", (ms + 999) / 1000);
		reply_header(r, "retry-after-ms", "%u", ms);
	}
	if (row->no_retry)
		reply_header(r, "x-should-retry", "false");
	rc = reply_json(r, row->status,
	    r->dialect->error(
		row, clean.p != NULL ? clean.p : "", param, r->id));
	buf_free(&clean);
	return (rc);
}

int
reply_problem(
    struct req *r, enum problem kind, const char *param, const char *fmt, ...)
{
	char message[MESSAGE_MAX];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	return (reply_row(r, problem_row(kind), param, message));
}

int
reply_invalid(struct req *r, const char *key, const char *what)
{

	(void)reply_problem(
	    r, P_INVALID_VALUE, key, "%s must be %s", key, what);
	return (-1);
}

int
reply_data(struct req *r, enum data_rc rc)
{

	if (rc == DATA_DOWN || rc == DATA_UNSURE)
		return (reply_problem(r, P_DATABASE, NULL,
		    "The database is not available at the moment"));
	if (rc == DATA_QUOTA)
		return (reply_problem(
		    r, P_QUOTA, NULL, "The storage quota is used up"));
	return (reply_problem(r, P_SERVER, NULL, "Internal server error"));
}

int
reply_store(struct req *r, int rc)
{

	if (rc == BLOB_FULL)
		return (reply_problem(
		    r, P_FULL, NULL, "There is no space left for files"));
	if (rc == BLOB_AWAY)
		return (reply_problem(r, P_STORE, NULL,
		    "The file store is not available at the moment"));
	return (reply_problem(r, P_SERVER, NULL, "Internal server error"));
}
