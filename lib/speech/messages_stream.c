#include <inttypes.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/id.h"
#include "base/jprefix.h"
#include "base/jput.h"

#include "speech/messages.h"
#include "speech/messages_block.h"
#include "speech/model_dialect.h"
#include "speech/talk.h"

#define SEQUENCE_MAX (16U << 20)
#define IDLEN 20

/* The block that is open; only one ever is. */
enum open { CLOSED, IN_TEXT, IN_THINKING, IN_CALL, IN_OUR_CALL };

/* A Messages answer being streamed. */
struct stream {
	struct writer w; /* First: a writer is cast to this. */
	const struct talk *talk;
	struct buf *out;
	int begun;
	enum open open;
	uint64_t index;      /* Of the block that is open, or comes next. */
	struct jprefix args; /* Of our call: what is shown is JSON always. */
	struct usage usage;  /* At first an estimate of the input. */
	enum stop stop;
	struct buf sequence;
};

/* Begin an event; its data goes on where this ends. */
static void
begin_event(struct stream *s, const char *name)
{

	buf_printf(s->out, "event: %s\ndata: {\"type\":\"%s\"", name, name);
}

static void
end_event(struct stream *s)
{

	buf_puts(s->out, "}\n\n");
}

static int
begin(struct stream *s)
{
	char id[IDLEN + 1];

	if (s->begun)
		return (0);
	s->begun = 1;
	if (id_base36(id, IDLEN))
		return (-1);
	begin_event(s, "message_start");
	buf_printf(s->out,
	    ",\"message\":{\"id\":\"msg_gw_%s\",\"type\":\"message\","
	    "\"role\":\"assistant\",\"model\":",
	    id);
	jput_str(s->out, s->talk->model);
	buf_puts(s->out, ",\"container\":");
	messages_put_container(s->out, s->talk->container);
	buf_puts(s->out,
	    ",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,"
	    "\"stop_details\":null,\"diagnostics\":null,\"usage\":");
	messages_put_usage(s->out, &s->usage);
	buf_puts(s->out, "}");
	end_event(s);
	return (0);
}

/* ---- Blocks */

static void
begin_block(struct stream *s, enum open open)
{

	begin_event(s, "content_block_start");
	buf_printf(
	    s->out, ",\"index\":%" PRIu64 ",\"content_block\":", s->index);
	s->open = open;
}

static void
put_delta(struct stream *s, const char *type, const char *key, struct text x)
{

	begin_event(s, "content_block_delta");
	buf_printf(s->out,
	    ",\"index\":%" PRIu64 ",\"delta\":{\"type\":\"%s\",\"%s\":",
	    s->index, type, key);
	jput_text(s->out, x.p, x.len);
	buf_puts(s->out, "}");
	end_event(s);
}

/* What of our call's arguments is no JSON is not shown, and what they lack to
 * be an object is added: clients parse them. */
static void
end_args(struct stream *s)
{
	struct buf b = BUF_INIT(4 * JPREFIX_DEPTH);

	if (jprefix_close(&s->args, &b))
		s->out->spoiled = 1;
	if (b.len > 0)
		put_delta(s, "input_json_delta", "partial_json",
		    (struct text){b.p, b.len});
	buf_free(&b);
}

static void
end_block(struct stream *s)
{
	static const struct text unsigned_ = TEXT_LIT("gw_unsigned");

	if (s->open == CLOSED)
		return;
	if (s->open == IN_OUR_CALL)
		end_args(s);
	if (s->open == IN_THINKING)
		put_delta(s, "signature_delta", "signature", unsigned_);
	begin_event(s, "content_block_stop");
	buf_printf(s->out, ",\"index\":%" PRIu64, s->index);
	end_event(s);
	s->index++;
	s->open = CLOSED;
}

static void
put_text(struct stream *s, struct text x)
{

	if (s->open != IN_TEXT) {
		end_block(s);
		begin_block(s, IN_TEXT);
		buf_puts(s->out, "{\"type\":\"text\",\"text\":\"\"}");
		end_event(s);
	}
	put_delta(s, "text_delta", "text", x);
}

static void
put_thought(struct stream *s, struct text x)
{

	if (s->open != IN_THINKING) {
		end_block(s);
		begin_block(s, IN_THINKING);
		buf_puts(s->out,
		    "{\"type\":\"thinking\",\"thinking\":\"\","
		    "\"signature\":\"\"}");
		end_event(s);
	}
	put_delta(s, "thinking_delta", "thinking", x);
}

static void
put_call(struct stream *s, const struct event *ev)
{

	end_block(s);
	begin_block(s, ev->ours ? IN_OUR_CALL : IN_CALL);
	s->args = (struct jprefix){0};
	buf_printf(s->out, "{\"type\":\"%s\",\"id\":",
	    ev->ours ? "server_tool_use" : "tool_use");
	jput_str(s->out, ev->id);
	buf_puts(s->out, ",\"name\":");
	jput_str(s->out, ev->name);
	buf_puts(s->out, ",\"input\":{},\"caller\":");
	messages_put_caller(s->out, ev);
	buf_puts(s->out, "}");
	end_event(s);
}

