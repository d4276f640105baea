#include <string.h>

#include "base/arena.h"

#include "speech/pick.h"
#include "speech/wire_chat.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

/* Where the events of one answer go. */
struct sink {
	struct arena *mem;
	event_fn *fn;
	void *cookie;
};

static const struct jspan absent = {"null", 4};

/* The member ${key} of ${o}, null if there is none. */
static struct jspan
member(struct jspan o, const char *key)
{
	struct jspan v;

	return (jspan_get(o, key, &v) > 0 ? v : absent);
}

static int
send_text(struct sink *s, enum event_kind kind, struct jspan v)
{
	struct event ev = {.kind = kind};

	if (pick_text(s->mem, v, &ev.text) || ev.text.len == 0)
		return (0);
	return (s->fn(s->cookie, &ev));
}

/* The answer's text: a string, or with some servers a list of parts. */
static int
read_content(struct sink *s, struct jspan content)
{
	struct jspan_iter it;
	struct jspan v;

	if (!pick_is(content, '['))
		return (send_text(s, EVENT_TEXT, content));
	for (jspan_iter(&it, content); jspan_next(&it, NULL, &v);)
		if (send_text(s, EVENT_TEXT, member(v, "text")))
			return (-1);
	return (0);
}

static int
read_call(struct sink *s, struct jspan id, struct jspan function)
{
	struct event ev = {.kind = EVENT_CALL};
	struct jspan args = member(function, "arguments");
	const char *name = pick_str(s->mem, member(function, "name"));

	ev.id = pick_str(s->mem, id);
	ev.name = name != NULL ? name : "";
	if (s->fn(s->cookie, &ev))
		return (-1);
	ev = (struct event){.kind = EVENT_ARGS};
	if (pick_is(args, '{')) {
		ev.text.p = args.p;
		ev.text.len = args.len;
	} else if (pick_text(s->mem, args, &ev.text))
		ev.text.len = 0;
	if (ev.text.len > 0 && s->fn(s->cookie, &ev))
		return (-1);
	ev = (struct event){.kind = EVENT_CALL_END};
	return (s->fn(s->cookie, &ev));
}

static int
read_calls(struct sink *s, struct jspan message)
{
	struct jspan calls = member(message, "tool_calls"), v;
	struct jspan_iter it;

	v = member(message, "function_call");
	if (pick_is(v, '{') && read_call(s, absent, v))
		return (-1);
	if (!pick_is(calls, '['))
		return (0);
	for (jspan_iter(&it, calls); jspan_next(&it, NULL, &v);)
		if (read_call(s, member(v, "id"), member(v, "function")))
			return (-1);
	return (0);
}

static int
read_usage(struct sink *s, struct jspan v)
{
	struct usage u = {0};
	struct event ev = {.kind = EVENT_USAGE, .usage = &u};
	uint64_t all;

	if (pick_u64(member(v, "prompt_tokens"), &all) ||
	    pick_u64(member(v, "completion_tokens"), &u.output))
		return (0);
	u.known = 1;
	u.has_cached = pick_u64(member(member(v, "prompt_tokens_details"),
				    "cached_tokens"),
			   &u.cached) == 0;
	u.has_reasoning =
	    pick_u64(member(member(v, "completion_tokens_details"),
			 "reasoning_tokens"),
		&u.reasoning) == 0;
	u.input = all > u.cached ? all - u.cached : 0;
	return (s->fn(s->cookie, &ev));
}

static int
read_stop(struct sink *s, struct jspan choice)
{
	/* clang-format off */
	static const struct { const char *word; enum stop stop; } rows[] = {
		{ "stop", STOP_END }, { "length", STOP_LENGTH },
		{ "tool_calls", STOP_CALLS }, { "function_call", STOP_CALLS },
		{ "content_filter", STOP_FILTER },
	};
	/* clang-format on */
	struct event ev = {.kind = EVENT_STOP, .stop = STOP_END};
	struct jspan why = member(choice, "finish_reason");
	size_t i;

	for (i = 0; i < NELEM(rows); i++)
		if (jspan_is(why, rows[i].word))
			ev.stop = rows[i].stop;
	if (ev.stop == STOP_END &&
	    pick_text(s->mem, member(choice, "stop_reason"), &ev.text) == 0)
		ev.stop = STOP_SEQUENCE;
	return (s->fn(s->cookie, &ev));
}

/* What the model thought, under the name that this server gives it. */
static int
read_reasoning(struct sink *s, struct jspan message)
{
	struct jspan v = member(message, "reasoning_content");

	if (!pick_is(v, '"'))
		v = member(message, "reasoning");
	return (send_text(s, EVENT_REASONING, v));
}

int
wire_chat_read(struct arena *mem, struct jspan root, event_fn *fn, void *cookie)
{
	struct sink s = {mem, fn, cookie};
	struct jspan choices = member(root, "choices"), choice, message;
	struct jspan_iter it;

	if (jspan_iter(&it, choices) || it.object ||
	    !jspan_next(&it, NULL, &choice) ||
	    !pick_is(message = member(choice, "message"), '{'))
		return (-1);
	if (read_reasoning(&s, message) ||
	    read_content(&s, member(message, "content")) ||
	    read_calls(&s, message) || read_usage(&s, member(root, "usage")) ||
	    read_stop(&s, choice))
		return (-1);
	return (0);
}
