#ifndef UNIT_WIRE_H_
#define UNIT_WIRE_H_

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/jspan.h"
#include "http/sse.h"
#include "speech/talk.h"
#include "speech/wire.h"
#include "speech/wire_error.h"

#include "fixture.h"
#include "tap.h"

/*
 * What the tests of the wires share: the events of an answer as one line, in
 * which it does not show how they were cut into pieces.
 */

struct heard_line {
	struct buf line;
	enum event_kind last;
	int began;
};

static inline int
hear(void *cookie, const struct event *ev)
{
	static const char *const kinds[] = {
	    [EVENT_TEXT] = "T:", [EVENT_REASONING] = "R:", [EVENT_ARGS] = "A:"};
	struct heard_line *h = cookie;
	const int goes_on = h->began && h->last == ev->kind;

	switch (ev->kind) {
	case EVENT_TEXT:
	case EVENT_REASONING:
	case EVENT_ARGS:
		if (!goes_on)
			buf_printf(&h->line, "|%s", kinds[ev->kind]);
		buf_put(&h->line, ev->text.p, ev->text.len);
		break;
	case EVENT_CALL:
		buf_printf(&h->line, "|C:%s,%s", ev->id != NULL ? ev->id : "-",
		    ev->name);
		break;
	case EVENT_CALL_END:
		buf_puts(&h->line, "|E");
		break;
	case EVENT_USAGE:
		buf_printf(&h->line, "|U:%d,%d,%d,%d", (int)ev->usage->input,
		    (int)ev->usage->output, (int)ev->usage->cached,
		    (int)ev->usage->reasoning);
		break;
	case EVENT_STOP:
		buf_printf(&h->line, "|S:%d%.*s", (int)ev->stop,
		    (int)ev->text.len, ev->text.p != NULL ? ev->text.p : "");
		break;
	default:
		buf_puts(&h->line, "|?");
	}
	h->last = ev->kind;
	h->began = 1;
	return (0);
}

/* The line of a whole answer; "none" if it is none. */
static inline char *
whole_line(const struct wire *w, const char *json)
{
	struct heard_line h = {.line = BUF_INIT(1 << 20)};

	if (w->read(NULL, checked(json), hear, &h)) {
		buf_free(&h.line);
		h.line.p = strdup("none");
	}
	return (h.line.p);
}

/* Give what the reader of a stream says to one event; -1 goes on; an error's
 * status. */
static inline int
take_one(struct wire_reader *r, const struct sse_event *ev)
{
	struct jspan_info info;
	struct wire_error e;
	enum wire_rc rc;

	if (strcmp(ev->data, "[DONE]") == 0)
		return (WIRE_DONE);
	if (jspan_check(ev->data, ev->len, 128, &info) != JSPAN_OK)
		return (WIRE_BAD);
	if (wire_error(info.root, strcmp(ev->name, "error") == 0, &e))
		return (e.status);
	rc = r->take(r, info.root);
	return (rc == WIRE_OK ? -1 : (int)rc);
}

/*
 * The line of a stream whose bytes come in two pieces, cut at ${cut}; or
 * "rc N" if it came to no good end.
 */
static inline char *
stream_line(const struct wire *w, const char *text, size_t cut)
{
	struct heard_line h = {.line = BUF_INIT(1 << 20)};
	struct wire_reader *r = w->stream(NULL);
	struct sse *sse = sse_new();
	struct sse_event ev;
	const char *p;
	size_t len;
	int rc = -1, i;

	r->fn = hear;
	r->cookie = &h;
	for (i = 0; i < 2 && rc == -1; i++) {
		p = i == 0 ? text : text + cut;
		len = i == 0 ? cut : strlen(text) - cut;
		while (rc == -1 && sse_next(sse, &p, &len, &ev) == SSE_EVENT)
			rc = take_one(r, &ev);
	}
	if (rc == -1 && sse_end(sse, &ev) == SSE_EVENT)
		rc = take_one(r, &ev);
	if (rc == -1 || rc == WIRE_DONE)
		rc = (int)r->end(r, rc == WIRE_DONE);
	if (rc != WIRE_OK) {
		buf_free(&h.line);
		buf_printf(&h.line, "rc %d", rc);
	}
	r->free(r);
	sse_free(sse);
	return (h.line.p);
}

