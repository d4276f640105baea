#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/conf.h"
#include "base/jput.h"
#include "http/sse.h"

#include "speech/fill.h"
#include "speech/model_dialect.h"
#include "speech/passing.h"
#include "speech/pick.h"
#include "speech/talk.h"
#include "speech/wire.h"
#include "speech/wire_error.h"

#define NAME_MAX_BYTES 65536
#define EVENT_MAX (2 * SSE_EVENT_MAX)
#define DEPTH_MAX 128

struct passing {
	const struct conf_provider *p;
	struct buf model; /* As a JSON string. */
	struct sse *sse;
	struct wire_reader *reader; /* Judges whether it has ended. */
	struct buf raw;             /* Of the event under way. */
	struct buf data;            /* An event's, as it is sent. */
	struct buf response;        /* The last that Responses told of. */
	uint64_t sequence;          /* Of its next event. */
	enum wire_rc rc;            /* Of the reader. */
	enum passing_rc state;
	int blind; /* What comes cannot be read; it passes as it is. */
	struct refusal why;
};

static int
drop_event(void *cookie, const struct event *ev)
{

	(void)cookie;
	(void)ev;
	return (0);
}

struct passing *
passing_new(const struct conf_provider *p, const char *model)
{
	struct passing *P;

	if ((P = calloc(1, sizeof(*P))) == NULL)
		goto err0;
	P->p = p;
	P->model = (struct buf)BUF_INIT(NAME_MAX_BYTES);
	P->raw.max = P->data.max = P->response.max = EVENT_MAX;
	if (jput_str(&P->model, model) || (P->sse = sse_new()) == NULL ||
	    (P->reader = wire_of((enum conf_wire)p->wire)->stream(p)) == NULL)
		goto err1;
	P->reader->fn = drop_event;

	/* Success! */
	return (P);

err1:
	passing_free(P);
err0:
	/* Failure! */
	return (NULL);
}

void
passing_free(struct passing *P)
{

	if (P == NULL)
		return;
	if (P->reader != NULL)
		P->reader->free(P->reader);
	sse_free(P->sse);
	buf_free(&P->model);
	buf_free(&P->raw);
	buf_free(&P->data);
	buf_free(&P->response);
	free(P);
}

/* ---- Events */

/* Is it an error in the form in which this wire's clients look for one? */
static int
is_usual(const struct passing *P, struct jspan root)
{
	struct jspan type = pick_member(root, "type");

	switch ((enum conf_wire)P->p->wire) {
	case WIRE_MESSAGES:
		return (jspan_is(type, "error"));
	case WIRE_RESPONSES:
		return (jspan_is(type, "response.failed") ||
		    jspan_is(type, "error"));
	case WIRE_CHAT:
		break;
	}
	return (!pick_is(pick_member(root, "error"), 'n'));
}

/* Keep what the stream says of itself, for the case that it breaks off. */
static void
note(struct passing *P)
{
	struct jspan_info info;
	struct jspan r;
	uint64_t n;

	if (P->p->wire != WIRE_RESPONSES ||
	    jspan_check(P->data.p, P->data.len, DEPTH_MAX, &info) != JSPAN_OK)
		return;
	r = pick_member(info.root, "response");
	if (pick_u64(pick_member(info.root, "sequence_number"), &n) == 0)
		P->sequence = n + 1;
	if (!pick_is(r, '{'))
		return;
	buf_drop(&P->response, P->response.len);
	(void)buf_put(&P->response, r.p, r.len);
}

/* Append the event whose bytes are ${P}->raw, with P->data for its data. */
static void
put_event(struct passing *P, const struct sse_event *ev, struct buf *out)
{
	const struct buf *raw = &P->raw;
	const char *at;

	at = memmem(raw->p, raw->len, ev->data, ev->len);
	if (P->data.len == ev->len && memcmp(P->data.p, ev->data, ev->len) == 0)
		buf_put(out, raw->p, raw->len);
	else if (at != NULL) {
		buf_put(out, raw->p, (size_t)(at - raw->p));
		buf_put(out, P->data.p, P->data.len);
		at += ev->len;
		buf_put(out, at, (size_t)(raw->p + raw->len - at));
	} else
		sse_put(out, ev->name[0] != '\0' ? ev->name : NULL, P->data.p,
		    P->data.len);
}

static void
take_event(struct passing *P, const struct sse_event *ev, struct buf *out)
{
	const enum conf_wire wire = (enum conf_wire)P->p->wire;
	const struct jspan text = {ev->data, ev->len};
	struct jspan_info info;
	struct wire_error e;

	if (ev->len == 6 && memcmp(ev->data, "[DONE]", 6) == 0 &&
	    P->rc == WIRE_OK)
		P->rc = WIRE_DONE;
	if (jspan_check(ev->data, ev->len, DEPTH_MAX, &info) != JSPAN_OK) {
		buf_put(out, P->raw.p, P->raw.len);
		return;
	}
	if (P->state == PASSING_MORE &&
	    wire_error(info.root, strcmp(ev->name, "error") == 0, &e)) {
		P->state =
		    is_usual(P, info.root) ? PASSING_TOLD : PASSING_FAILED;
		(void)wire_refuse(
		    P->p, e.status, NULL, e.at.p, e.at.len, &P->why);
		if (P->state == PASSING_FAILED)
			return;
	} else if (P->rc == WIRE_OK)
		P->rc = P->reader->take(P->reader, info.root);
	buf_drop(&P->data, P->data.len);
	(void)fill_event(&P->data, wire, text, info.root,
	    (struct jspan){P->model.p, P->model.len}, P->sequence);
	put_event(P, ev, out);
	note(P);
}

