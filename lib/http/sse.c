#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "http/sse.h"

struct sse {
	struct buf line; /* What is there of a line that goes on. */
	struct buf name, data;
	int has_data;
	int started;  /* Past the byte-order mark. */
	int after_cr; /* An LF that comes first belongs to a CR. */
	int done;     /* The event was handed out: begin anew. */
};

static const char bom[] = "\xef\xbb\xbf";

struct sse *
sse_new(void)
{
	struct sse *S;

	if ((S = calloc(1, sizeof(*S))) == NULL)
		return (NULL);
	S->line.max = S->name.max = S->data.max = SSE_EVENT_MAX;
	return (S);
}

void
sse_free(struct sse *S)
{

	if (S == NULL)
		return;
	buf_free(&S->line);
	buf_free(&S->name);
	buf_free(&S->data);
	free(S);
}

/* Make ${b} empty but keep its memory for the next event. */
static void
clear(struct buf *b)
{

	b->len = 0;
}

/* Why an append failed. */
static enum sse_rc
failure(const struct buf *b, size_t more)
{

	return (more > b->max - b->len ? SSE_TOO_BIG : SSE_MEMORY);
}

static int
field(const char *s, size_t len, const char *want)
{

	return (len == strlen(want) && memcmp(s, want, len) == 0);
}

/*
 * Take in one line.  Return SSE_EVENT if it ends an event, SSE_MORE if not, or
 * what went wrong.
 */
static enum sse_rc
take_line(struct sse *S, const char *s, size_t len)
{
	const char *colon = memchr(s, ':', len);
	size_t name = colon == NULL ? len : (size_t)(colon - s);
	size_t at = colon == NULL ? len : name + 1;

	if (len == 0) {
		if (S->has_data)
			return (SSE_EVENT);
		clear(&S->name);
		return (SSE_MORE);
	}
	if (at < len && s[at] == ' ')
		at++;
	/* Older llama.cpp servers end a stream with "error: {...}". */
	if (field(s, name, "error") && S->name.len == 0 &&
	    buf_puts(&S->name, "error"))
		return (SSE_MEMORY);
	if (field(s, name, "data") || field(s, name, "error")) {
		if (S->data.len + S->has_data + len - at > SSE_EVENT_MAX)
			return (SSE_TOO_BIG);
		if ((S->has_data && buf_puts(&S->data, "\n")) ||
		    buf_put(&S->data, s + at, len - at))
			return (SSE_MEMORY);
		S->has_data = 1;
	} else if (field(s, name, "event")) {
		clear(&S->name);
		if (buf_put(&S->name, s + at, len - at))
			return (failure(&S->name, len - at));
	}
	return (SSE_MORE);
}

static enum sse_rc
hand_out(struct sse *S, struct sse_event *ev)
{

	ev->name = S->name.len > 0 ? S->name.p : "";
	ev->data = S->data.p;
	ev->len = S->data.len;
	S->done = 1;
	return (SSE_EVENT);
}

static void
begin_event(struct sse *S)
{

	if (!S->done)
		return;
	clear(&S->name);
	clear(&S->data);
	S->has_data = S->done = 0;
}

/* The end of the line that begins at ${s}, or NULL. */
static const char *
line_end(const char *s, size_t len)
{

	for (; len > 0; s++, len--)
		if (*s == '\n' || *s == '\r')
			return (s);
	return (NULL);
}

/* Take in the line of ${len} bytes at ${s} and what was kept before it. */
static enum sse_rc
end_line(struct sse *S, const char *s, size_t len)
{
	enum sse_rc rc;

	if (S->line.len > 0) {
		if (buf_put(&S->line, s, len))
			return (failure(&S->line, len));
		s = S->line.p;
		len = S->line.len;
	}
	if (!S->started && len >= 3 && memcmp(s, bom, 3) == 0) {
		s += 3;
		len -= 3;
	}
	S->started = 1;
	rc = take_line(S, s, len);
	clear(&S->line);
	return (rc);
}

enum sse_rc
sse_next(struct sse *S, const char **p, size_t *len, struct sse_event *ev)
{
	const char *end;
	enum sse_rc rc;
	size_t n;

	begin_event(S);
	while (*len > 0) {
		if (S->after_cr && **p == '\n') {
			++*p;
			--*len;
		}
		S->after_cr = 0;
		if (*len == 0)
			break;
		if ((end = line_end(*p, *len)) == NULL) {
			if (buf_put(&S->line, *p, *len))
				return (failure(&S->line, *len));
			*p += *len;
			*len = 0;
			break;
		}
		n = (size_t)(end - *p);
		S->after_cr = *end == '\r';
		rc = end_line(S, *p, n);
		*p += n + 1;
		*len -= n + 1;
		if (rc == SSE_EVENT)
			return (hand_out(S, ev));
		if (rc != SSE_MORE)
			return (rc);
	}
	return (SSE_MORE);
}

enum sse_rc
sse_end(struct sse *S, struct sse_event *ev)
{
	enum sse_rc rc;

	begin_event(S);
	if (S->line.len > 0 && (rc = end_line(S, "", 0)) != SSE_MORE)
		return (rc);
	return (S->has_data ? hand_out(S, ev) : SSE_MORE);
}

int
sse_put(struct buf *b, const char *name, const char *data, size_t len)
{
	const char *end;
	size_t n;

	if (name != NULL && buf_printf(b, "event: %s\n", name))
		return (-1);
	for (;;) {
		end = line_end(data, len);
		n = end == NULL ? len : (size_t)(end - data);
		if (buf_puts(b, "data: ") || buf_put(b, data, n) ||
		    buf_puts(b, "\n"))
			return (-1);
		if (end == NULL)
			return (buf_puts(b, "\n"));
		n += 1 + (end[0] == '\r' && len - n > 1 && end[1] == '\n');
		data += n;
		len -= n;
	}
}

int
sse_comment(struct buf *b, const char *text)
{

	return (buf_printf(b, ": %s\n\n", text));
}
