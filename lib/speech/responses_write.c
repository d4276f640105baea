#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/id.h"
#include "base/jmember.h"
#include "base/jput.h"
#include "base/jspan.h"

#include "speech/model_dialect.h"
#include "speech/outcome.h"
#include "speech/pick.h"
#include "speech/reader.h"
#include "speech/responses.h"
#include "speech/responses_item.h"
#include "speech/talk.h"

#define BODY_MAX (64U << 20)
#define ARGS_DEPTH 128
#define IDLEN 20

/* A Responses answer being written. */
struct responder {
	struct writer w; /* First: a writer is cast to this. */
	const struct talk *talk;
	struct buf *out; /* Of the stream; NULL: the answer is gathered. */
	int begun;
	int outputs; /* What runs printed is asked for. */
	char id[IDLEN + 1];
	uint64_t seq, index;
	struct item *first, **end;
	struct item *open;    /* Gets the text or arguments that come. */
	struct buf args;      /* Of the open run or custom call. */
	struct jmember plain; /* What they hold. */
	struct cites cites;   /* Not yet cited. */
	struct usage usage;
	enum stop stop;
};

/* ---- Events of the stream; nothing while the answer is gathered */

/* Begin an event; its data goes on where this ends. */
static void
begin_event(struct responder *R, const char *name)
{

	buf_printf(R->out,
	    "event: response.%s\ndata: {\"type\":\"response.%s\","
	    "\"sequence_number\":%" PRIu64,
	    name, name, R->seq++);
}

static void
end_event(struct responder *R)
{

	buf_puts(R->out, "}\n\n");
}

/* An event about the whole of ${it}. */
static void
tell_item(struct responder *R, const char *name, const struct item *it)
{

	if (R->out == NULL)
		return;
	begin_event(R, name);
	buf_printf(
	    R->out, ",\"output_index\":%" PRIu64 ",\"item\":", it->index);
	if (it->json.len > 0)
		buf_put(R->out, it->json.p, it->json.len);
	else
		item_put(R->out, it, R->talk);
	end_event(R);
}

/* Begin an event about something in ${it}. */
static void
begin_inner(struct responder *R, const char *name, const struct item *it)
{
	int content = it->kind == ITEM_MESSAGE || it->kind == ITEM_REASONING;

	begin_event(R, name);
	buf_printf(R->out, ",\"output_index\":%" PRIu64 "%s,\"item_id\":\"%s\"",
	    it->index, content ? ",\"content_index\":0" : "", it->id);
}

/* One that says nothing more. */
static void
tell_inner(struct responder *R, const char *name, const struct item *it)
{

	if (R->out == NULL)
		return;
	begin_inner(R, name, it);
	end_event(R);
}

/* One with a text: a delta, or all of it. */
static void
tell_text(struct responder *R, const char *name, const struct item *it,
    const char *key, struct text x)
{
	int logprobs = it->kind == ITEM_MESSAGE;

	if (R->out == NULL)
		return;
	begin_inner(R, name, it);
	if (strcmp(name, "function_call_arguments.done") == 0) {
		buf_puts(R->out, ",\"name\":");
		jput_str(R->out, it->name);
	}
	buf_printf(R->out, ",\"%s\":", key);
	jput_text(R->out, x.p, x.len);
	if (logprobs)
		buf_puts(R->out, ",\"logprobs\":[]");
	end_event(R);
}

static void
tell_part(struct responder *R, const char *name, const struct item *it)
{

	if (R->out == NULL)
		return;
	begin_inner(R, name, it);
	buf_puts(R->out, ",\"part\":");
	item_put_part(R->out, it);
	end_event(R);
}

/* The events of each kind of item. */
/* clang-format off */
static const struct { const char *delta, *done, *key; } names[] = {
	[ITEM_MESSAGE] = { "output_text.delta", "output_text.done", "text" },
	[ITEM_REASONING] = { "reasoning_text.delta", "reasoning_text.done",
	    "text" },
	[ITEM_FUNCTION] = { "function_call_arguments.delta",
	    "function_call_arguments.done", "arguments" },
	[ITEM_CUSTOM] = { "custom_tool_call_input.delta",
	    "custom_tool_call_input.done", "input" },
	[ITEM_RUN] = { "code_interpreter_call_code.delta",
	    "code_interpreter_call_code.done", "code" },
};
/* clang-format on */

/* ---- The object */

/* Every item that there is, one after the other. */
static int
put_items(struct responder *R, struct buf *b)
{
	const struct item *it;

	for (it = R->first; it != NULL; it = it->next) {
		if (b->len > 0)
			buf_puts(b, ",");
		buf_put(b, it->json.p, it->json.len);
	}
	return (buf_ok(b) ? 0 : -1);
}

