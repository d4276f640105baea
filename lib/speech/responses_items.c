#include <string.h>

#include "base/buf.h"
#include "base/jput.h"

#include "speech/openai_read.h"
#include "speech/pick.h"
#include "speech/refusal.h"
#include "speech/responses.h"
#include "speech/talk.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define ARGS_MAX (64U << 20)

/* How far the input has been read. */
struct input {
	struct reader *rd;
	int newest; /* Within the user's newest turn. */
	struct openai_files *files;
	struct outcome *run; /* The last one since the user spoke. */
};

typedef int item_fn(struct input *, struct jspan);

/* ---- What a message holds */

static int
part_image(struct input *in, struct jspan v)
{
	const char *detail = NULL;
	struct jspan m;
	struct text url;

	if (reader_member(v, "file_id", &m))
		return (openai_stored(in->rd, v, "file_id", 1, in->newest));
	if (reader_opt_str(in->rd, v, "detail", &detail) ||
	    reader_get_text(in->rd, v, "image_url", &url))
		return (-1);
	return (openai_image(in->rd, url, detail, in->newest));
}

static int
part_file(struct input *in, struct jspan v)
{

	return (openai_file(in->rd, v, in->newest));
}

static int
part_text(struct input *in, struct jspan v)
{
	struct text x;

	if (reader_get_text(in->rd, v, "text", &x))
		return (-1);
	return (openai_say(in->rd, TALK_USER, x));
}

/* What the user may say, in a message or without one. */
/* clang-format off */
static const struct { const char *type; item_fn *read; } parts[] = {
	{ "input_text", part_text },
	{ "output_text", part_text },
	{ "text", part_text },
	{ "input_image", part_image },
	{ "input_file", part_file },
};
/* clang-format on */

static int
read_part(struct input *in, struct jspan v)
{
	const char *type;
	size_t i;

	if (!pick_is(v, '{'))
		return (reader_refuse(in->rd, "must be an object"));
	if (reader_get_str(in->rd, v, "type", &type))
		return (-1);
	for (i = 0; i < NELEM(parts); i++)
		if (strcmp(parts[i].type, type) == 0)
			return (parts[i].read(in, v));
	return (openai_foreign(in->rd, TALK_USER, type, v));
}

/* The answer's text, and which files it cites. */
static int
read_said(struct input *in, struct jspan v)
{
	struct jspan_iter it;
	struct jspan part;
	struct text x;

	if (openai_text_of(in->rd, v, &x) ||
	    openai_say(in->rd, TALK_ASSISTANT, x))
		return (-1);
	if (in->run != NULL && jspan_iter(&it, v) == 0)
		while (jspan_next(&it, NULL, &part))
			if (responses_read_cited(in->rd, part, in->run))
				return (-1);
	return (0);
}

static int
read_user(struct input *in, struct jspan v)
{
	struct jspan_iter it;
	struct jspan part;
	struct text x;
	size_t i = 0, mark;

	in->run = NULL;
	if (pick_is(v, '"'))
		return (reader_text(in->rd, v, &x) ||
			    openai_say(in->rd, TALK_USER, x)
			? -1
			: 0);
	if (jspan_iter(&it, v) || it.object)
		return (reader_refuse(in->rd, "must be a string or a list"));
	while (jspan_next(&it, NULL, &part)) {
		mark = reader_at(in->rd, i++);
		if (read_part(in, part))
			return (-1);
		reader_out(in->rd, mark);
	}
	return (0);
}

static int
item_message(struct input *in, struct jspan v)
{
	struct jspan content;
	struct text x;
	const char *role;
	size_t mark;
	int rc;

	if (reader_get_str(in->rd, v, "role", &role))
		return (-1);
	mark = reader_in(in->rd, "content");
	if (!reader_member(v, "content", &content))
		return (reader_refuse(in->rd, "is required"));
	if (strcmp(role, "user") == 0)
		rc = read_user(in, content);
	else if (strcmp(role, "assistant") == 0)
		rc = read_said(in, content);
	else if (strcmp(role, "system") == 0 || strcmp(role, "developer") == 0)
		rc = openai_text_of(in->rd, content, &x) ||
			openai_instruct(
			    in->rd, x, strcmp(role, "developer") == 0)
		    ? -1
		    : 0;
	else
		rc = reader_refuse(in->rd, "no such role: %.80s", role);
	if (rc == 0)
		reader_out(in->rd, mark);
	return (rc);
}

/* ---- Calls of the caller's functions, and their results */

static int
item_call(struct input *in, struct jspan v)
{
	struct part *p;

	if ((p = reader_call(in->rd)) == NULL)
		return (-1);
	return (reader_get_str(in->rd, v, "call_id", &p->id) ||
		    reader_get_str(in->rd, v, "name", &p->name) ||
		    reader_get_text(in->rd, v, "arguments", &p->text)
		? -1
		: 0);
}

static int
item_custom_call(struct input *in, struct jspan v)
{
	struct buf b = BUF_INIT(ARGS_MAX);
	struct text x;
	struct part *p;
	int rc;

	if ((p = reader_call(in->rd)) == NULL ||
	    reader_get_str(in->rd, v, "call_id", &p->id) ||
	    reader_get_str(in->rd, v, "name", &p->name) ||
	    reader_get_text(in->rd, v, "input", &x))
		return (-1);
	buf_puts(&b, "{\"input\":");
	jput_text(&b, x.p, x.len);
	rc = buf_puts(&b, "}") || talk_text(in->rd->talk, b.p, b.len, &p->text);
	buf_free(&b);
	return (rc ? reader_no_memory(in->rd) : 0);
}

static int
read_shown(void *cookie, struct jspan v)
{

	return (read_part(cookie, v));
}

