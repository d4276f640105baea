#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/jput.h"

#include "speech/chat.h"
#include "speech/openai_read.h"
#include "speech/pick.h"
#include "speech/refusal.h"
#include "speech/talk.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define ARGS_MAX (64U << 20)

/* How far the messages have been read. */
struct chat {
	struct reader *rd;
	struct openai_files *files;
	int newest;       /* Within the user's newest turn. */
	size_t nth;       /* Of the messages. */
	const char *call; /* The id made up for a call that has none. */
};

/* ---- What the user says */

static int
part_text(struct chat *c, struct jspan v)
{
	struct text x;

	if (reader_get_text(c->rd, v, "text", &x))
		return (-1);
	return (openai_say(c->rd, TALK_USER, x));
}

static int
part_image(struct chat *c, struct jspan v)
{
	const char *detail = NULL;
	size_t mark = reader_in(c->rd, "image_url");
	struct jspan image;
	struct text url;

	if (!reader_member(v, "image_url", &image) || !pick_is(image, '{'))
		return (reader_refuse(c->rd, "must be an object"));
	if (reader_opt_str(c->rd, image, "detail", &detail) ||
	    reader_get_text(c->rd, image, "url", &url) ||
	    openai_image(c->rd, url, detail, c->newest))
		return (-1);
	reader_out(c->rd, mark);
	return (0);
}

static int
part_file(struct chat *c, struct jspan v)
{
	size_t mark = reader_in(c->rd, "file");
	struct jspan file;

	if (!reader_member(v, "file", &file) || !pick_is(file, '{'))
		return (reader_refuse(c->rd, "must be an object"));
	if (openai_file(c->rd, file, c->newest))
		return (-1);
	reader_out(c->rd, mark);
	return (0);
}

/* clang-format off */
static const struct {
	const char *type;
	int (*read)(struct chat *, struct jspan);
} parts[] = {
	{ "text", part_text },
	{ "image_url", part_image },
	{ "file", part_file },
};
/* clang-format on */

static int
read_part(struct chat *c, struct jspan v)
{
	const char *type;
	size_t i;

	if (!pick_is(v, '{'))
		return (reader_refuse(c->rd, "must be an object"));
	if (reader_get_str(c->rd, v, "type", &type))
		return (-1);
	for (i = 0; i < NELEM(parts); i++)
		if (strcmp(parts[i].type, type) == 0)
			return (parts[i].read(c, v));
	return (openai_foreign(c->rd, TALK_USER, type, v));
}

static int
say_user(struct chat *c, struct jspan m)
{
	size_t mark = reader_in(c->rd, "content"), i = 0, inner;
	struct jspan_iter it;
	struct jspan v, part;
	struct text x;

	if (!reader_member(m, "content", &v))
		return (reader_refuse(c->rd, "is required"));
	if (pick_is(v, '"')) {
		if (reader_text(c->rd, v, &x) ||
		    openai_say(c->rd, TALK_USER, x))
			return (-1);
	} else if (jspan_iter(&it, v) || it.object) {
		return (reader_refuse(c->rd, "must be a string or a list"));
	} else {
		while (jspan_next(&it, NULL, &part)) {
			inner = reader_at(c->rd, i++);
			if (read_part(c, part))
				return (-1);
			reader_out(c->rd, inner);
		}
	}
	reader_out(c->rd, mark);
	return (0);
}

/* The member "content", a string or a list of texts; absent is empty. */
static int
get_content(struct chat *c, struct jspan m, struct text *x)
{
	size_t mark = reader_in(c->rd, "content");
	struct jspan v;

	x->len = 0;
	if (reader_member(m, "content", &v) && openai_text_of(c->rd, v, x))
		return (-1);
	reader_out(c->rd, mark);
	return (0);
}

static int
instruct(struct chat *c, struct jspan m, int developer)
{
	struct text x;

	return (get_content(c, m, &x) || openai_instruct(c->rd, x, developer)
		? -1
		: 0);
}

static int
say_system(struct chat *c, struct jspan m)
{

	return (instruct(c, m, 0));
}

static int
say_developer(struct chat *c, struct jspan m)
{

	return (instruct(c, m, 1));
}