static int
put_object(struct responder *R, struct buf *b, struct response *r)
{
	struct buf items = BUF_INIT(2 * BODY_MAX);
	int rc;

	r->id = R->id;
	r->items = &items;
	rc = put_items(R, &items) || response_put(b, r, R->talk);
	buf_free(&items);
	return (rc ? -1 : 0);
}

static int
tell_object(struct responder *R, const char *name, struct response *r)
{
	int rc;

	begin_event(R, name);
	buf_puts(R->out, ",\"response\":");
	rc = put_object(R, R->out, r);
	end_event(R);
	return (rc);
}

/* What opens the stream. */
static int
begin(struct responder *R)
{
	struct response r = {.status = "in_progress"};

	if (R->begun)
		return (0);
	R->begun = 1;
	if (R->out == NULL)
		return (0);
	return (
	    tell_object(R, "created", &r) || tell_object(R, "in_progress", &r)
		? -1
		: 0);
}

/* ---- Items */

static struct item *
add_item(struct responder *R, enum item_kind kind, const char *id)
{
	struct item *it;
	size_t len;

	if ((it = calloc(1, sizeof(*it))) == NULL)
		return (NULL);
	it->kind = kind;
	it->index = R->index++;
	it->body.max = it->json.max = BODY_MAX;
	it->annotations.max = it->outputs.max = BODY_MAX;
	*R->end = it;
	R->end = &it->next;
	len = strlen(item_prefix(kind));
	memcpy(it->id, item_prefix(kind), len);
	if (id != NULL && strlen(id) <= TALK_IDMAX)
		memcpy(it->id, id, strlen(id) + 1);
	else if (talk_id(R->talk, IDLEN, it->id + len))
		return (NULL);
	return (it);
}

/* The item has all that it will have. */
static int
end_item(struct responder *R, struct item *it, enum item_status status)
{

	it->status = status;
	if (item_put(&it->json, it, R->talk))
		return (-1);
	tell_item(R, "output_item.done", it);
	buf_free(&it->body);
	buf_free(&it->annotations);
	buf_free(&it->outputs);
	return (0);
}

/* Cite in the message ${it} what has been written. */
static int
cite_all(struct responder *R, struct item *it)
{
	struct text x = {it->body.p, it->body.len};
	const struct cited *c;
	size_t mark;

	for (c = R->cites.first; c != NULL; c = c->next) {
		if (it->annotations.len > 0)
			buf_puts(&it->annotations, ",");
		mark = it->annotations.len;
		if (item_put_citation(&it->annotations, c, x, R->talk))
			return (-1);
		if (R->out == NULL)
			continue;
		begin_inner(R, "output_text.annotation.added", it);
		buf_printf(R->out,
		    ",\"annotation_index\":%zu,\"annotation\":", it->cited++);
		buf_put(R->out, it->annotations.p + mark,
		    it->annotations.len - mark);
		end_event(R);
	}
	R->cites = (struct cites){NULL, NULL};
	return (0);
}

static int
end_text(struct responder *R, enum item_status status, int cite)
{
	struct item *it = R->open;
	struct text x = {it->body.p, it->body.len};

	if (cite && it->kind == ITEM_MESSAGE && cite_all(R, it))
		return (-1);
	it->status = status;
	tell_text(R, names[it->kind].done, it, names[it->kind].key, x);
	tell_part(R, "content_part.done", it);
	return (end_item(R, it, status));
}

/* The arguments are all there: what the caller is shown of them. */
static int
end_args(struct responder *R, struct item *it)
{
	struct jspan_info info;
	struct jspan v;
	struct text x;

	if (it->kind == ITEM_FUNCTION)
		return (0);
	if (it->body.len > 0 || R->args.len == 0)
		return (0);
	/* Not a string under its key; so as they are, unless it is empty. */
	if (jspan_check(R->args.p, R->args.len, ARGS_DEPTH, &info) ==
		JSPAN_OK &&
	    jspan_get(info.root, R->plain.key, &v) == 1 &&
	    pick_text(R->talk->mem, v, &x) == 0)
		return (0);
	return (buf_put(&it->body, R->args.p, R->args.len));
}

static int
end_call(struct responder *R, struct item *it, enum item_status status)
{
	struct text x;

	if (end_args(R, it))
		return (-1);
	x = (struct text){it->body.p, it->body.len};
	tell_text(R, names[it->kind].done, it, names[it->kind].key, x);
	if (it->kind != ITEM_RUN)
		return (end_item(R, it, status));
	if (status == ITEM_DONE)
		tell_inner(R, "code_interpreter_call.interpreting", it);
	return (0);
}

