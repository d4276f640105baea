#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/hash.h"

#include "data/container.h"

#include "speech/messages.h"
#include "speech/model_dialect.h"
#include "speech/pick.h"
#include "speech/refusal.h"
#include "speech/talk.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define SYSTEM_MAX (64U << 20)
#define ROUNDS_MAX 25

/* ---- system */

/* Join the text blocks ${v} by blank lines. */
static int
read_system_blocks(struct reader *rd, struct jspan v, struct buf *b)
{
	struct jspan_iter it;
	struct jspan block, type;
	struct text x;
	size_t i = 0, mark;

	if (jspan_iter(&it, v) || it.object)
		return (reader_refuse(rd, "must be a string or a list"));
	while (jspan_next(&it, NULL, &block)) {
		mark = reader_at(rd, i++);
		if (!reader_member(block, "type", &type) ||
		    !jspan_is(type, "text"))
			return (reader_refuse(rd, "must be a text block"));
		if (reader_get_text(rd, block, "text", &x))
			return (-1);
		if (b->len > 0)
			buf_puts(b, "\n\n");
		buf_put(b, x.p, x.len);
		reader_out(rd, mark);
	}
	return (0);
}

static int
read_system(struct reader *rd, struct jspan root)
{
	struct buf b = BUF_INIT(SYSTEM_MAX);
	size_t mark = reader_in(rd, "system");
	struct jspan v;
	int rc = 0;

	if (reader_member(root, "system", &v)) {
		if (pick_is(v, '"'))
			rc = reader_text(rd, v, &rd->talk->system);
		else if ((rc = read_system_blocks(rd, v, &b)) == 0 &&
		    (!buf_ok(&b) ||
			talk_text(rd->talk, b.p, b.len, &rd->talk->system)))
			rc = refuse(rd->why, P_SERVER, NULL, "out of memory");
	}
	buf_free(&b);
	if (rc == 0)
		reader_out(rd, mark);
	return (rc);
}

/* ---- tools */

/* Functions of the vendor's that the caller itself runs. */
/* clang-format off */
static const struct { const char *prefix, *description, *schema; } client[] = {
	{ "bash_", "Run a command in the user's own bash shell.",
	    "{\"type\":\"object\",\"properties\":{\"command\":{\"type\":"
	    "\"string\"},\"restart\":{\"type\":\"boolean\"}}}" },
	{ "text_editor_", "View, create or edit a file of the user's.",
	    "{\"type\":\"object\",\"properties\":{\"command\":{\"type\":"
	    "\"string\",\"enum\":[\"view\",\"create\",\"str_replace\","
	    "\"insert\"]},\"path\":{\"type\":\"string\"},\"file_text\":"
	    "{\"type\":\"string\"},\"old_str\":{\"type\":\"string\"},"
	    "\"new_str\":{\"type\":\"string\"},\"insert_line\":{\"type\":"
	    "\"integer\"},\"insert_text\":{\"type\":\"string\"},"
	    "\"view_range\":{\"type\":\"array\",\"items\":{\"type\":"
	    "\"integer\"}}},\"required\":[\"command\",\"path\"]}" },
};
/* clang-format on */

static int
read_client_tool(struct reader *rd, const char *type, struct tool *x)
{
	size_t i;

	for (i = 0; i < NELEM(client); i++) {
		if (strncmp(type, client[i].prefix, strlen(client[i].prefix)) !=
		    0)
			continue;
		x->description.p = client[i].description;
		x->description.len = strlen(client[i].description);
		x->schema.p = client[i].schema;
		x->schema.len = strlen(client[i].schema);
		return (0);
	}
	return (reader_refuse(
	    rd, "tool type %.80s is not available for this model", type));
}

static int
read_custom_tool(struct reader *rd, struct jspan v, struct tool *x)
{
	struct jspan m;
	size_t mark;

	if (reader_member(v, "description", &m) &&
	    reader_get_text(rd, v, "description", &x->description))
		return (-1);
	mark = reader_in(rd, "input_schema");
	if (!reader_member(v, "input_schema", &x->schema) ||
	    !pick_is(x->schema, '{'))
		return (reader_refuse(rd, "must be an object"));
	reader_out(rd, mark);
	if (reader_member(v, "strict", &m))
		x->strict = pick_is(m, 't');
	return (0);
}

/* One who may call the function: the model, or code. */
static int
read_caller(struct reader *rd, struct jspan v)
{
	struct tool *x = rd->tool;
	const char *s;

	if (reader_str(rd, v, &s))
		return (-1);
	if (strcmp(s, "direct") == 0) {
		x->indirect = 0;
		return (0);
	}
	if (our_declared(s) != DECLARED_DATED)
		return (reader_refuse(rd, "no such caller: %.80s", s));
	if (x->caller == NULL)
		x->caller = s;
	return (0);
}

static int
read_callers(struct reader *rd, struct jspan v, struct tool *x)
{
	struct jspan list;

	if (!reader_member(v, "allowed_callers", &list))
		return (0);
	rd->tool = x;
	x->indirect = 1;
	if (reader_each(rd, v, "allowed_callers", read_caller))
		return (-1);
	x->indirect &= x->caller != NULL;
	return (0);
}