/* ---- What the assistant said */

static int
add_plain_args(struct chat *c, struct text x, struct text *args)
{
	struct buf b = BUF_INIT(ARGS_MAX);
	int rc;

	buf_puts(&b, "{\"input\":");
	jput_text(&b, x.p, x.len);
	rc = buf_puts(&b, "}") || talk_text(c->rd->talk, b.p, b.len, args);
	buf_free(&b);
	return (rc ? reader_no_memory(c->rd) : 0);
}

static int
read_call(struct chat *c, struct jspan v)
{
	const char *type = "function";
	struct jspan inner;
	struct text x;
	struct part *p;
	size_t mark;
	int custom;

	if (!pick_is(v, '{'))
		return (reader_refuse(c->rd, "must be an object"));
	if ((p = reader_call(c->rd)) == NULL ||
	    reader_opt_str(c->rd, v, "type", &type) ||
	    reader_get_str(c->rd, v, "id", &p->id))
		return (-1);
	custom = strcmp(type, "custom") == 0;
	if (!custom && strcmp(type, "function") != 0)
		return (reader_refuse(
		    c->rd, "a call of type %.80s cannot stand here", type));
	mark = reader_in(c->rd, type);
	if (!reader_member(v, type, &inner) || !pick_is(inner, '{'))
		return (reader_refuse(c->rd, "must be an object"));
	if (reader_get_str(c->rd, inner, "name", &p->name) ||
	    reader_get_text(c->rd, inner, custom ? "input" : "arguments", &x))
		return (-1);
	reader_out(c->rd, mark);
	p->text = x;
	return (custom ? add_plain_args(c, x, &p->text) : 0);
}

static int
read_calls(struct chat *c, struct jspan m)
{
	size_t mark = reader_in(c->rd, "tool_calls"), i = 0, inner;
	struct jspan_iter it;
	struct jspan v;

	if (reader_member(m, "tool_calls", &v)) {
		if (jspan_iter(&it, v) || it.object)
			return (reader_refuse(c->rd, "must be a list"));
		while (jspan_next(&it, NULL, &v)) {
			inner = reader_at(c->rd, i++);
			if (read_call(c, v))
				return (-1);
			reader_out(c->rd, inner);
		}
	}
	reader_out(c->rd, mark);
	return (0);
}

/* The call of old, without an id: the message that follows answers it. */
static int
read_old_call(struct chat *c, struct jspan m)
{
	size_t mark = reader_in(c->rd, "function_call");
	char id[32];
	struct jspan v;
	struct part *p;

	if (reader_member(m, "function_call", &v)) {
		if (!pick_is(v, '{'))
			return (reader_refuse(c->rd, "must be an object"));
		(void)snprintf(id, sizeof(id), "call_%zu", c->nth);
		if ((p = reader_call(c->rd)) == NULL ||
		    reader_get_str(c->rd, v, "name", &p->name) ||
		    reader_get_text(c->rd, v, "arguments", &p->text))
			return (-1);
		p->id = arena_strndup(c->rd->talk->mem, id, strlen(id));
		if ((c->call = p->id) == NULL)
			return (reader_no_memory(c->rd));
	}
	reader_out(c->rd, mark);
	return (0);
}

/* What servers of open models add, and clients give back. */
static int
read_reasoning(struct chat *c, struct jspan m)
{
	static const char *const keys[] = {"reasoning_content", "reasoning"};
	struct jspan v;
	struct part *p;
	size_t i;

	for (i = 0; i < NELEM(keys); i++) {
		if (!reader_member(m, keys[i], &v) || !pick_is(v, '"') ||
		    v.len <= 2)
			continue;
		p = talk_add(c->rd->talk, TALK_ASSISTANT, PART_REASONING);
		if (p == NULL)
			return (reader_no_memory(c->rd));
		return (reader_get_text(c->rd, m, keys[i], &p->text));
	}
	return (0);
}

