#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/id.h"
#include "base/jmember.h"
#include "base/jput.h"

#include "speech/chat.h"
#include "speech/cite.h"
#include "speech/dialect.h"
#include "speech/model_dialect.h"
#include "speech/pick.h"
#include "speech/reader.h"
#include "speech/talk.h"

#define TEXT_MAX (64U << 20)
#define IDLEN 20

/* How a call is said. */
enum call_kind { CALL_FUNCTION, CALL_CUSTOM, CALL_OLD };

/* A Chat answer being written. */
struct chatter {
	struct writer w; /* First: a writer is cast to this. */
	const struct talk *talk;
	struct buf *out; /* Of the stream; NULL: the answer is gathered. */
	char id[IDLEN + 1];
	int begun;
	int wants_usage; /* A chunk with it, and null in all others. */
	int old;         /* Functions are said as they were of old. */
	int gap;         /* Another round begins after some text. */
	struct buf text, thought;
	struct buf calls; /* Gathered, with commas between. */
	struct buf input; /* Of the custom call under way. */
	struct jmember plain;
	enum call_kind kind;
	unsigned int ncalls;
	struct cites cites;
	struct usage usage;
	enum stop stop;
};

/* ---- Chunks */

/* What all chunks and the whole answer begin with. */
static void
put_head(struct chatter *c, struct buf *b, const char *object)
{

	buf_printf(b,
	    "{\"id\":\"chatcmpl-gw-%s\",\"object\":\"%s\",\"created\":%" PRIu64
	    ",\"model\":",
	    c->id, object, c->talk->now);
	jput_str(b, c->talk->model);
}

static void
begin_chunk(struct chatter *c)
{

	buf_puts(c->out, "data: ");
	put_head(c, c->out, "chat.completion.chunk");
	buf_puts(c->out, ",\"choices\":[{\"index\":0,\"delta\":{");
}

/* ${reason} NULL: more is to come. */
static int
end_chunk(struct chatter *c, const char *reason)
{

	buf_puts(c->out, "},\"logprobs\":null,\"finish_reason\":");
	jput_str(c->out, reason);
	return (buf_printf(
	    c->out, "}]%s}\n\n", c->wants_usage ? ",\"usage\":null" : ""));
}

static int
tell_text(struct chatter *c, const char *key, struct text x)
{

	if (c->out == NULL)
		return (0);
	begin_chunk(c);
	buf_printf(c->out, "\"%s\":", key);
	jput_text(c->out, x.p, x.len);
	return (end_chunk(c, NULL));
}

/* The chunk that says who speaks. */
static int
begin(struct chatter *c, const char *content)
{

	if (c->begun || c->out == NULL)
		return (0);
	c->begun = 1;
	begin_chunk(c);
	buf_printf(c->out, "\"role\":\"assistant\",\"content\":%s", content);
	return (end_chunk(c, NULL));
}

/* ---- Text */

static int
add_text(struct chatter *c, struct text x)
{
	static const struct text blank = TEXT_LIT("\n\n");
	int gap = c->gap && c->text.len > 0;

	if (x.len == 0)
		return (0);
	c->gap = 0;
	if (begin(c, "\"\"") ||
	    (gap &&
		(buf_put(&c->text, blank.p, blank.len) ||
		    tell_text(c, "content", blank))))
		return (-1);
	return (buf_put(&c->text, x.p, x.len) || tell_text(c, "content", x)
		? -1
		: 0);
}

static int
add_thought(struct chatter *c, struct text x)
{

	if (x.len == 0)
		return (0);
	if (begin(c, "\"\""))
		return (-1);
	if (c->out == NULL)
		return (buf_put(&c->thought, x.p, x.len));
	return (tell_text(c, "reasoning_content", x));
}

/* ---- Calls of the caller's */

/* The member that holds a call's name and arguments, up to its value. */
static const struct {
	const char *open, *args;
} forms[] = {
    [CALL_FUNCTION] = {"\"type\":\"function\",\"function\":{\"name\":",
	",\"arguments\":\""},
    [CALL_CUSTOM] = {"\"type\":\"custom\",\"custom\":{\"name\":",
	",\"input\":\""},
    [CALL_OLD] = {"\"function_call\":{\"name\":", ",\"arguments\":\""},
};

static void
put_call(struct chatter *c, struct buf *b, const struct event *ev, int index)
{

	if (c->kind != CALL_OLD) {
		buf_puts(b, "{");
		if (index)
			buf_printf(b, "\"index\":%u,", c->ncalls);
		buf_puts(b, "\"id\":");
		jput_str(b, ev->id);
		buf_puts(b, ",");
	}
	buf_puts(b, forms[c->kind].open);
	jput_str(b, ev->name);
	buf_puts(b, forms[c->kind].args);
}

