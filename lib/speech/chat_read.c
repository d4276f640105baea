#include <string.h>

#include "base/arena.h"
#include "base/buf.h"

#include "speech/chat.h"
#include "speech/openai_read.h"
#include "speech/pick.h"
#include "speech/refusal.h"
#include "speech/talk.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define PASSED_MAX (64U << 20)

static const struct openai_way way = {
    "function", "custom", "allowed_tools", "json_schema"};

/* ---- Functions as they were said of old */

static int
read_old_function(struct reader *rd, struct jspan v)
{
	struct tool *x;
	struct jspan m;
	const char *name;
	size_t mark;

	if (!pick_is(v, '{'))
		return (reader_refuse(rd, "must be an object"));
	if (reader_get_str(rd, v, "name", &name))
		return (-1);
	if ((x = reader_tool(rd, name)) == NULL)
		return (-1);
	if (reader_member(v, "description", &m) &&
	    reader_get_text(rd, v, "description", &x->description))
		return (-1);
	mark = reader_in(rd, "parameters");
	if (reader_member(v, "parameters", &x->schema) &&
	    !pick_is(x->schema, '{'))
		return (reader_refuse(rd, "must be an object"));
	reader_out(rd, mark);
	return (0);
}

static int
read_old_choice(struct reader *rd, struct jspan root)
{
	size_t mark = reader_in(rd, "function_call");
	struct talk *t = rd->talk;
	struct jspan v;

	if (reader_member(root, "function_call", &v)) {
		if (jspan_is(v, "auto"))
			t->choice = CHOICE_AUTO;
		else if (jspan_is(v, "none"))
			t->choice = CHOICE_NONE;
		else if (!pick_is(v, '{'))
			return (reader_refuse(
			    rd, "must be auto, none or an object with a name"));
		else {
			if (reader_get_str(rd, v, "name", &t->choice_name))
				return (-1);
			if (!talk_has_tool(t, t->choice_name))
				return (reader_refuse(rd,
				    "names no function: %.80s",
				    t->choice_name));
			t->choice = CHOICE_NAMED;
		}
	}
	reader_out(rd, mark);
	return (0);
}

/* ---- Parameters */

static int
read_stops(struct reader *rd, struct jspan root)
{
	size_t mark = reader_in(rd, "stop");
	struct jspan v;
	int rc = 0;

	if (reader_member(root, "stop", &v)) {
		if (reader_stops(rd))
			return (-1);
		if (pick_is(v, '"'))
			rc = reader_stop(rd, v);
		else {
			reader_out(rd, mark);
			return (reader_each(rd, root, "stop", reader_stop));
		}
	}
	if (rc == 0)
		reader_out(rd, mark);
	return (rc);
}

static int
refuse_others(struct reader *rd, struct jspan root)
{
	struct jspan v, type;
	struct jspan_iter it;
	uint64_t n = 1;

	if (reader_opt_u64(rd, root, "n", 1, 128, &n))
		return (-1);
	if (n > 1)
		return (refuse(rd->why, P_BAD_REQUEST, "n",
		    "n: only one choice can be given for this model"));
	if (openai_no_logprobs(rd, root))
		return (-1);
	if (reader_member(root, "modalities", &v) && jspan_iter(&it, v) == 0)
		while (jspan_next(&it, NULL, &type))
			if (!jspan_is(type, "text"))
				return (refuse(rd->why, P_BAD_REQUEST,
				    "modalities",
				    "modalities: this model answers with text "
				    "only"));
	return (openai_refuse_member(
		    rd, root, "audio", "this model does not speak") ||
		    openai_refuse_member(rd, root, "web_search_options",
			"there is no web search for this model")
		? -1
		: 0);
}

static int
read_limit(struct reader *rd, struct jspan root)
{
	uint64_t *max = &rd->talk->max_tokens;

	return (reader_opt_u64(rd, root, "max_tokens", 1, UINT32_MAX, max) ||
		    reader_opt_u64(
			rd, root, "max_completion_tokens", 1, UINT32_MAX, max)
		? -1
		: 0);
}

