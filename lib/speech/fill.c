#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#include "speech/fill.h"
#include "speech/pick.h"

#define EDITS_MAX (64U << 20) /* Bytes of the list of them. */
#define TEXT_MAX 4096         /* Of what is put into one object. */

/* A member, as it is put where it is missing. */
struct member {
	const char *key, *value;
};

#define MEMBERS_MAX 14

/* clang-format off */
static const struct member response[MEMBERS_MAX] = {
	{ "object", "\"response\"" }, { "created_at", "0" },
	{ "error", "null" }, { "incomplete_details", "null" },
	{ "instructions", "null" }, { "metadata", "{}" }, { "output", "[]" },
	{ "parallel_tool_calls", "true" }, { "temperature", "null" },
	{ "tool_choice", "\"auto\"" }, { "tools", "[]" },
	{ "top_p", "null" },
};
static const struct member usage[MEMBERS_MAX] = {
	{ "input_tokens_details",
	    "{\"cached_tokens\":0,\"cache_write_tokens\":0}" },
	{ "output_tokens_details", "{\"reasoning_tokens\":0}" },
};
static const struct member input_details[MEMBERS_MAX] = {
	{ "cached_tokens", "0" }, { "cache_write_tokens", "0" },
};
static const struct member output_details[MEMBERS_MAX] = {
	{ "reasoning_tokens", "0" },
};
static const struct member said[MEMBERS_MAX] = {
	{ "annotations", "[]" }, { "logprobs", "[]" },
};
static const struct member logprobs[MEMBERS_MAX] = {
	{ "logprobs", "[]" },
};
static const struct member search[MEMBERS_MAX] = {
	{ "queries", "[]" },
};

/* What items, by their type, are to have. */
static const struct {
	const char *type;
	struct member members[MEMBERS_MAX];
} items[] = {
	{ "message", { { "role", "\"assistant\"" }, { "content", "[]" },
	    { "status", NULL } } },
	{ "reasoning", { { "summary", "[]" } } },
	{ "file_search_call", { { "queries", "[]" }, { "status", NULL } } },
	{ "web_search_call", { { "status", NULL } } },
	{ "code_interpreter_call", { { "code", "null" }, { "outputs", "null" },
	    { "container_id", "\"\"" }, { "status", NULL } } },
	{ "image_generation_call", { { "result", "null" },
	    { "status", NULL } } },
	{ "computer_call", { { "pending_safety_checks", "[]" },
	    { "status", NULL } } },
	{ "mcp_list_tools", { { "tools", "[]" } } },
	{ "local_shell_call", { { "status", NULL } } },
};
/* clang-format on */
#define NITEMS (sizeof(items) / sizeof(items[0]))

/* The edits so far. */
struct filling {
	struct buf list;  /* Of struct jspan_edit. */
	struct buf texts; /* Theirs, where they are not constant. */
	const char *status;
};

static void
add(struct filling *f, struct jspan at, struct jspan text)
{
	const struct jspan_edit e = {at, text};

	(void)buf_put(&f->list, &e, sizeof(e));
}

/* Put into the object ${o} what it lacks of ${m}. */
static void
add_members(struct filling *f, struct jspan o, const struct member *m)
{
	struct jspan v;
	struct jspan_iter it;
	char *text, *end;
	int empty;

	if (!pick_is(o, '{') || (text = malloc(TEXT_MAX)) == NULL)
		return;
	end = text;
	empty = jspan_iter(&it, o) || !jspan_next(&it, NULL, &v);
	for (; m->key != NULL; m++)
		if (jspan_get(o, m->key, &v) == 0)
			end += snprintf(end, TEXT_MAX - (size_t)(end - text),
			    "%s\"%s\":%s", empty && end == text ? "" : ",",
			    m->key, m->value != NULL ? m->value : f->status);
	if (end == text || buf_put(&f->texts, &text, sizeof(text)))
		free(text);
	else
		add(f, (struct jspan){o.p + o.len - 1, 0},
		    (struct jspan){text, (size_t)(end - text)});
}

static void
fill_part(struct filling *f, struct jspan part)
{

	if (jspan_is(pick_member(part, "type"), "output_text"))
		add_members(f, part, said);
}