static int
item_output(struct input *in, struct jspan v)
{
	struct jspan output;
	const char *id;
	struct part *p;
	size_t mark;

	if (reader_get_str(in->rd, v, "call_id", &id))
		return (-1);
	if ((p = talk_add(in->rd->talk, TALK_USER, PART_RESULT)) == NULL ||
	    (p->where = reader_where(in->rd)) == NULL)
		return (reader_no_memory(in->rd));
	p->id = id;
	mark = reader_in(in->rd, "output");
	if (!reader_member(v, "output", &output))
		return (reader_refuse(in->rd, "is required"));
	if (pick_is(output, '"')
		? reader_text(in->rd, output, &p->text)
		: openai_result(in->rd, p, output, "\n", read_shown, in))
		return (-1);
	reader_out(in->rd, mark);
	return (0);
}

/* ---- Other items */

static int
item_run(struct input *in, struct jspan v)
{
	struct outcome *o;

	if (responses_read_run(in->rd, v, &o))
		return (-1);
	if (o != NULL)
		in->run = o;
	return (0);
}

/* What the model thought: its own words, else the summary of them. */
static int
item_reasoning(struct input *in, struct jspan v)
{
	static const char *const keys[] = {"content", "summary"};
	struct text x = {"", 0};
	struct jspan list;
	struct part *p;
	size_t i, mark;

	for (i = 0; i < NELEM(keys) && x.len == 0; i++) {
		if (!reader_member(v, keys[i], &list))
			continue;
		mark = reader_in(in->rd, keys[i]);
		if (openai_text_of(in->rd, list, &x))
			return (-1);
		reader_out(in->rd, mark);
	}
	if (x.len == 0)
		return (0);
	if ((p = talk_add(in->rd->talk, TALK_ASSISTANT, PART_REASONING)) ==
	    NULL)
		return (reader_no_memory(in->rd));
	p->text = x;
	return (0);
}

/* One of a kept answer has been put in its place before. */
static int
item_reference(struct input *in, struct jspan v)
{
	const char *id;

	if (reader_get_str(in->rd, v, "id", &id))
		return (-1);
	return (refuse(in->rd->why, P_ITEM, "input",
	    "Item with id '%.80s' not found.", id));
}

/* clang-format off */
static const struct { const char *type; item_fn *read; } items[] = {
	{ "message", item_message },
	{ "function_call", item_call },
	{ "function_call_output", item_output },
	{ "custom_tool_call", item_custom_call },
	{ "custom_tool_call_output", item_output },
	{ "code_interpreter_call", item_run },
	{ "reasoning", item_reasoning },
	{ "item_reference", item_reference },
};
/* clang-format on */

/* Whether the item is the user's, not the assistant's. */
static int
is_users(struct jspan v)
{
	struct jspan m;

	if (reader_member(v, "role", &m))
		return (jspan_is(m, "user"));
	return (reader_member(v, "type", &m) &&
	    (jspan_is(m, "input_text") || jspan_is(m, "input_image") ||
		jspan_is(m, "input_file") ||
		jspan_is(m, "function_call_output") ||
		jspan_is(m, "custom_tool_call_output")));
}

static int
read_item(struct input *in, struct jspan v)
{
	const struct turn *last = in->rd->talk->last;
	const char *type = "message";
	size_t i;

	if (!pick_is(v, '{'))
		return (reader_refuse(in->rd, "must be an object"));
	if (reader_opt_str(in->rd, v, "type", &type))
		return (-1);
	if (last != NULL && last->who == TALK_USER && !is_users(v) &&
	    openai_hand_over(in->rd, in->files))
		return (-1);
	for (i = 0; i < NELEM(items); i++)
		if (strcmp(items[i].type, type) == 0)
			return (items[i].read(in, v));
	if (strncmp(type, "input_", 6) == 0) {
		in->run = NULL;
		return (read_part(in, v)); /* Without a message around it. */
	}
	return (openai_foreign(in->rd, TALK_ASSISTANT, type, v));
}

/* With which item the user's newest turn begins. */
static size_t
newest_of(struct jspan list)
{
	struct jspan_iter it;
	struct jspan v;
	size_t i, newest = 0;
	int user, before = 0;

	(void)jspan_iter(&it, list);
	for (i = 0; jspan_next(&it, NULL, &v); i++) {
		user = is_users(v);
		if (user && !before)
			newest = i;
		before = user;
	}
	return (newest);
}

/* Read a list of items; in one of an earlier answer nothing is new. */
static int
read_list(struct input *in, struct jspan list, int old)
{
	struct jspan_iter it;
	struct jspan v;
	size_t i, newest, mark;

	if (jspan_iter(&it, list) || it.object)
		return (reader_refuse(in->rd, "must be a string or a list"));
	newest = newest_of(list);
	for (i = 0; jspan_next(&it, NULL, &v); i++) {
		mark = reader_at(in->rd, i);
		in->newest = !old && i >= newest;
		if (read_item(in, v))
			return (-1);
		reader_out(in->rd, mark);
	}
	return (0);
}

int
responses_read_input(
    struct reader *rd, struct jspan list, struct openai_files *files)
{
	struct input in = {.rd = rd, .files = files};
	size_t mark = reader_in(rd, "previous_response_id");

	if (rd->talk->before.p != NULL && read_list(&in, rd->talk->before, 1))
		return (-1);
	reader_out(rd, mark);
	mark = reader_in(rd, "input");
	in.newest = 1;
	if (pick_is(list, '"') ? read_user(&in, list) : read_list(&in, list, 0))
		return (-1);
	reader_out(rd, mark);
	return (openai_hand_over(rd, files));
}