/* Whatever is open ends; ${cite}: no more of the answer's text is to come. */
static int
close_item(struct responder *R, enum item_status status, int cite)
{
	struct item *it = R->open;
	int rc;

	if (it == NULL)
		return (0);
	if (it->kind == ITEM_MESSAGE || it->kind == ITEM_REASONING)
		rc = end_text(R, status, cite);
	else
		rc = end_call(R, it, status);
	R->open = NULL;
	return (rc);
}

static int
open_text(struct responder *R, enum item_kind kind)
{

	if (R->open != NULL && R->open->kind == kind)
		return (0);
	if (close_item(R, ITEM_DONE, 0) ||
	    (R->open = add_item(R, kind, NULL)) == NULL)
		return (-1);
	tell_item(R, "output_item.added", R->open);
	tell_part(R, "content_part.added", R->open);
	return (0);
}

static int
add_text(struct responder *R, enum item_kind kind, struct text x)
{

	if (x.len == 0)
		return (0);
	if (open_text(R, kind) || buf_put(&R->open->body, x.p, x.len))
		return (-1);
	tell_text(R, names[kind].delta, R->open, "delta", x);
	return (0);
}

static enum item_kind
kind_of(const struct talk *t, const struct event *ev)
{
	const struct tool *x;

	if (ev->ours)
		return (ITEM_RUN);
	x = talk_find_tool(t, ev->name);
	return (x != NULL && x->plain ? ITEM_CUSTOM : ITEM_FUNCTION);
}

static int
add_call(struct responder *R, const struct event *ev)
{
	enum item_kind kind = kind_of(R->talk, ev);
	struct item *it;

	/* Nothing is asked again after a call of the caller's. */
	if (close_item(R, ITEM_DONE, !ev->ours) ||
	    (it = add_item(R, kind, ev->ours ? ev->id : NULL)) == NULL)
		return (-1);
	R->open = it;
	buf_drop(&R->args, R->args.len);
	R->plain = (struct jmember){.key = kind == ITEM_RUN ? "code" : "input"};
	if (!ev->ours &&
	    ((it->call_id = arena_strndup(
		  R->talk->mem, ev->id, strlen(ev->id))) == NULL ||
		(it->name = arena_strndup(
		     R->talk->mem, ev->name, strlen(ev->name))) == NULL))
		return (-1);
	tell_item(R, "output_item.added", it);
	if (kind == ITEM_RUN)
		tell_inner(R, "code_interpreter_call.in_progress", it);
	return (0);
}

static int
add_args(struct responder *R, struct text x)
{
	struct item *it = R->open;
	size_t mark;

	if (it == NULL)
		return (-1);
	mark = it->body.len;
	if (it->kind == ITEM_FUNCTION) {
		if (buf_put(&it->body, x.p, x.len))
			return (-1);
	} else if (buf_put(&R->args, x.p, x.len) ||
	    jmember_feed(&R->plain, x.p, x.len, &it->body))
		return (-1);
	if (it->body.len > mark)
		tell_text(R, names[it->kind].delta, it, "delta",
		    (struct text){it->body.p + mark, it->body.len - mark});
	return (0);
}

/* What came of a run; of a quiet one only its files are told. */
static int
add_result(struct responder *R, const struct event *ev)
{
	const struct outcome *o = ev->outcome;
	int failed = outcome_error_name(o->kind) != NULL;
	struct item *it;

	if (cite_add(&R->cites, R->talk->mem, o))
		return (-1);
	for (it = R->first; it != NULL; it = it->next)
		if (strcmp(it->id, ev->id) == 0)
			break;
	if (it == NULL)
		return (0);
	if (R->outputs && item_put_outputs(&it->outputs, o, R->talk))
		return (-1);
	if (!failed)
		tell_inner(R, "code_interpreter_call.completed", it);
	return (end_item(R, it, failed ? ITEM_FAILED : ITEM_DONE));
}

/* Runs that are still open were cut off. */
static int
end_runs(struct responder *R)
{
	struct item *it;

	for (it = R->first; it != NULL; it = it->next)
		if (it->status == ITEM_OPEN && it != R->open &&
		    end_item(R, it, ITEM_CUT))
			return (-1);
	return (0);
}

/* ---- The end */

