#include <string.h>

#include "base/buf.h"

#include "speech/foreign.h"
#include "speech/messages.h"
#include "speech/pick.h"
#include "speech/refusal.h"
#include "speech/talk.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define RESULT_MAX (64U << 20)
#define BY_USER 1
#define BY_ASSISTANT 2

/* Where in the conversation a block stands. */
struct spot {
	enum speaker who;
	int newest; /* In the last message of the user's. */
};

static int
add_text(struct reader *rd, enum speaker who, struct text x)
{
	struct part *p;

	if (x.len == 0)
		return (0);
	if ((p = talk_add(rd->talk, who, PART_TEXT)) == NULL)
		return (reader_no_memory(rd));
	p->text = x;
	return (0);
}

static int
block_text(struct reader *rd, struct jspan v, const struct spot *s)
{
	struct text x;

	if (reader_get_text(rd, v, "text", &x))
		return (-1);
	return (add_text(rd, s->who, x));
}

/* What the model thought, for the servers that take it back. */
static int
block_thinking(struct reader *rd, struct jspan v, const struct spot *s)
{
	struct text x;
	struct part *p;

	(void)s;
	if (reader_get_text(rd, v, "thinking", &x))
		return (-1);
	if (x.len == 0)
		return (0);
	if ((p = talk_add(rd->talk, TALK_ASSISTANT, PART_REASONING)) == NULL)
		return (reader_no_memory(rd));
	p->text = x;
	return (0);
}

static int
block_dropped(struct reader *rd, struct jspan v, const struct spot *s)
{

	(void)rd;
	(void)v;
	(void)s;
	return (0);
}

/* ---- Calls of the caller's functions, and their results */

static int
read_result_blocks(struct reader *, struct jspan, int, struct text *);

/* What a result shows beside its text. */
static int
is_media(const char *type)
{

	return (strcmp(type, "image") == 0 || strcmp(type, "document") == 0);
}

static int
block_call(struct reader *rd, struct jspan v, const struct spot *s)
{
	const char *id, *name;
	struct jspan input;
	struct part *p;
	int rc;

	(void)s;
	if (reader_get_str(rd, v, "id", &id) ||
	    reader_get_str(rd, v, "name", &name))
		return (-1);
	if ((rc = messages_read_use(rd, id)) != 0)
		return (rc > 0 ? 0 : -1);
	if ((p = reader_call(rd)) == NULL)
		return (-1);
	p->id = id;
	p->name = name;
	if (reader_member(v, "input", &input))
		p->text = (struct text){input.p, input.len};
	return (0);
}

static int
put_line(struct reader *rd, struct text x, struct buf *b)
{

	if (x.len == 0)
		return (0);
	if (b->len > 0)
		buf_puts(b, "\n");
	return (buf_put(b, x.p, x.len) ? reader_no_memory(rd) : 0);
}

/* A search result inside another block: title, source, content. */
static int
read_inner_search(struct reader *rd, struct jspan v, struct buf *b)
{
	static const char *const keys[] = {"title", "source"};
	struct jspan m;
	struct text x;
	size_t i;

	for (i = 0; i < NELEM(keys); i++)
		if (reader_member(v, keys[i], &m) &&
		    (reader_get_text(rd, v, keys[i], &x) || put_line(rd, x, b)))
			return (-1);
	if (!reader_member(v, "content", &m))
		return (0);
	return (read_result_blocks(rd, m, 0, &x) ? -1 : put_line(rd, x, b));
}

/* Add the text of one block to ${b}; inside a result, what is ${shown}
 * elsewhere is passed over. */
static int
read_inner(struct reader *rd, struct jspan v, int shown, struct buf *b)
{
	const char *type;
	struct text x;

	if (reader_get_str(rd, v, "type", &type))
		return (-1);
	if (shown && is_media(type))
		return (0); /* See read_shown(). */
	if (strcmp(type, "search_result") == 0)
		return (read_inner_search(rd, v, b));
	if (strcmp(type, "text") != 0)
		return (foreign_line(rd->talk, type, v, &x)
			? reader_no_memory(rd)
			: put_line(rd, x, b));
	return (reader_get_text(rd, v, "text", &x) ? -1 : put_line(rd, x, b));
}

static int
read_result_blocks(struct reader *rd, struct jspan v, int shown, struct text *x)
{
	struct buf b = BUF_INIT(RESULT_MAX);
	struct jspan_iter it;
	struct jspan block;
	size_t i = 0, mark;
	int rc = 0;

	if (jspan_iter(&it, v) || it.object)
		return (reader_refuse(rd, "must be a string or a list"));
	while (rc == 0 && jspan_next(&it, NULL, &block)) {
		mark = reader_at(rd, i++);
		if ((rc = read_inner(rd, block, shown, &b)) == 0)
			reader_out(rd, mark);
	}
	if (rc == 0 && talk_text(rd->talk, b.p, b.len, x))
		rc = reader_no_memory(rd);
	buf_free(&b);
	return (rc);
}