/* Code that may call functions has to be offered where code runs at all. */
static void
offer_code(struct talk *t)
{
	const struct tool *x;

	if (t->ours == 0 || t->quiet)
		return;
	for (x = t->tools; x != NULL; x = x->next)
		if (x->caller != NULL)
			t->ours |= 1U << OUR_CODE;
}

static int
read_tool(struct reader *rd, struct jspan v)
{
	const char *type = "custom", *name;
	struct tool *x;
	struct jspan m;

	if (!pick_is(v, '{'))
		return (reader_refuse(rd, "must be an object"));
	if (reader_member(v, "type", &m) &&
	    reader_get_str(rd, v, "type", &type))
		return (-1);
	if (our_declared(type) != DECLARED_NONE)
		return (0); /* What it is for has been decided. */
	if (reader_get_str(rd, v, "name", &name))
		return (-1);
	if ((x = reader_tool(rd, name)) == NULL)
		return (-1);
	if (read_callers(rd, v, x))
		return (-1);
	if (strcmp(type, "custom") == 0)
		return (read_custom_tool(rd, v, x));
	return (read_client_tool(rd, type, x));
}

/* A choice may name the declaration: then our first function is meant. */
static int
read_choice_name(struct reader *rd, struct jspan v)
{
	struct talk *t = rd->talk;
	int i;

	if (reader_get_str(rd, v, "name", &t->choice_name))
		return (-1);
	if (talk_has_tool(t, t->choice_name))
		return (0);
	if (talk_ours(t, t->choice_name) == OUR_NONE)
		return (
		    reader_refuse(rd, "names no tool: %.80s", t->choice_name));
	for (i = OUR_COUNT - 1; i >= 0; i--)
		if (t->our_name[i] != NULL)
			t->choice_name = t->our_name[i];
	return (0);
}

static int
read_choice(struct reader *rd, struct jspan root)
{
	/* clang-format off */
	static const struct { const char *word; enum choice choice; } rows[] = {
		{ "auto", CHOICE_AUTO }, { "any", CHOICE_ANY },
		{ "tool", CHOICE_NAMED }, { "none", CHOICE_NONE },
	};
	/* clang-format on */
	size_t mark = reader_in(rd, "tool_choice"), i;
	struct jspan v, m;
	const char *type;

	if (!reader_member(root, "tool_choice", &v)) {
		reader_out(rd, mark);
		return (0);
	}
	if (reader_get_str(rd, v, "type", &type))
		return (-1);
	for (i = 0; i < NELEM(rows); i++)
		if (strcmp(rows[i].word, type) == 0)
			break;
	if (i == NELEM(rows))
		return (reader_refuse(rd, "no such choice: %.80s", type));
	rd->talk->choice = rows[i].choice;
	if (rows[i].choice == CHOICE_NAMED && read_choice_name(rd, v))
		return (-1);
	if (reader_member(v, "disable_parallel_tool_use", &m) &&
	    pick_is(m, 't'))
		rd->talk->parallel = 0;
	reader_out(rd, mark);
	return (0);
}

/* ---- Parameters */

static int
read_stops(struct reader *rd, struct jspan root)
{

	if (reader_stops(rd))
		return (-1);
	return (reader_each(rd, root, "stop_sequences", reader_stop));
}

/* How hard to think: the budget in words, else the effort as it was said. */
static int
read_thinking(struct reader *rd, struct jspan root)
{
	struct talk *t = rd->talk;
	struct jspan v, type;
	uint64_t budget = 0;

	if (reader_member(root, "output_config", &v) &&
	    reader_member(v, "effort", &type) &&
	    (t->effort = pick_str(t->mem, type)) == NULL)
		return (refuse(rd->why, P_BAD_REQUEST, "output_config.effort",
		    "output_config.effort: must be a string"));
	if (!reader_member(root, "thinking", &v))
		return (0);
	if (!reader_member(v, "type", &type))
		return (refuse(rd->why, P_BAD_REQUEST, "thinking",
		    "thinking: must be an object with a type"));
	t->hide_reasoning = jspan_is(type, "disabled");
	if (!jspan_is(type, "enabled") || t->effort != NULL)
		return (0);
	if (reader_member(v, "budget_tokens", &type))
		(void)pick_u64(type, &budget);
	t->effort = budget < 4096 ? "low" : budget < 16384 ? "medium" : "high";
	return (0);
}

/* The answer's schema, in the newer place or the older. */
static void
read_format(struct reader *rd, struct jspan root)
{
	struct jspan config, format, type, schema;

	if (!(reader_member(root, "output_config", &config) &&
		reader_member(config, "format", &format)) &&
	    !reader_member(root, "output_format", &format))
		return;
	if (reader_member(format, "type", &type) &&
	    jspan_is(type, "json_schema") &&
	    reader_member(format, "schema", &schema))
		rd->talk->format = schema;
}