/* The vendor's word for why an answer is incomplete; NULL: it is not. */
static const char *
reason_of(enum stop stop)
{

	switch (stop) {
	case STOP_LENGTH:
	case STOP_PAUSE:
		return ("max_output_tokens");
	case STOP_FILTER:
		return ("content_filter");
	case STOP_END:
	case STOP_CALLS:
	case STOP_SEQUENCE:
		break;
	}
	return (NULL);
}

static int
end_items(struct responder *R)
{
	enum item_status status =
	    reason_of(R->stop) != NULL ? ITEM_CUT : ITEM_DONE;

	if (close_item(R, status, 1) || end_runs(R))
		return (-1);
	if (R->cites.first == NULL)
		return (0);

	/* Files that no text is left to name. */
	return (
	    open_text(R, ITEM_MESSAGE) || close_item(R, status, 1) ? -1 : 0);
}

static int
show(struct responder *R, const struct event *ev)
{

	if (begin(R))
		return (-1);
	switch (ev->kind) {
	case EVENT_TEXT:
		return (add_text(R, ITEM_MESSAGE, ev->text));
	case EVENT_REASONING:
		return (add_text(R, ITEM_REASONING, ev->text));
	case EVENT_CALL:
		return (add_call(R, ev));
	case EVENT_ARGS:
		return (add_args(R, ev->text));
	case EVENT_CALL_END:
		return (close_item(R, ITEM_DONE, 0));
	case EVENT_RESULT:
		return (add_result(R, ev));
	default:
		return (0);
	}
}

static int
on_event(struct writer *w, const struct event *ev)
{
	struct responder *R = (struct responder *)w;

	switch (ev->kind) {
	case EVENT_ROUND:
		break;
	case EVENT_USAGE:
		R->usage = *ev->usage;
		break;
	case EVENT_STOP:
		R->stop = ev->stop;
		return (begin(R) || end_items(R) ? -1 : 0);
	default:
		if (show(R, ev))
			return (-1);
		break;
	}
	return (R->out == NULL || buf_ok(R->out) ? 0 : -1);
}

static struct response
ended(const struct responder *R)
{
	struct response r = {.reason = reason_of(R->stop), .usage = &R->usage};

	r.status = r.reason != NULL ? "incomplete" : "completed";
	return (r);
}

static int
object(struct writer *w, struct buf *b)
{
	struct responder *R = (struct responder *)w;
	struct response r = ended(R);

	return (put_object(R, b, &r));
}

static int
finish(struct writer *w, struct buf *b)
{
	struct responder *R = (struct responder *)w;
	struct response r = ended(R);

	if (R->out == NULL)
		return (put_object(R, b, &r));
	return (tell_object(R, r.status, &r));
}

/* ---- Of a stream */

static int
alive(struct writer *w)
{
	struct responder *R = (struct responder *)w;

	if (begin(R))
		return (-1);
	return (buf_puts(R->out, ": keepalive\n\n"));
}

static int
fail(struct writer *w, const struct problem_row *row, const char *message,
    const char *id)
{
	struct responder *R = (struct responder *)w;
	struct response r = {
	    .status = "failed", .error_message = message, .usage = &R->usage};

	(void)id; /* This vendor tells it in a header only. */
	r.error_code = row->status == 429 ? "rate_limit_exceeded"
	    : row->status < 500           ? "invalid_prompt"
					  : "server_error";
	if (begin(R) || close_item(R, ITEM_CUT, 0) || end_runs(R))
		return (-1);
	return (tell_object(R, "failed", &r));
}

static void
responder_free(struct writer *w)
{
	struct responder *R = (struct responder *)w;
	struct item *it;

	while ((it = R->first) != NULL) {
		R->first = it->next;
		buf_free(&it->body);
		buf_free(&it->json);
		buf_free(&it->annotations);
		buf_free(&it->outputs);
		free(it);
	}
	buf_free(&R->args);
	free(R);
}

struct writer *
responses_stream(const struct talk *t, struct buf *out)
{
	struct responder *R;

	if ((R = calloc(1, sizeof(*R))) == NULL)
		return (NULL);
	R->w.event = on_event;
	R->w.finish = finish;
	R->w.object = object;
	R->w.alive = alive;
	R->w.fail = fail;
	R->w.free = responder_free;
	R->talk = t;
	R->out = out;
	R->outputs = t->pictures;
	R->end = &R->first;
	R->args.max = BODY_MAX;
	if (talk_id(t, IDLEN, R->id)) {
		free(R);
		return (NULL);
	}
	return (&R->w);
}

struct writer *
responses_gather(const struct talk *t)
{

	return (responses_stream(t, NULL));
}
