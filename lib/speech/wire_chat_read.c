#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#include "speech/pick.h"
#include "speech/wire_chat.h"
#include "speech/wire_chat_calls.h"
#include "speech/wire_error.h"
#include "speech/wire_usage.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define TEXT_MAX (64U << 20)

/* An answer being read; a whole one is a stream of one chunk. */
struct stream {
	struct wire_reader r; /* First: a reader is cast to this. */
	struct chat_calls calls;
	struct buf scratch; /* For text with escapes. */
	struct buf later;   /* Text that came amid a call. */
	struct usage usage;
	enum stop stop;
	struct buf sequence;
	int reasoning; /* enum conf_reasoning */
	int whole;
	int begun; /* A choice has been seen... */
	int over;  /* ...and why it ends. */
};

static enum wire_rc
tell(struct stream *s, enum event_kind kind, struct text x)
{
	const struct event ev = {.kind = kind, .text = x};

	return (s->r.fn(s->r.cookie, &ev) ? WIRE_STOPPED : WIRE_OK);
}

/* Nothing may stand amid a call: what was thought there is lost, what was said
 * there waits. */
static enum wire_rc
take_text(struct stream *s, enum event_kind kind, struct jspan v)
{
	struct text x;
	enum wire_rc rc;
	int err;

	if ((err = pick_decoded(&s->scratch, v, &x)) != 0)
		return (err == -1 ? WIRE_OK : WIRE_MEMORY);
	if (x.len == 0)
		return (WIRE_OK);
	if ((rc = chat_calls_settle(&s->calls)) != WIRE_OK)
		return (rc);
	if (s->calls.open == NULL && s->later.len == 0)
		return (tell(s, kind, x));
	if (kind == EVENT_REASONING)
		return (WIRE_OK);
	return (buf_put(&s->later, x.p, x.len) ? WIRE_MEMORY : WIRE_OK);
}

/* The answer's text: a string, or with some servers a list of parts. */
static enum wire_rc
take_content(struct stream *s, struct jspan content)
{
	struct jspan_iter it;
	struct jspan v;
	enum wire_rc rc = WIRE_OK;

	if (!pick_is(content, '['))
		return (take_text(s, EVENT_TEXT, content));
	for (jspan_iter(&it, content);
	     rc == WIRE_OK && jspan_next(&it, NULL, &v);)
		rc = take_text(s, EVENT_TEXT, pick_member(v, "text"));
	return (rc);
}

/* What the model thought, under the name that this server gives it. */
static enum wire_rc
take_reasoning(struct stream *s, struct jspan delta)
{
	struct jspan v = {"null", 4};

	if (s->reasoning == REASONING_USUAL ||
	    s->reasoning == REASONING_CONTENT)
		v = pick_member(delta, "reasoning_content");
	if (s->reasoning == REASONING_PLAIN ||
	    (s->reasoning == REASONING_USUAL && !pick_is(v, '"')))
		v = pick_member(delta, "reasoning");
	return (take_text(s, EVENT_REASONING, v));
}

static enum wire_rc
take_calls(struct stream *s, struct jspan delta)
{
	struct jspan list = pick_member(delta, "tool_calls"), v;
	struct jspan_iter it;
	enum wire_rc rc = WIRE_OK;

	v = pick_member(delta, "function_call");
	if (pick_is(v, '{'))
		rc =
		    chat_calls_take(&s->calls, &s->scratch, delta, v, s->whole);
	if (!pick_is(list, '['))
		return (rc);
	for (jspan_iter(&it, list); rc == WIRE_OK && jspan_next(&it, NULL, &v);)
		rc = chat_calls_take(&s->calls, &s->scratch, v,
		    pick_member(v, "function"), s->whole);
	return (rc);
}

void
wire_chat_usage(struct usage *usage, struct jspan root)
{
	static const struct wire_usage_names names = {"prompt_tokens",
	    "completion_tokens", "prompt_tokens_details",
	    "completion_tokens_details"};

	wire_usage(usage, pick_member(root, "usage"), &names);
}

