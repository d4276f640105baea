/*
 * Answers of any bytes over the messages and the responses wire, whole and as
 * streams cut somewhere: no answer, or events in their order, the same wherever
 * the cut is.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/jspan.h"
#include "base/utf8.h"
#include "http/sse.h"
#include "speech/wire.h"
#include "speech/wire_error.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

/* What has been heard; the order of events is checked as they come. */
struct ear {
	int in_call, stopped;
	struct buf all;
};

static int
hear(void *cookie, const struct event *ev)
{
	struct ear *e = cookie;

	if (e->stopped ||
	    e->in_call !=
		(ev->kind == EVENT_ARGS || ev->kind == EVENT_CALL_END))
		abort();
	if (ev->kind == EVENT_CALL)
		e->in_call = 1;
	else if (ev->kind == EVENT_CALL_END)
		e->in_call = 0;
	e->stopped = ev->kind == EVENT_STOP;
	if (ev->text.len > 0 && !utf8_valid(ev->text.p, ev->text.len))
		abort();
	buf_printf(&e->all, "%d:", (int)ev->kind);
	buf_put(&e->all, ev->text.p, ev->text.len);
	return (0);
}

static void
whole(const struct wire *w, struct jspan root)
{
	struct ear e = {.all = BUF_INIT(1 << 20)};

	if (w->read(NULL, root, hear, &e) == 0 && (!e.stopped || e.in_call))
		abort();
	buf_free(&e.all);
}

static int
take(struct wire_reader *r, const struct sse_event *ev)
{
	struct jspan_info info;
	struct wire_error e;
	enum wire_rc rc;

	if (jspan_check(ev->data, ev->len, 128, &info) != JSPAN_OK)
		return (WIRE_BAD);
	if (wire_error(info.root, strcmp(ev->name, "error") == 0, &e)) {
		if (e.status < 400 || e.status > 599 || e.at.len == 0)
			abort();
		return (e.status);
	}
	rc = r->take(r, info.root);
	return (rc == WIRE_OK ? -1 : (int)rc);
}

static int
stream(
    const struct wire *w, const char *p, size_t len, size_t cut, struct ear *e)
{
	struct wire_reader *r = w->stream(NULL);
	struct sse *sse = sse_new();
	size_t left[2] = {cut, len - cut};
	struct sse_event ev;
	int rc = -1, i;

	r->fn = hear;
	r->cookie = e;
	for (i = 0; i < 2; i++)
		while (
		    rc == -1 && sse_next(sse, &p, &left[i], &ev) == SSE_EVENT)
			rc = take(r, &ev);
	if (rc == -1 && sse_end(sse, &ev) == SSE_EVENT)
		rc = take(r, &ev);
	if (rc == -1 || rc == WIRE_DONE)
		rc = (int)r->end(r, rc == WIRE_DONE);
	if (rc == WIRE_OK && (!e->stopped || e->in_call))
		abort();
	r->free(r);
	sse_free(sse);
	return (rc);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const enum conf_wire kinds[] = {WIRE_MESSAGES, WIRE_RESPONSES};
	const char *text = (const char *)data;
	struct jspan_info info;
	struct ear a, b;
	size_t i;

	for (i = 0; i < 2; i++) {
		a = (struct ear){.all = BUF_INIT(1 << 20)};
		b = a;
		if (jspan_check(text, len, 128, &info) == JSPAN_OK)
			whole(wire_of(kinds[i]), info.root);
		if (stream(wire_of(kinds[i]), text, len, 0, &a) !=
			stream(wire_of(kinds[i]), text, len, len / 2, &b) ||
		    a.all.len != b.all.len ||
		    (a.all.len > 0 && memcmp(a.all.p, b.all.p, a.all.len) != 0))
			abort();
		buf_free(&a.all);
		buf_free(&b.all);
	}
	return (0);
}