/*
 * A result is text to all models; what it shows follows the results, under a
 * line that says whose it is.
 */
static int
read_shown(
    struct reader *rd, struct jspan content, struct part *result, int newest)
{
	struct jspan_iter it;
	struct jspan v, type;
	struct buf b = BUF_INIT(256);
	struct part **end, *p;
	struct text x;
	size_t i = 0, mark;
	int rc;

	if (jspan_iter(&it, content))
		return (0);
	for (; jspan_next(&it, NULL, &v); i++) {
		if (!reader_member(v, "type", &type) ||
		    (!jspan_is(type, "image") && !jspan_is(type, "document")))
			continue;
		mark = reader_at(rd, i);
		rc =
		    buf_printf(&b, "[from the result of %.100s]", result->id) ||
		    talk_text(rd->talk, b.p, b.len, &x);
		buf_free(&b);
		if (rc)
			return (reader_no_memory(rd));
		if (add_text(rd, TALK_USER, x))
			return (-1);
		end = rd->talk->last->end;
		if (messages_read_media(rd, v, newest))
			return (-1);
		for (p = *end; p != NULL; p = p->next)
			p->result = result;
		reader_out(rd, mark);
	}
	return (0);
}

/* What code of ours is told that a function of the caller's came to. */
static int
read_use_result(
    struct reader *rd, struct jspan v, const struct spot *s, struct code_use *u)
{
	struct jspan content, error;
	size_t mark;

	if (u->answered)
		return (reader_refuse(
		    rd, "the call %.80s has a result already", u->id));
	u->answered = 1;
	u->newest = s->newest;
	u->is_error =
	    reader_member(v, "is_error", &error) && pick_is(error, 't');
	if ((u->where = reader_where(rd)) == NULL)
		return (reader_no_memory(rd));
	if (!reader_member(v, "content", &content))
		return (0);
	mark = reader_in(rd, "content");
	if (pick_is(content, '"')
		? reader_text(rd, content, &u->result)
		: read_result_blocks(rd, content, 0, &u->result))
		return (-1);
	reader_out(rd, mark);
	return (0);
}

static int
block_result(struct reader *rd, struct jspan v, const struct spot *s)
{
	struct jspan content, error;
	struct code_use *u;
	struct part *p;
	const char *id;
	size_t mark;

	if (reader_get_str(rd, v, "tool_use_id", &id))
		return (-1);
	if ((u = talk_find_use(rd->talk, id)) != NULL)
		return (read_use_result(rd, v, s, u));
	if (strncmp(id, "srvtoolu_", 9) == 0)
		return (0); /* That call was ours, and is answered. */
	if ((p = talk_add(rd->talk, s->who, PART_RESULT)) == NULL ||
	    (p->where = reader_where(rd)) == NULL)
		return (reader_no_memory(rd));
	p->id = id;
	p->is_error =
	    reader_member(v, "is_error", &error) && pick_is(error, 't');
	if (!reader_member(v, "content", &content))
		return (0);
	mark = reader_in(rd, "content");
	if (pick_is(content, '"')
		? reader_text(rd, content, &p->text)
		: read_result_blocks(rd, content, 1, &p->text) ||
		    read_shown(rd, content, p, s->newest))
		return (-1);
	reader_out(rd, mark);
	return (0);
}

/* ---- Files and documents */

static int
block_upload(struct reader *rd, struct jspan v, const struct spot *s)
{

	return (s->who == TALK_ASSISTANT
		? 0
		: messages_read_upload(rd, v, s->newest));
}

static int
block_media(struct reader *rd, struct jspan v, const struct spot *s)
{

	return (messages_read_media(rd, v, s->newest));
}

/* A search result, as text: title, source, content. */
static int
block_search(struct reader *rd, struct jspan v, const struct spot *s)
{
	struct jspan content;
	struct text x;
	size_t mark;

	if (reader_get_text(rd, v, "title", &x) || add_text(rd, s->who, x) ||
	    reader_get_text(rd, v, "source", &x) || add_text(rd, s->who, x))
		return (-1);
	if (!reader_member(v, "content", &content))
		return (0);
	mark = reader_in(rd, "content");
	if (read_result_blocks(rd, content, 0, &x))
		return (-1);
	reader_out(rd, mark);
	return (add_text(rd, s->who, x));
}

/* ---- Blocks of code execution in an answer given back */

static int
block_our_call(struct reader *rd, struct jspan v, const struct spot *s)
{

	(void)s;
	return (messages_read_call(rd, v));
}

static int
block_our_result(struct reader *rd, struct jspan v, const struct spot *s)
{

	(void)s;
	return (messages_read_result(rd, v));
}

/* ---- The table */