static int
begin_call(struct chatter *c, const struct event *ev)
{
	const struct tool *x = talk_find_tool(c->talk, ev->name);

	c->kind = c->old            ? CALL_OLD
	    : x != NULL && x->plain ? CALL_CUSTOM
				    : CALL_FUNCTION;
	buf_drop(&c->input, c->input.len);
	c->plain = (struct jmember){.key = "input"};
	if (begin(c, "null"))
		return (-1);
	if (c->out == NULL) {
		if (c->calls.len > 0)
			buf_puts(&c->calls, ",");
		put_call(c, &c->calls, ev, 0);
		return (buf_ok(&c->calls) ? 0 : -1);
	}
	begin_chunk(c);
	if (c->kind != CALL_OLD)
		buf_puts(c->out, "\"tool_calls\":[");
	put_call(c, c->out, ev, 1);
	buf_puts(c->out, c->kind == CALL_OLD ? "\"}" : "\"}}]");
	return (end_chunk(c, NULL));
}

/* More of a call's arguments, or of its text. */
static int
tell_args(struct chatter *c, struct text x)
{

	if (x.len == 0)
		return (0);
	if (c->out == NULL)
		return (jput_chars(&c->calls, x.p, x.len));
	begin_chunk(c);
	if (c->kind == CALL_OLD)
		buf_puts(c->out, "\"function_call\":{\"arguments\":");
	else
		buf_printf(c->out,
		    "\"tool_calls\":[{\"index\":%u,\"%s\":{\"%s\":", c->ncalls,
		    c->kind == CALL_CUSTOM ? "custom" : "function",
		    c->kind == CALL_CUSTOM ? "input" : "arguments");
	jput_text(c->out, x.p, x.len);
	buf_puts(c->out, c->kind == CALL_OLD ? "}" : "}}]");
	return (end_chunk(c, NULL));
}

static int
add_args(struct chatter *c, struct text x)
{

	if (c->kind != CALL_CUSTOM)
		return (tell_args(c, x));
	buf_drop(&c->input, c->input.len);
	if (jmember_feed(&c->plain, x.p, x.len, &c->input))
		return (-1);
	return (tell_args(c, (struct text){c->input.p, c->input.len}));
}

static int
end_call(struct chatter *c)
{

	if (c->out == NULL)
		buf_puts(&c->calls, c->kind == CALL_OLD ? "\"}" : "\"}}");
	c->ncalls++;
	return (buf_ok(&c->calls) ? 0 : -1);
}

/* ---- The end */

static const char *
reason_of(const struct chatter *c)
{

	switch (c->stop) {
	case STOP_LENGTH:
	case STOP_PAUSE:
		return ("length");
	case STOP_CALLS:
		return (c->old ? "function_call" : "tool_calls");
	case STOP_FILTER:
		return ("content_filter");
	case STOP_END:
	case STOP_SEQUENCE:
		break;
	}
	return ("stop");
}

static void
put_usage(struct chatter *c, struct buf *b)
{
	const struct usage *u = &c->usage;

	buf_printf(b,
	    "\"usage\":{\"prompt_tokens\":%" PRIu64
	    ",\"completion_tokens\":%" PRIu64 ",\"total_tokens\":%" PRIu64
	    ",\"prompt_tokens_details\":{\"cached_tokens\":%" PRIu64
	    "},\"completion_tokens_details\":{\"reasoning_tokens\":%" PRIu64
	    "}}",
	    u->input + u->cached, u->output, u->input + u->cached + u->output,
	    u->cached, u->reasoning);
}

/* The list of the files that runs wrote, and where the text names them. */
static void
put_annotations(struct chatter *c, struct buf *b)
{
	struct text x = {c->text.p, c->text.len};
	const struct cited *f;
	struct cite_range r;
	char id[FILE_PRINTMAX];

	buf_puts(b, "\"annotations\":[");
	for (f = c->cites.first; f != NULL; f = f->next) {
		cite_find(x, f->path, &r);
		buf_puts(b,
		    "{\"type\":\"url_citation\",\"url_citation\":{\"url\":\"");
		jput_chars(b, c->talk->base, strlen(c->talk->base));
		buf_printf(b, "/v1/files/%s/content\",\"title\":",
		    file_id_print(f->id, id));
		jput_str(b, cite_name(f->path));
		buf_printf(b, ",\"start_index\":%zu,\"end_index\":%zu}}%s",
		    r.start, r.end, f->next != NULL ? "," : "");
	}
	buf_puts(b, "]");
}

static int
finish_stream(struct chatter *c)
{

	if (begin(c, "\"\""))
		return (-1);
	if (c->cites.first != NULL) {
		begin_chunk(c);
		put_annotations(c, c->out);
		end_chunk(c, NULL);
	}
	begin_chunk(c);
	end_chunk(c, reason_of(c));
	if (c->wants_usage) {
		buf_puts(c->out, "data: ");
		put_head(c, c->out, "chat.completion.chunk");
		buf_puts(c->out, ",\"choices\":[],");
		put_usage(c, c->out);
		buf_puts(c->out, "}\n\n");
	}
	return (buf_puts(c->out, "data: [DONE]\n\n"));
}

