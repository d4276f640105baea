/*
 * Event streams: whatever they are cut into, the events are the same, and
 * written out and read again they are the same once more.  An input is a line
 * whose bytes are the sizes of the pieces, and the stream.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "http/sse.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
note(struct buf *b, const struct sse_event *ev)
{

	if (ev->data[ev->len] != '\0')
		abort();

	/* An event's data is its lines: none holds a line end of its own. */
	if (memchr(ev->data, '\r', ev->len) != NULL)
		abort();
	if (sse_put(b, *ev->name == '\0' ? NULL : ev->name, ev->data, ev->len))
		abort();
}

/* Read ${s}, whole if there are no ${sizes}; write its events to ${b}. */
static void
run(const uint8_t *sizes, size_t nsizes, const char *s, size_t len,
    struct buf *b)
{
	struct sse *S = sse_new();
	struct sse_event ev;
	const char *p;
	enum sse_rc rc;
	size_t at, n, left, i = 0;
	char *piece;

	if (S == NULL)
		abort();
	for (at = 0; at < len; at += n) {
		n = nsizes == 0 ? len : sizes[i++ % nsizes] + 1U;
		if (n > len - at)
			n = len - at;
		if ((piece = malloc(n)) == NULL)
			abort();
		memcpy(piece, s + at, n);
		p = piece;
		left = n;
		while ((rc = sse_next(S, &p, &left, &ev)) == SSE_EVENT)
			note(b, &ev);
		if (rc != SSE_MORE || left != 0)
			abort();
		free(piece);
	}
	if ((rc = sse_end(S, &ev)) == SSE_EVENT) {
		note(b, &ev);
		rc = sse_end(S, &ev);
	}
	if (rc != SSE_MORE)
		abort();
	sse_free(S);
}

static void
same(const struct buf *a, const struct buf *b)
{

	if (a->len != b->len || (a->len > 0 && memcmp(a->p, b->p, a->len) != 0))
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct buf whole = BUF_INIT(1 << 24), pieces = whole, again = whole;
	const uint8_t *nl;
	const char *s;

	if (len > 1 << 20 || (nl = memchr(data, '\n', len)) == NULL)
		return (0);
	s = (const char *)nl + 1;
	len -= (size_t)(nl + 1 - data);
	run(NULL, 0, s, len, &whole);
	run(data, (size_t)(nl - data), s, len, &pieces);
	same(&whole, &pieces);
	run(NULL, 0, whole.p, whole.len, &again);
	same(&whole, &again);
	buf_free(&whole);
	buf_free(&pieces);
	buf_free(&again);
	return (0);
}