/* An upstream learns that two requests are one user's, and no more. */
static int
read_user(struct reader *rd, struct jspan root)
{
	struct jspan metadata, v;
	char hex[HASH_SIZE];
	struct text x;

	if (!reader_member(root, "metadata", &metadata) ||
	    !reader_member(metadata, "user_id", &v))
		return (0);
	if (pick_text(rd->talk->mem, v, &x))
		return (refuse(rd->why, P_BAD_REQUEST, "metadata.user_id",
		    "metadata.user_id: must be a string"));
	if (hash_sha256(x.p, x.len, hex) ||
	    (rd->talk->user = arena_strndup(rd->talk->mem, hex, strlen(hex))) ==
		NULL)
		return (reader_no_memory(rd));
	return (0);
}

static int
read_parameters(struct reader *rd, struct jspan root)
{
	struct talk *t = rd->talk;

	if (reader_opt_u64(
		rd, root, "max_tokens", 1, UINT32_MAX, &t->max_tokens) ||
	    reader_opt_u64(
		rd, root, "max_tool_iterations", 1, ROUNDS_MAX, &t->rounds) ||
	    reader_opt_number(rd, root, "temperature", &t->temperature) ||
	    reader_opt_number(rd, root, "top_p", &t->top_p) ||
	    reader_opt_number(rd, root, "top_k", &t->top_k) ||
	    read_stops(rd, root) || read_thinking(rd, root) ||
	    read_user(rd, root))
		return (-1);
	read_format(rd, root);
	if (t->max_tokens == 0)
		return (refuse(rd->why, P_MISSING_PARAMETER, "max_tokens",
		    "max_tokens: is required"));
	return (0);
}

/* ---- What this gateway has not, or not yet */

/* A container that is none of ours counts as absent. */
static int
read_container(struct reader *rd, struct jspan root)
{
	struct jspan v, id, skills;
	struct jspan_iter it;
	const char *s;

	if (!reader_member(root, "container", &v))
		return (0);
	id = v;
	if (pick_is(v, '{')) {
		if (reader_member(v, "skills", &skills) &&
		    (jspan_iter(&it, skills) || it.object ||
			jspan_next(&it, NULL, &skills)))
			return (refuse(rd->why, P_BAD_REQUEST,
			    "container.skills",
			    "container.skills: skills are not available for "
			    "this model"));
		if (!reader_member(v, "id", &id))
			return (0);
	}
	if ((s = pick_str(rd->talk->mem, id)) == NULL)
		return (refuse(rd->why, P_BAD_REQUEST, "container",
		    "container: must be an id or an object"));
	rd->talk->ask.id = container_id_bare(s);
	rd->talk->ask.where = "container";
	rd->talk->ask.renew = 1;
	rd->talk->ask.said = s;
	return (0);
}

static int
refuse_server(struct reader *rd, struct jspan v)
{

	(void)v;
	return (
	    reader_refuse(rd, "MCP servers are not available for this model"));
}

/* What would give the answer another meaning, and is not kept or made here. */
static int
refuse_others(struct reader *rd, struct jspan root)
{
	struct jspan v;

	if (reader_member(root, "thread", &v))
		return (refuse(rd->why, P_THREAD, "thread",
		    "thread: conversations are not kept here; send all "
		    "messages"));
	if (reader_member(root, "compaction", &v))
		return (refuse(rd->why, P_BAD_REQUEST, "compaction",
		    "compaction: summaries are not available for this model"));
	return (reader_each(rd, root, "mcp_servers", refuse_server));
}

/*
 * Part the conversation from the rest, which is looked through once for every
 * member that it may have.
 */
static int
part_request(struct reader *rd, struct jspan root, struct jspan *turns,
    struct jspan *rest)
{
	struct jspan_edit edit = {.text = {"null", 4}};
	struct buf b = BUF_INIT(root.len + 4);
	struct text x;
	int rc;

	if (!reader_member(root, "messages", turns))
		return (refuse(rd->why, P_MISSING_PARAMETER, "messages",
		    "messages: is required"));
	edit.at = *turns;
	rc = jspan_splice(&b, root, &edit, 1) ||
	    talk_text(rd->talk, b.p, b.len, &x);
	buf_free(&b);
	if (rc)
		return (reader_no_memory(rd));
	rest->p = x.p;
	rest->len = x.len;
	return (0);
}

int
messages_read(struct jspan root, struct talk *t, struct refusal *why)
{
	struct reader rd = {.talk = t, .why = why};
	struct jspan turns, rest;

	if (part_request(&rd, root, &turns, &rest) ||
	    refuse_others(&rd, rest) || read_container(&rd, rest) ||
	    read_system(&rd, rest) ||
	    reader_each(&rd, rest, "tools", read_tool))
		return (-1);
	offer_code(t);
	if (talk_offer(t))
		return (refuse(why, P_SERVER, NULL, "out of memory"));
	if (read_choice(&rd, rest) || read_parameters(&rd, rest) ||
	    messages_read_turns(&rd, turns))
		return (-1);
	return (talk_settle(t, why));
}