static void
put_message(struct chatter *c, struct buf *b)
{

	buf_puts(b, "{\"role\":\"assistant\",\"content\":");
	if (c->text.len > 0 || c->calls.len == 0)
		jput_text(b, c->text.p, c->text.len);
	else
		buf_puts(b, "null");
	buf_puts(b, ",\"refusal\":null,");
	put_annotations(c, b);
	if (c->thought.len > 0) {
		buf_puts(b, ",\"reasoning_content\":");
		jput_text(b, c->thought.p, c->thought.len);
	}
	if (c->calls.len > 0) {
		buf_puts(b, c->old ? "," : ",\"tool_calls\":[");
		buf_put(b, c->calls.p, c->calls.len);
		buf_puts(b, c->old ? "" : "]");
	}
	buf_puts(b, "}");
}

static int
finish(struct writer *w, struct buf *b)
{
	struct chatter *c = (struct chatter *)w;

	if (c->out != NULL)
		return (finish_stream(c));
	put_head(c, b, "chat.completion");
	buf_puts(b, ",\"choices\":[{\"index\":0,\"message\":");
	put_message(c, b);
	buf_printf(
	    b, ",\"logprobs\":null,\"finish_reason\":\"%s\"}],", reason_of(c));
	put_usage(c, b);
	return (buf_puts(b, "}"));
}

/* ---- The writer */

/* Of old one call was all there was. */
static int
is_shown(const struct chatter *c, const struct event *ev)
{

	switch (ev->kind) {
	case EVENT_CALL:
	case EVENT_ARGS:
	case EVENT_CALL_END:
		return (!c->old || c->ncalls == 0);
	default:
		return (1);
	}
}

static int
on_event(struct writer *w, const struct event *ev)
{
	struct chatter *c = (struct chatter *)w;

	if (!is_shown(c, ev))
		return (0);
	switch (ev->kind) {
	case EVENT_ROUND:
		c->gap = 1;
		break;
	case EVENT_TEXT:
		return (add_text(c, ev->text));
	case EVENT_REASONING:
		return (add_thought(c, ev->text));
	case EVENT_CALL:
		return (begin_call(c, ev));
	case EVENT_ARGS:
		return (add_args(c, ev->text));
	case EVENT_CALL_END:
		return (end_call(c));
	case EVENT_RESULT:
		return (cite_add(&c->cites, c->talk->mem, ev->outcome));
	case EVENT_USAGE:
		c->usage = *ev->usage;
		break;
	case EVENT_STOP:
		c->stop = ev->stop;
		break;
	}
	return (0);
}

static int
alive(struct writer *w)
{
	struct chatter *c = (struct chatter *)w;

	if (begin(c, "\"\""))
		return (-1);
	return (buf_puts(c->out, ": keepalive\n\n"));
}

static int
fail(struct writer *w, const struct problem_row *row, const char *message,
    const char *id)
{
	struct chatter *c = (struct chatter *)w;

	(void)id; /* This vendor tells it in a header only. */
	buf_puts(c->out, "data: {\"error\":{\"message\":");
	jput_str(c->out, message);
	buf_printf(c->out,
	    ",\"type\":\"%s\",\"param\":null,\"code\":", row->openai_type);
	jput_str(c->out, row->openai_code);
	return (buf_puts(c->out, "}}\n\ndata: [DONE]\n\n"));
}

static void
chatter_free(struct writer *w)
{
	struct chatter *c = (struct chatter *)w;

	buf_free(&c->text);
	buf_free(&c->thought);
	buf_free(&c->calls);
	buf_free(&c->input);
	free(c);
}

static int
asks_usage(const struct talk *t)
{
	struct jspan options, v;

	return (reader_member(t->asked, "stream_options", &options) &&
	    reader_member(options, "include_usage", &v) && pick_is(v, 't'));
}

struct writer *
chat_stream(const struct talk *t, struct buf *out)
{
	struct chatter *c;
	struct jspan v;

	if ((c = calloc(1, sizeof(*c))) == NULL)
		return (NULL);
	c->w.event = on_event;
	c->w.finish = finish;
	c->w.alive = alive;
	c->w.fail = fail;
	c->w.free = chatter_free;
	c->talk = t;
	c->out = out;
	c->wants_usage = asks_usage(t);
	c->old = reader_member(t->asked, "functions", &v);
	c->text.max = c->thought.max = TEXT_MAX;
	c->calls.max = c->input.max = TEXT_MAX;
	if (id_base36(c->id, IDLEN)) {
		free(c);
		return (NULL);
	}
	return (&c->w);
}

struct writer *
chat_gather(const struct talk *t)
{

	return (chat_stream(t, NULL));
}