/*
 * How many of the first ${len} bytes under way end with a blank line: comments,
 * which need not wait for an event.  Up to ${seen} that has been asked before.
 */
static size_t
comments(const struct buf *raw, size_t len, size_t seen)
{
	const char *p;
	size_t n;

	for (n = len; n > seen; n--) {
		p = raw->p + n;
		if (p[-1] == '\n' &&
		    (n == 1 || p[-2] == '\n' ||
			(p[-2] == '\r' && (n == 2 || p[-3] == '\n'))))
			return (n);
	}
	return (0);
}

/* Send the comments that end in the first ${len} bytes under way. */
static void
pass_comments(struct passing *P, size_t len, size_t seen, struct buf *out)
{
	const size_t n = comments(&P->raw, len, seen);

	if (n > 0)
		buf_put(out, P->raw.p, n);
	buf_drop(&P->raw, n);
}

enum passing_rc
passing_feed(struct passing *P, const void *bytes, size_t len, struct buf *out)
{
	const char *p = bytes, *from = p;
	size_t seen;
	enum sse_rc rc;
	struct sse_event ev;

	while (!P->blind && P->state != PASSING_FAILED) {
		from = p;
		seen = P->raw.len;
		rc = sse_next(P->sse, &p, &len, &ev);
		if (buf_put(&P->raw, from, (size_t)(p - from)) ||
		    (rc != SSE_EVENT && rc != SSE_MORE)) {
			P->blind = 1;
			buf_put(out, P->raw.p, P->raw.len);
			break;
		}
		if (rc == SSE_MORE) {
			pass_comments(P, P->raw.len, seen, out);
			return (P->state);
		}
		/* The last blank line is the event's own. */
		pass_comments(P, P->raw.len > 0 ? P->raw.len - 1 : 0, 0, out);
		take_event(P, &ev, out);
		buf_drop(&P->raw, P->raw.len);
	}
	if (P->blind)
		buf_put(out, p, len);
	return (P->state);
}

enum passing_rc
passing_end(struct passing *P, int cut, struct buf *out)
{
	struct sse_event ev;
	struct jspan_info info;

	if (P->state != PASSING_MORE)
		return (P->state);
	if (P->blind)
		return (cut ? PASSING_MORE : PASSING_WHOLE);
	/* A last event may lack its blank line, if it is whole. */
	if (sse_end(P->sse, &ev) == SSE_EVENT &&
	    ((ev.len == 6 && memcmp(ev.data, "[DONE]", 6) == 0) ||
		jspan_check(ev.data, ev.len, DEPTH_MAX, &info) == JSPAN_OK)) {
		buf_puts(&P->raw, "\n\n");
		take_event(P, &ev, out);
	}
	if (P->state != PASSING_MORE)
		return (P->state);
	if (P->rc == WIRE_OK || P->rc == WIRE_DONE)
		P->rc = P->reader->end(P->reader, P->rc == WIRE_DONE);
	/* What is no answer of this wire is judged by the connection alone. */
	return (P->rc == WIRE_OK || (P->rc != WIRE_CUT && !cut) ? PASSING_WHOLE
								: PASSING_MORE);
}

void
passing_why(const struct passing *P, struct refusal *why)
{

	*why = P->why;
}

/* ---- An ending of our own */

static const struct model_dialect *
dialect_of(const struct passing *P)
{

	switch ((enum conf_wire)P->p->wire) {
	case WIRE_MESSAGES:
		return (&model_messages);
	case WIRE_RESPONSES:
		return (&model_responses);
	case WIRE_CHAT:
		break;
	}
	return (&model_chat);
}

/* The response that the stream began with, failed. */
static int
fail_response(struct passing *P, const struct problem_row *row,
    const char *message, struct buf *out)
{
	const char *const keys[] = {"status", "error"};
	struct buf text[2] = {BUF_INIT(64), BUF_INIT(65536)};
	struct jspan_edit edits[2];
	struct jspan_info info;
	struct jspan v;
	size_t i, n = 0;
	int rc = -1;

	buf_puts(&text[0], "\"failed\"");
	buf_printf(&text[1], "{\"code\":\"%s\",\"message\":",
	    row->status == 429 ? "rate_limit_exceeded" : "server_error");
	jput_str(&text[1], message);
	buf_puts(&text[1], "}");
	if (jspan_check(P->response.p, P->response.len, DEPTH_MAX, &info) ==
	    JSPAN_OK)
		for (i = 0; i < 2; i++)
			if (jspan_get(info.root, keys[i], &v) > 0)
				edits[n++] = (struct jspan_edit){
				    v, {text[i].p, text[i].len}};
	if (n == 2) {
		if (edits[0].at.p > edits[1].at.p) {
			const struct jspan_edit first = edits[1];

			edits[1] = edits[0];
			edits[0] = first;
		}
		buf_printf(out,
		    "event: response.failed\ndata: {\"type\":"
		    "\"response.failed\",\"sequence_number\":%" PRIu64
		    ",\"response\":",
		    P->sequence);
		if (jspan_splice(out, info.root, edits, 2) == 0)
			rc = buf_puts(out, "}\n\n");
	}
	buf_free(&text[0]);
	buf_free(&text[1]);
	return (rc);
}

int
passing_fail(struct passing *P, const struct problem_row *row,
    const char *message, const char *id, struct buf *out)
{
	static const struct talk nothing;
	struct writer *w;
	int rc;

	if (P->response.len > 0 && buf_ok(&P->response) &&
	    fail_response(P, row, message, out) == 0)
		return (0);
	if ((w = dialect_of(P)->stream(&nothing, out)) == NULL)
		return (-1);
	rc = w->fail(w, row, message, id);
	w->free(w);
	return (rc);
}