static int
read_container(struct reader *rd, struct jspan root)
{
	size_t mark = reader_in(rd, "container");
	struct jspan v;

	if (reader_member(root, "container", &v) && openai_container(rd, v))
		return (-1);
	rd->talk->forgets = 1; /* An answer has no place for one. */
	reader_out(rd, mark);
	return (0);
}

static int
check_stream_options(struct reader *rd, struct jspan root)
{
	size_t mark = reader_in(rd, "stream_options");
	struct jspan v;
	int usage;

	if (reader_member(root, "stream_options", &v)) {
		if (!pick_is(v, '{'))
			return (reader_refuse(rd, "must be an object"));
		if (reader_opt_bool(rd, v, "include_usage", &usage))
			return (-1);
	}
	reader_out(rd, mark);
	return (0);
}

static int
read_parameters(struct reader *rd, struct jspan root)
{

	return (refuse_others(rd, root) || read_limit(rd, root) ||
		    read_stops(rd, root) || read_container(rd, root) ||
		    check_stream_options(rd, root) ||
		    openai_parameters(rd, root) ||
		    openai_format(rd, root, "response_format", &way) ||
		    reader_opt_str(
			rd, root, "reasoning_effort", &rd->talk->effort)
		? -1
		: 0);
}

/* Members that have been read, or that mean nothing to a model's server. */
static int
is_read(struct jspan key)
{
	static const char *const keys[] = {"model", "messages", "tools",
	    "tool_choice", "functions", "function_call", "stream",
	    "stream_options", "max_tokens", "max_completion_tokens", "stop",
	    "n", "modalities", "audio", "web_search_options", "container",
	    "temperature", "top_p", "parallel_tool_calls",
	    "max_tool_iterations", "reasoning_effort", "logprobs",
	    "top_logprobs", "store"};
	size_t i;

	for (i = 0; i < NELEM(keys); i++)
		if (jspan_is(key, keys[i]))
			return (1);
	return (0);
}

/* All others are its own wire's to judge. */
static int
pass_others(struct reader *rd, struct jspan root)
{
	struct talk *t = rd->talk;
	struct buf b = BUF_INIT(PASSED_MAX);
	struct jspan_iter it;
	struct jspan key, v;
	int rc;

	if (jspan_iter(&it, root))
		return (reader_refuse(rd, "must be an object"));
	while (jspan_next(&it, &key, &v)) {
		if (is_read(key) || pick_is(v, 'n'))
			continue;
		t->format_passed |= jspan_is(key, "response_format");
		buf_puts(&b, ",");
		buf_put(&b, key.p, key.len);
		buf_puts(&b, ":");
		buf_put(&b, v.p, v.len);
	}
	t->passed_to = WIRE_CHAT;
	rc = !buf_ok(&b) || talk_text(t, b.p, b.len, &t->passed);
	buf_free(&b);
	return (rc ? reader_no_memory(rd) : 0);
}

int
chat_read(struct jspan root, struct talk *t, struct refusal *why)
{
	struct reader rd = {.talk = t, .why = why, .brackets = 1};
	struct openai_files files = {.at = NULL};
	struct jspan turns, rest, old;

	if (openai_part(&rd, root, "messages", &turns, &rest))
		return (-1);
	t->asked = rest;
	t->quiet = 1; /* There are no words for runs. */
	if (t->ours != 0)
		t->ours = 1U << OUR_CODE;
	if (reader_member(rest, "functions", &old))
		t->parallel = 0; /* There is room for one call. */
	if (reader_each(&rd, rest, "functions", read_old_function) ||
	    openai_tools(&rd, rest, &way) || openai_choice(&rd, rest, &way) ||
	    read_old_choice(&rd, rest) || openai_declared(&rd, rest, &files) ||
	    read_parameters(&rd, rest) || pass_others(&rd, rest) ||
	    chat_read_turns(&rd, turns, &files))
		return (-1);
	return (talk_settle(t, why));
}
