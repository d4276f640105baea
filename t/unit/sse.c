#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "http/sse.h"
#include "t/unit/tap.h"

static void
note(struct buf *b, const struct sse_event *ev)
{

	(void)buf_printf(b, "%s<", ev->name);
	(void)buf_put(b, ev->data, ev->len);
	(void)buf_puts(b, ">");
}

/* Read ${s} in pieces of ${piece} (then all the rest after ${split}). */
static enum sse_rc
read_all(const char *s, size_t len, size_t piece, size_t split, struct buf *b)
{
	struct sse *S = sse_new();
	enum sse_rc rc = SSE_MORE;
	struct sse_event ev;
	const char *p;
	size_t at, n, left;
	char *copy;

	for (at = 0; at < len && rc == SSE_MORE; at += n) {
		n = split == 0 ? piece : at == 0 ? split : len;
		if (n > len - at)
			n = len - at;
		if ((copy = malloc(n)) == NULL)
			break;
		memcpy(copy, s + at, n);
		p = copy;
		left = n;
		while ((rc = sse_next(S, &p, &left, &ev)) == SSE_EVENT)
			note(b, &ev);
		free(copy);
	}
	if (rc == SSE_MORE && (rc = sse_end(S, &ev)) == SSE_EVENT) {
		note(b, &ev);
		rc = sse_end(S, &ev);
	}
	sse_free(S);
	return (rc);
}

static int
once(const char *s, size_t len, size_t piece, size_t split, const char *want)
{
	struct buf b = BUF_INIT(1 << 20);
	int same;

	(void)buf_puts(&b, "");
	same = read_all(s, len, piece, split, &b) == SSE_MORE &&
	    strcmp(b.p, want) == 0;
	if (!same)
		printf("# piece %zu split %zu: %s\n", piece, split, b.p);
	buf_free(&b);
	return (same);
}

static int
gives(const char *s, const char *want)
{
	size_t i, len = strlen(s);
	int good = 1;

	for (i = 1; i <= 4096; i *= 8)
		good &= once(s, len, i, 0, want);
	for (i = 1; i < len; i++)
		good &= once(s, len, 0, i, want);
	return (good);
}

static void
reading(void)
{

	ok(gives("data: a\n\ndata: b\n\n", "<a><b>"),
	    "events end at blank lines");
	ok(gives("data: a\r\n\r\ndata: b\r\n\r\n", "<a><b>"), "with CRLF too");
	ok(gives("data: a\r\rdata: b\r\r", "<a><b>"), "and with CR");
	ok(gives("data: a\r\n\ndata: b\n\r\n", "<a><b>"), "and with a mixture");
	ok(gives("data:a\n\ndata:  b\n\n", "<a>< b>"),
	    "just one space behind the colon goes");
	ok(gives("event: x\ndata: a\n\ndata: b\n\n", "x<a><b>"),
	    "a name belongs to one event");
	ok(gives("event: x\nevent: y\ndata: a\n\n", "y<a>"),
	    "the last name counts");
	ok(gives("data: a\ndata: b\ndata:\ndata\n\n", "<a\nb\n\n>"),
	    "data lines are joined by LF");
	ok(gives("data:\n\n", "<>"), "empty data is data");
	ok(gives(": hello\n\n:\ndata: a\n: c\ndata: b\n\n", "<a\nb>"),
	    "comments are passed over");
	ok(gives("event: x\n\nid: 1\nretry: 5\n\ndata: a\n\n", "<a>"),
	    "an event without data is none and leaves no name");
	ok(gives("DATA: a\ndatax: b\n data: c\ndata: d\n\n", "<d>"),
	    "other fields are passed over");
	ok(gives("\xef\xbb\xbf"
		 "data: a\n\n",
	       "<a>"),
	    "a byte-order mark at the start is passed over");
	ok(gives("data: a\n\n\xef\xbb\xbf"
		 "data: b\n\n",
	       "<a>"),
	    "later it is part of a field's name");
	ok(gives("data: \xc3\xa9\xf0\x9f\x93\x8a\n\n",
	       "<\xc3\xa9\xf0\x9f\x93\x8a>"),
	    "characters survive a cut");
	ok(gives("data: {\"a\":1}\n\ndata: [DONE]\n\n", "<{\"a\":1}><[DONE]>"),
	    "an end mark is an event");
}

static void
ending(void)
{

	ok(gives("data: a\n\ndata: b\n", "<a><b>"),
	    "a last event without its blank line counts");
	ok(gives("data: a\n\ndata: b", "<a><b>"), "even without its line end");
	ok(gives("event: x\ndata: b\r", "x<b>"), "or with half of it");
	ok(gives("data: a\n\nevent: x\n", "<a>") && gives("da", "") &&
		gives("\n\n\n", "") && gives("\xef\xbb\xbf", ""),
	    "what is no event at the end is none");
}

static enum sse_rc
event_of(size_t lines, size_t len)
{
	struct buf in = BUF_INIT(20 << 20), b = BUF_INIT(20 << 20);
	enum sse_rc rc;
	char *s;

	if ((s = malloc(len)) == NULL)
		return (SSE_MEMORY);
	memset(s, 'x', len);
	for (size_t i = 0; i < lines; i++) {
		(void)buf_puts(&in, "data:");
		(void)buf_put(&in, s, len);
		(void)buf_puts(&in, "\n");
	}
	(void)buf_puts(&in, "\n");
	rc = read_all(in.p, in.len, 65536, 0, &b);
	if (rc == SSE_MORE && b.len != lines * (len + 1) - 1 + 2)
		rc = SSE_MEMORY;
	buf_free(&in);
	buf_free(&b);
	free(s);
	return (rc);
}

static void
ceilings(void)
{

	ok(event_of(1, SSE_EVENT_MAX - 5) == SSE_MORE,
	    "a line of 8 MiB passes");
	ok(event_of(1, SSE_EVENT_MAX + 1) == SSE_TOO_BIG,
	    "a longer one does not");
	ok(event_of(8, (1 << 20) - 1) == SSE_MORE,
	    "eight lines that make 8 MiB pass");
	ok(event_of(9, 1 << 20) == SSE_TOO_BIG, "nine do not");
}

static int
writes(const char *name, const char *data, const char *want)
{
	struct buf b = BUF_INIT(1000);
	int same;

	same = sse_put(&b, name, data, strlen(data)) == 0 &&
	    strcmp(b.p, want) == 0;
	buf_free(&b);
	return (same);
}

static void
writing(void)
{
	struct buf b = BUF_INIT(20);

	ok(writes("message_stop", "{}", "event: message_stop\ndata: {}\n\n"),
	    "an event with a name");
	ok(writes(NULL, "[DONE]", "data: [DONE]\n\n"), "and without");
	ok(writes(NULL, "a\nb\r\nc\rd\n",
	       "data: a\ndata: b\ndata: c\ndata: d\ndata: \n\n"),
	    "every line of the data is a data line");
	ok(writes(NULL, "", "data: \n\n"), "empty data is one line");
	ok(sse_comment(&b, "ping") == 0 && strcmp(b.p, ": ping\n\n") == 0,
	    "a comment");
	ok(sse_put(&b, "name", "data", 4) == -1 && !buf_ok(&b),
	    "an event past the ceiling is told");
	buf_free(&b);
}

int
main(void)
{

	reading();
	ending();
	ceilings();
	writing();
	return (done_testing());
}