static int
say_assistant(struct chat *c, struct jspan m)
{
	struct jspan v;
	struct text x, refusal = {"", 0};

	c->call = NULL;
	if (read_reasoning(c, m) || get_content(c, m, &x) ||
	    openai_say(c->rd, TALK_ASSISTANT, x))
		return (-1);
	if (reader_member(m, "refusal", &v) &&
	    reader_get_text(c->rd, m, "refusal", &refusal))
		return (-1);
	return (openai_say(c->rd, TALK_ASSISTANT, refusal) ||
		    read_calls(c, m) || read_old_call(c, m)
		? -1
		: 0);
}

/* ---- Results */

static int
read_shown(void *cookie, struct jspan v)
{

	return (read_part(cookie, v));
}

static int
add_result(struct chat *c, struct jspan m, const char *id)
{
	size_t mark;
	struct jspan v;
	struct part *p;

	if ((p = talk_add(c->rd->talk, TALK_USER, PART_RESULT)) == NULL ||
	    (p->where = reader_where(c->rd)) == NULL)
		return (reader_no_memory(c->rd));
	p->id = id;
	if (!reader_member(m, "content", &v) || !pick_is(v, '['))
		return (get_content(c, m, &p->text));
	mark = reader_in(c->rd, "content");
	if (openai_result(c->rd, p, v, "", read_shown, c))
		return (-1);
	reader_out(c->rd, mark);
	return (0);
}

static int
say_tool(struct chat *c, struct jspan m)
{
	const char *id;

	if (reader_get_str(c->rd, m, "tool_call_id", &id))
		return (-1);
	return (add_result(c, m, id));
}

static int
say_function(struct chat *c, struct jspan m)
{

	if (c->call == NULL)
		return (reader_refuse(
		    c->rd, "no function_call in the message before it"));
	return (add_result(c, m, c->call));
}

/* ---- Messages */

/* clang-format off */
static const struct {
	const char *role;
	int (*read)(struct chat *, struct jspan);
} roles[] = {
	{ "user", say_user },
	{ "assistant", say_assistant },
	{ "tool", say_tool },
	{ "function", say_function },
	{ "system", say_system },
	{ "developer", say_developer },
};
/* clang-format on */

static int
read_message(struct chat *c, struct jspan v)
{
	const struct turn *last = c->rd->talk->last;
	const char *role;
	size_t i;

	if (!pick_is(v, '{'))
		return (reader_refuse(c->rd, "must be an object"));
	if (reader_get_str(c->rd, v, "role", &role))
		return (-1);
	if (last != NULL && last->who == TALK_USER &&
	    strcmp(role, "assistant") == 0 && openai_hand_over(c->rd, c->files))
		return (-1);
	for (i = 0; i < NELEM(roles); i++)
		if (strcmp(roles[i].role, role) == 0)
			return (roles[i].read(c, v));
	return (reader_refuse(c->rd, "no such role: %.80s", role));
}

/* With which message the user's newest turn begins. */
static size_t
newest_of(struct jspan list)
{
	struct jspan_iter it;
	struct jspan v, role;
	size_t i, newest = 0;
	int user, before = 0;

	(void)jspan_iter(&it, list);
	for (i = 0; jspan_next(&it, NULL, &v); i++) {
		user = reader_member(v, "role", &role) &&
		    (jspan_is(role, "user") || jspan_is(role, "tool") ||
			jspan_is(role, "function"));
		if (user && !before)
			newest = i;
		before = user;
	}
	return (newest);
}

int
chat_read_turns(
    struct reader *rd, struct jspan list, struct openai_files *files)
{
	struct chat c = {.rd = rd, .files = files};
	size_t mark = reader_in(rd, "messages"), newest, inner;
	struct jspan_iter it;
	struct jspan v;

	if (jspan_iter(&it, list) || it.object)
		return (reader_refuse(rd, "must be a list"));
	newest = newest_of(list);
	for (; jspan_next(&it, NULL, &v); c.nth++) {
		inner = reader_at(rd, c.nth);
		c.newest = c.nth >= newest;
		if (read_message(&c, v))
			return (-1);
		reader_out(rd, inner);
	}
	if (rd->talk->last == NULL)
		return (reader_refuse(rd, "there is nothing to answer"));
	reader_out(rd, mark);
	return (openai_hand_over(rd, files));
}