static void
put_args(struct stream *s, struct text x)
{

	if (s->open == IN_OUR_CALL)
		x.len = jprefix_feed(&s->args, x.p, x.len);
	if (x.len > 0)
		put_delta(s, "input_json_delta", "partial_json", x);
}

static void
put_result(struct stream *s, const struct event *ev)
{

	end_block(s);
	begin_block(s, CLOSED);
	messages_put_result(s->out, ev->id, ev->outcome);
	end_event(s);
	begin_event(s, "content_block_stop");
	buf_printf(s->out, ",\"index\":%" PRIu64, s->index++);
	end_event(s);
}

static int
is_hidden(const struct stream *s, const struct event *ev)
{

	return ((ev->kind == EVENT_REASONING && s->talk->hide_reasoning) ||
	    (ev->kind == EVENT_RESULT && s->talk->quiet));
}

/* ---- The writer */

/* Something that is shown. */
static int
show(struct stream *s, const struct event *ev)
{

	if (is_hidden(s, ev))
		return (0);
	if (begin(s))
		return (-1);
	switch (ev->kind) {
	case EVENT_TEXT:
		put_text(s, ev->text);
		break;
	case EVENT_REASONING:
		put_thought(s, ev->text);
		break;
	case EVENT_CALL:
		put_call(s, ev);
		break;
	case EVENT_ARGS:
		put_args(s, ev->text);
		break;
	case EVENT_RESULT:
		put_result(s, ev);
		break;
	default: /* EVENT_CALL_END */
		end_block(s);
		break;
	}
	return (buf_ok(s->out) ? 0 : -1);
}

static int
on_event(struct writer *w, const struct event *ev)
{
	struct stream *s = (struct stream *)w;

	switch (ev->kind) {
	case EVENT_ROUND:
		if (!s->begun) {
			s->usage = *ev->usage;
			s->usage.output = 1;
		} else
			end_block(s);
		break;
	case EVENT_USAGE:
		s->usage = *ev->usage;
		break;
	case EVENT_STOP:
		s->stop = ev->stop;
		return (buf_put(&s->sequence, ev->text.p, ev->text.len));
	default:
		return (show(s, ev));
	}
	return (buf_ok(s->out) ? 0 : -1);
}

static int
finish(struct writer *w, struct buf *b)
{
	struct stream *s = (struct stream *)w;

	(void)b; /* It is the same. */
	if (begin(s))
		return (-1);
	end_block(s);
	begin_event(s, "message_delta");
	buf_printf(s->out,
	    ",\"delta\":{\"stop_reason\":\"%s\",\"stop_sequence\":",
	    messages_stop_reason(s->stop));
	if (s->stop == STOP_SEQUENCE)
		jput_text(s->out, s->sequence.p, s->sequence.len);
	else
		buf_puts(s->out, "null");
	buf_puts(s->out, ",\"stop_details\":null,\"container\":");
	messages_put_container(s->out, s->talk->container);
	buf_puts(s->out, "},\"usage\":");
	messages_put_delta_usage(s->out, &s->usage);
	end_event(s);
	begin_event(s, "message_stop");
	end_event(s);
	return (buf_ok(s->out) ? 0 : -1);
}

static int
alive(struct writer *w)
{
	struct stream *s = (struct stream *)w;

	if (begin(s))
		return (-1);
	begin_event(s, "ping");
	end_event(s);
	return (buf_ok(s->out) ? 0 : -1);
}

static int
fail(struct writer *w, const struct problem_row *row, const char *message,
    const char *id)
{
	struct stream *s = (struct stream *)w;
	json_object *o = dialect_anthropic.error(row, message, NULL, id);
	const char *text;

	if (o == NULL)
		return (-1);
	text = json_object_to_json_string_ext(
	    o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
	if (text != NULL)
		buf_printf(s->out, "event: error\ndata: %s\n\n", text);
	json_object_put(o);
	return (text != NULL && buf_ok(s->out) ? 0 : -1);
}

static void
stream_free(struct writer *w)
{
	struct stream *s = (struct stream *)w;

	buf_free(&s->sequence);
	free(s);
}

struct writer *
messages_stream(const struct talk *t, struct buf *out)
{
	struct stream *s;

	if ((s = calloc(1, sizeof(*s))) == NULL)
		return (NULL);
	s->w.event = on_event;
	s->w.finish = finish;
	s->w.alive = alive;
	s->w.fail = fail;
	s->w.free = stream_free;
	s->talk = t;
	s->out = out;
	s->sequence.max = SEQUENCE_MAX;
	return (&s->w);
}