static enum wire_rc
take_stop(struct stream *s, struct jspan choice)
{
	/* clang-format off */
	static const struct { const char *word; enum stop stop; } rows[] = {
		{ "stop", STOP_END }, { "length", STOP_LENGTH },
		{ "tool_calls", STOP_CALLS }, { "function_call", STOP_CALLS },
		{ "content_filter", STOP_FILTER },
		{ "sensitive", STOP_FILTER }, { "safety", STOP_FILTER },
		{ "max_tokens", STOP_LENGTH }, { "model_length", STOP_LENGTH },
		{ "model_context_window_exceeded", STOP_LENGTH },
		{ "repetition", STOP_LENGTH },
	};
	/* clang-format on */
	struct jspan why = pick_member(choice, "finish_reason");
	struct jspan text = pick_member(choice, "stop_reason");
	size_t i;

	if (!pick_is(why, '"'))
		return (WIRE_OK);
	s->over = 1;
	s->stop = STOP_END;
	for (i = 0; i < NELEM(rows); i++)
		if (jspan_is(why, rows[i].word))
			s->stop = rows[i].stop;
	if (s->stop == STOP_END && pick_is(text, '"')) {
		s->stop = STOP_SEQUENCE;
		buf_drop(&s->sequence, s->sequence.len);
		if (jspan_str(&s->sequence, text))
			return (WIRE_MEMORY);
	}
	return (WIRE_OK);
}

static enum wire_rc
take_choice(struct stream *s, struct jspan choice, const char *member)
{
	struct jspan delta = pick_member(choice, member);
	enum wire_rc rc;

	s->begun = 1;
	if ((rc = take_reasoning(s, delta)) != WIRE_OK ||
	    (rc = take_content(s, pick_member(delta, "content"))) != WIRE_OK ||
	    (rc = take_calls(s, delta)) != WIRE_OK)
		return (rc);
	return (take_stop(s, choice));
}

/* A chunk without a choice is the usage, or some server's own affair. */
static enum wire_rc
take(struct wire_reader *r, struct jspan root)
{
	struct stream *s = (struct stream *)r;
	struct jspan choice;

	wire_chat_usage(&s->usage, root);
	return (wire_choice(root, &choice) ? take_choice(s, choice, "delta")
					   : WIRE_OK);
}

static enum wire_rc
end(struct wire_reader *r, int done)
{
	struct stream *s = (struct stream *)r;
	const struct event usage = {.kind = EVENT_USAGE, .usage = &s->usage};
	const struct event stop = {.kind = EVENT_STOP,
	    .stop = s->stop,
	    .text = {s->sequence.p, s->sequence.len}};
	const struct text later = {s->later.p, s->later.len};
	enum wire_rc rc;

	if (!s->over && !(done && s->begun))
		return (WIRE_CUT);
	if ((rc = chat_calls_end(&s->calls)) != WIRE_OK ||
	    (later.len > 0 && (rc = tell(s, EVENT_TEXT, later)) != WIRE_OK))
		return (rc);
	if ((s->usage.known && r->fn(r->cookie, &usage)) ||
	    r->fn(r->cookie, &stop))
		return (WIRE_STOPPED);
	return (WIRE_OK);
}

static void
stream_free(struct wire_reader *r)
{
	struct stream *s = (struct stream *)r;

	chat_calls_free(&s->calls);
	buf_free(&s->scratch);
	buf_free(&s->later);
	buf_free(&s->sequence);
	free(s);
}

struct wire_reader *
wire_chat_stream(const struct conf_provider *p)
{
	struct stream *s;

	if ((s = calloc(1, sizeof(*s))) == NULL)
		return (NULL);
	s->reasoning = p != NULL ? p->reasoning_out : REASONING_USUAL;
	s->r.take = take;
	s->r.end = end;
	s->r.free = stream_free;
	s->scratch.max = s->later.max = s->sequence.max = TEXT_MAX;
	chat_calls_init(&s->calls, &s->r);
	return (&s->r);
}

int
wire_chat_read(const struct conf_provider *p, struct jspan root, event_fn *fn,
    void *cookie)
{
	struct wire_reader *r;
	struct jspan choice;
	int rc = -1;

	if (!wire_choice(root, &choice) ||
	    !pick_is(pick_member(choice, "message"), '{') ||
	    (r = wire_chat_stream(p)) == NULL)
		return (-1);
	r->fn = fn;
	r->cookie = cookie;
	((struct stream *)r)->whole = 1;
	wire_chat_usage(&((struct stream *)r)->usage, root);
	if (take_choice((struct stream *)r, choice, "message") == WIRE_OK &&
	    end(r, 1) == WIRE_OK)
		rc = 0;
	stream_free(r);
	return (rc);
}