static inline void
check_line(char *got, const char *want, const char *name)
{

	ok(strcmp(got, want) == 0, name);
	if (strcmp(got, want) != 0)
		printf("# got  %s\n# want %s\n", got, want);
	free(got);
}

/* Is the stream ${text} the same events wherever its bytes are cut? */
static inline void
check_cuts(
    const struct wire *w, const char *text, const char *want, const char *name)
{
	size_t cut, bad = 0;
	char *got;

	for (cut = 0; cut <= strlen(text); cut++) {
		got = stream_line(w, text, cut);
		if (strcmp(got, want) != 0 && bad++ == 0)
			printf("# cut at %zu: %s\n", cut, got);
		free(got);
	}
	ok(bad == 0, name);
}

/* What ${w} asks for the round ${r} of ${t}. */
static inline json_object *
asked(const struct wire *w, const struct talk *t, const struct round *r)
{
	struct buf b = BUF_INIT(1 << 20);
	json_object *o = NULL;

	if (w->write(&b, t, r) == 0)
		o = json_tokener_parse(b.p);
	if (o == NULL)
		printf("# got <%s>\n", b.p != NULL ? b.p : "");
	buf_free(&b);
	return (o);
}

static inline void
check_asked(const struct wire *w, const struct talk *t, const struct round *r,
    const char *want, const char *name)
{
	json_object *got = asked(w, t, r);

	ok(same(got, json_tokener_parse(want)), name);
}

/* Add a text, a call or a result to a talk. */
static inline struct part *
say(struct talk *t, enum speaker who, enum part_kind kind, const char *text)
{
	struct part *p = talk_add(t, who, kind);

	p->text.p = text;
	p->text.len = strlen(text);
	return (p);
}

/* A conversation with one of everything; the wires' tests ask for it. */
static inline struct talk *
example(struct arena *mem)
{
	struct talk *t = talk_new(mem);
	struct tool *x;
	struct part *p;

	t->model = "m";
	t->system = (struct text)TEXT_LIT("Be brief.");
	t->max_tokens = 300;
	t->temperature = (struct jspan){"1.5", 3};
	t->top_p = (struct jspan){"0.9", 3};
	t->user = "u1";
	x = talk_tool(t);
	x->name = "save";
	x->description = (struct text)TEXT_LIT("Save it.");
	x->schema = checked("{\"properties\":{\"a\":{\"type\":\"integer\"}}}");
	x->strict = -1;
	say(t, TALK_USER, PART_TEXT, "Look");
	p = talk_media(t, TALK_USER, NULL);
	p->media->image = 1;
	p->media->mime = "image/png";
	p->media->data = (struct text)TEXT_LIT("iVBO");
	p = talk_media(t, TALK_USER, NULL);
	p->media->name = "a.pdf";
	p->media->url = (struct text)TEXT_LIT("https://x.example/a.pdf");
	say(t, TALK_ASSISTANT, PART_TEXT, "I will.");
	p = say(t, TALK_ASSISTANT, PART_CALL, "{\"a\":1}");
	p->id = "c1";
	p->name = "save";
	p = say(
	    t, TALK_ASSISTANT, PART_CALL, "{\"__raw_arguments\":\"{oops\"}");
	p->id = "no good!";
	p->name = "save";
	p = say(t, TALK_USER, PART_RESULT, "ok");
	p->id = "c1";
	p = say(t, TALK_USER, PART_RESULT, "");
	p->id = "no good!";
	p->is_error = 1;
	say(t, TALK_USER, PART_TEXT, " \n");
	say(t, TALK_USER, PART_TEXT, "Go on \"now\"");
	(void)talk_offer(t);
	return (t);
}

#endif /* !UNIT_WIRE_H_ */