static void
fill_item(struct filling *f, struct jspan item)
{
	struct jspan type = pick_member(item, "type"), v;
	struct jspan content = pick_member(item, "content");
	struct jspan action = pick_member(item, "action");
	struct jspan_iter it;
	size_t i;

	for (i = 0; i < NITEMS && !jspan_is(type, items[i].type); i++)
		continue;
	if (i == NITEMS)
		return;
	add_members(f, item, items[i].members);
	if (jspan_is(pick_member(action, "type"), "search"))
		add_members(f, action, search);
	if (pick_is(content, '['))
		for (jspan_iter(&it, content); jspan_next(&it, NULL, &v);)
			fill_part(f, v);
}

static void
fill_response(struct filling *f, struct jspan r)
{
	struct jspan output = pick_member(r, "output"), v;
	struct jspan used = pick_member(r, "usage");
	struct jspan_iter it;

	if (pick_is(output, '['))
		for (jspan_iter(&it, output); jspan_next(&it, NULL, &v);)
			fill_item(f, v);
	add_members(f, used, usage);
	add_members(
	    f, pick_member(used, "input_tokens_details"), input_details);
	add_members(
	    f, pick_member(used, "output_tokens_details"), output_details);
	add_members(f, r, response);
}

/* What an event of Responses is about. */
static void
fill_said(struct filling *f, struct jspan root, uint64_t sequence)
{
	char number[24];
	const struct member numbered[] = {
	    {"sequence_number", number}, {NULL, NULL}};
	struct jspan type = pick_member(root, "type");
	struct jspan r = pick_member(root, "response");

	(void)snprintf(number, sizeof(number), "%" PRIu64, sequence);
	if (jspan_is(type, "response.output_item.added"))
		f->status = "\"in_progress\"";
	if (pick_is(r, '{'))
		fill_response(f, r);
	fill_item(f, pick_member(root, "item"));
	fill_part(f, pick_member(root, "part"));
	if (jspan_is(type, "response.output_text.delta") ||
	    jspan_is(type, "response.output_text.done"))
		add_members(f, root, logprobs);
	if (pick_is(type, '"'))
		add_members(f, root, numbered);
}

static void
name_model(struct filling *f, struct jspan o, struct jspan model)
{
	struct jspan v = pick_member(o, "model");

	if (pick_is(v, '"') &&
	    (v.len != model.len || memcmp(v.p, model.p, v.len) != 0))
		add(f, v, model);
}

/* By where they are; two in one place may stand in any order. */
static int
by_place(const void *a, const void *b)
{
	const struct jspan_edit *x = a, *y = b;

	return (x->at.p < y->at.p ? -1 : x->at.p > y->at.p);
}

static int
finish(struct filling *f, struct buf *b, struct jspan text)
{
	struct jspan_edit *list = (struct jspan_edit *)(void *)f->list.p;
	char **texts = (char **)(void *)f->texts.p;
	const size_t n = f->list.len / sizeof(*list);
	size_t i;
	int rc = -1;

	if (!buf_ok(&f->list))
		b->spoiled = 1;
	else {
		if (n > 0)
			qsort(list, n, sizeof(*list), by_place);
		rc = jspan_splice(b, text, list, n);
	}
	for (i = 0; i < f->texts.len / sizeof(*texts); i++)
		free(texts[i]);
	buf_free(&f->list);
	buf_free(&f->texts);
	return (rc);
}

int
fill_answer(struct buf *b, enum conf_wire wire, struct jspan text,
    struct jspan root, struct jspan model)
{
	struct filling f = {
	    BUF_INIT(EDITS_MAX), BUF_INIT(EDITS_MAX), "\"completed\""};

	if (wire == WIRE_RESPONSES)
		fill_response(&f, root);
	name_model(&f, root, model);
	return (finish(&f, b, text));
}

int
fill_event(struct buf *b, enum conf_wire wire, struct jspan text,
    struct jspan root, struct jspan model, uint64_t sequence)
{
	struct filling f = {
	    BUF_INIT(EDITS_MAX), BUF_INIT(EDITS_MAX), "\"completed\""};

	if (wire == WIRE_RESPONSES)
		fill_said(&f, root, sequence);
	name_model(&f,
	    wire == WIRE_CHAT           ? root
		: wire == WIRE_MESSAGES ? pick_member(root, "message")
					: pick_member(root, "response"),
	    model);
	return (finish(&f, b, text));
}
