#include <stdlib.h>

#include "base/buf.h"
#include "base/id.h"
#include "base/jput.h"
#include "base/jspan.h"

#include "speech/args.h"
#include "speech/messages.h"
#include "speech/messages_block.h"
#include "speech/model_dialect.h"
#include "speech/pick.h"
#include "speech/talk.h"

#define ANSWER_MAX (64U << 20)
#define ARGS_MAX (16U << 20)
#define ARGS_DEPTH 128
#define CALLER_MAX 1024
#define IDLEN 20

/* The block that is being written. */
enum open { CLOSED, IN_TEXT, IN_THINKING, IN_CALL };

/* A Messages answer being gathered. */
struct gather {
	struct writer w; /* First: a writer is cast to this. */
	const struct talk *talk;
	struct buf content; /* The blocks so far. */
	struct buf args;    /* Of the call under way. */
	struct buf caller;  /* Likewise. */
	enum open open;
	struct usage usage;
	enum stop stop;
	struct buf sequence; /* The stop text. */
};

static void
close_block(struct gather *g)
{

	if (g->open == IN_TEXT)
		buf_puts(&g->content, "\"}");
	else if (g->open == IN_THINKING)
		buf_puts(&g->content, "\",\"signature\":\"gw_unsigned\"}");
	g->open = CLOSED;
}

static void
comma(struct buf *b)
{

	if (b->len > 0)
		buf_puts(b, ",");
}

/* Add to the open block of that kind, or open one. */
static void
add_chars(struct gather *g, enum open kind, const char *begin, struct text x)
{

	if (x.len == 0)
		return;
	if (g->open != kind) {
		close_block(g);
		comma(&g->content);
		buf_puts(&g->content, begin);
		g->open = kind;
	}
	jput_chars(&g->content, x.p, x.len);
}

static void
begin_call(struct gather *g, const struct event *ev)
{

	close_block(g);
	comma(&g->content);
	g->open = IN_CALL;
	buf_printf(&g->content, "{\"type\":\"%s\",\"id\":",
	    ev->ours ? "server_tool_use" : "tool_use");
	jput_str(&g->content, ev->id);
	buf_puts(&g->content, ",\"name\":");
	jput_str(&g->content, ev->name);
	buf_puts(&g->content, ",\"input\":");
	buf_drop(&g->args, g->args.len);
	buf_drop(&g->caller, g->caller.len);
	messages_put_caller(&g->caller, ev);
}

/* Arguments are shown as the object they are meant to be, or as raw text. */
static void
end_call(struct gather *g)
{
	const struct text args = {g->args.p, g->args.len};
	struct text x;

	if (args_sound(g->talk->mem, args, &x) == -1)
		g->content.spoiled = 1;
	else
		buf_put(&g->content, x.p, x.len);
	buf_puts(&g->content, ",\"caller\":");
	buf_put(&g->content, g->caller.p, g->caller.len);
	buf_puts(&g->content, "}");
	g->open = CLOSED;
}

static int
on_event(struct writer *w, const struct event *ev)
{
	struct gather *g = (struct gather *)w;

	switch (ev->kind) {
	case EVENT_ROUND:
		close_block(g);
		break;
	case EVENT_TEXT:
		add_chars(
		    g, IN_TEXT, "{\"type\":\"text\",\"text\":\"", ev->text);
		break;
	case EVENT_REASONING:
		if (!g->talk->hide_reasoning)
			add_chars(g, IN_THINKING,
			    "{\"type\":\"thinking\",\"thinking\":\"", ev->text);
		break;
	case EVENT_CALL:
		begin_call(g, ev);
		break;
	case EVENT_ARGS:
		buf_put(&g->args, ev->text.p, ev->text.len);
		break;
	case EVENT_CALL_END:
		end_call(g);
		break;
	case EVENT_RESULT:
		if (g->talk->quiet)
			break;
		close_block(g);
		comma(&g->content);
		messages_put_result(&g->content, ev->id, ev->outcome);
		break;
	case EVENT_USAGE:
		g->usage = *ev->usage;
		break;
	case EVENT_STOP:
		close_block(g);
		g->stop = ev->stop;
		buf_put(&g->sequence, ev->text.p, ev->text.len);
		break;
	}
	return (buf_ok(&g->content) && buf_ok(&g->args) && buf_ok(&g->caller)
		? 0
		: -1);
}

static int
finish(struct writer *w, struct buf *b)
{
	struct gather *g = (struct gather *)w;
	char id[IDLEN + 1];

	if (id_base36(id, IDLEN))
		return (-1);
	buf_printf(b,
	    "{\"id\":\"msg_gw_%s\",\"type\":\"message\","
	    "\"role\":\"assistant\",\"model\":",
	    id);
	jput_str(b, g->talk->model);
	buf_puts(b, ",\"container\":");
	messages_put_container(b, g->talk->container);
	buf_puts(b, ",\"content\":[");
	buf_put(b, g->content.p, g->content.len);
	buf_printf(b, "],\"stop_reason\":\"%s\",\"stop_sequence\":",
	    messages_stop_reason(g->stop));
	if (g->stop == STOP_SEQUENCE)
		jput_text(b, g->sequence.p, g->sequence.len);
	else
		buf_puts(b, "null");
	buf_puts(b, ",\"stop_details\":null,\"diagnostics\":null,\"usage\":");
	messages_put_usage(b, &g->usage);
	return (buf_puts(b, "}"));
}

static void
gather_free(struct writer *w)
{
	struct gather *g = (struct gather *)w;

	buf_free(&g->content);
	buf_free(&g->args);
	buf_free(&g->caller);
	buf_free(&g->sequence);
	free(g);
}

struct writer *
messages_gather(const struct talk *t)
{
	struct gather *g;

	if ((g = calloc(1, sizeof(*g))) == NULL)
		return (NULL);
	g->w.event = on_event;
	g->w.finish = finish;
	g->w.free = gather_free;
	g->talk = t;
	g->content.max = ANSWER_MAX;
	g->args.max = ARGS_MAX;
	g->caller.max = CALLER_MAX;
	g->sequence.max = ARGS_MAX;
	return (&g->w);
}