/* clang-format off */
static const struct {
	const char *type;
	int by;
	int (*read)(struct reader *, struct jspan, const struct spot *);
} blocks[] = {
	{ "text", BY_USER | BY_ASSISTANT, block_text },
	{ "tool_use", BY_ASSISTANT, block_call },
	{ "tool_result", BY_USER, block_result },
	{ "container_upload", BY_USER | BY_ASSISTANT, block_upload },
	{ "document", BY_USER, block_media },
	{ "image", BY_USER, block_media },
	{ "search_result", BY_USER, block_search },
	{ "thinking", BY_ASSISTANT, block_thinking },
	{ "redacted_thinking", BY_ASSISTANT, block_dropped },
	{ "server_tool_use", BY_ASSISTANT, block_our_call },
	{ "code_execution_tool_result", BY_ASSISTANT, block_our_result },
	{ "bash_code_execution_tool_result", BY_ASSISTANT, block_our_result },
	{ "text_editor_code_execution_tool_result", BY_ASSISTANT,
	    block_our_result },
};
/* clang-format on */

/* A block that there are no words for: a line of text, if it holds any. */
static int
add_foreign(
    struct reader *rd, const char *type, struct jspan v, const struct spot *s)
{
	struct text x;

	return (foreign_line(rd->talk, type, v, &x) ? reader_no_memory(rd)
						    : add_text(rd, s->who, x));
}

static int
read_block(struct reader *rd, struct jspan v, const struct spot *s)
{
	int by = s->who == TALK_USER ? BY_USER : BY_ASSISTANT;
	const char *type;
	size_t i;

	if (!pick_is(v, '{'))
		return (reader_refuse(rd, "must be an object"));
	if (reader_get_str(rd, v, "type", &type))
		return (-1);
	for (i = 0; i < NELEM(blocks); i++)
		if (strcmp(blocks[i].type, type) == 0)
			break;
	if (i < NELEM(blocks) && (blocks[i].by & by))
		return (blocks[i].read(rd, v, s));
	if (i == NELEM(blocks))
		return (add_foreign(rd, type, v, s));
	return (
	    reader_refuse(rd, "a block of type %.80s cannot stand here", type));
}

/* ---- Messages */

static int
read_content(struct reader *rd, struct jspan v, const struct spot *s)
{
	size_t mark = reader_in(rd, "content"), i = 0, inner;
	struct jspan_iter it;
	struct jspan block;
	struct text x;

	if (pick_is(v, '"')) {
		if (reader_text(rd, v, &x) || add_text(rd, s->who, x))
			return (-1);
	} else if (jspan_iter(&it, v) || it.object) {
		return (reader_refuse(rd, "must be a string or a list"));
	} else {
		while (jspan_next(&it, NULL, &block)) {
			inner = reader_at(rd, i++);
			if (read_block(rd, block, s))
				return (-1);
			reader_out(rd, inner);
		}
	}
	reader_out(rd, mark);
	return (0);
}

/* Instructions in mid-conversation, which most templates take only first. */
static int
read_mid_system(struct reader *rd, struct jspan v)
{
	size_t mark = reader_in(rd, "content");
	struct text x;

	if (pick_is(v, '"') ? reader_text(rd, v, &x)
			    : read_result_blocks(rd, v, 0, &x))
		return (-1);
	reader_out(rd, mark);
	return (x.len > 0 && talk_instruct(rd->talk, x, 0)
		? reader_no_memory(rd)
		: 0);
}

static int
read_message(struct reader *rd, struct jspan v, int newest)
{
	struct spot s = {TALK_USER, newest};
	struct jspan content;
	const char *role;

	if (!pick_is(v, '{'))
		return (reader_refuse(rd, "must be an object"));
	if (reader_get_str(rd, v, "role", &role))
		return (-1);
	if (!reader_member(v, "content", &content))
		return (reader_refuse(rd, "content is required"));
	if (strcmp(role, "system") == 0)
		return (read_mid_system(rd, content));
	if (strcmp(role, "assistant") == 0)
		s.who = TALK_ASSISTANT;
	else if (strcmp(role, "user") != 0)
		return (reader_refuse(rd, "no such role: %.80s", role));
	return (read_content(rd, content, &s));
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
		user =
		    reader_member(v, "role", &role) && jspan_is(role, "user");
		if (user && !before)
			newest = i;
		before = user;
	}
	return (newest);
}

int
messages_read_turns(struct reader *rd, struct jspan list)
{
	size_t mark = reader_in(rd, "messages"), i, newest, inner;
	struct jspan_iter it;
	struct jspan v;

	if (jspan_iter(&it, list) || it.object)
		return (reader_refuse(rd, "must be a list"));
	newest = newest_of(list);
	for (i = 0; jspan_next(&it, NULL, &v); i++) {
		inner = reader_at(rd, i);
		if (read_message(rd, v, i >= newest))
			return (-1);
		reader_out(rd, inner);
	}
	if (i == 0)
		return (reader_refuse(rd, "must not be empty"));
	if (messages_check_uses(rd, list, newest))
		return (-1);
	reader_out(rd, mark);
	return (0);
}
