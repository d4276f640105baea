#include <string.h>

#include "base/arena.h"
#include "base/conf.h"

#include "speech/openai_read.h"
#include "speech/pick.h"
#include "speech/refusal.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define ROUNDS_MAX 25

/* What a function with one text as its argument is to a model. */
static const char plain_schema[] =
    "{\"type\":\"object\",\"properties\":{\"input\":{\"type\":\"string\"}},"
    "\"required\":[\"input\"]}";

/* Step into the member ${key} of ${v}, or stay where it is NULL. */
static int
inside(struct reader *rd, struct jspan v, const char *key, struct jspan *m)
{

	*m = v;
	if (key == NULL)
		return (0);
	(void)reader_in(rd, key);
	if (!reader_member(v, key, m) || !pick_is(*m, '{'))
		return (reader_refuse(rd, "must be an object"));
	return (0);
}

/* ---- tools */

static int
read_function(struct reader *rd, struct jspan v, struct tool *x)
{
	struct jspan m;
	size_t mark;

	mark = reader_in(rd, "parameters");
	if (reader_member(v, "parameters", &m)) {
		if (!pick_is(m, '{'))
			return (reader_refuse(rd, "must be an object"));
		x->schema = m;
	}
	reader_out(rd, mark);
	return (reader_opt_bool(rd, v, "strict", &x->strict));
}

static int
read_caller_tool(
    struct reader *rd, struct jspan v, const char *type, const char *key)
{
	struct jspan inner, m;
	const char *name;
	struct tool *x;

	if (inside(rd, v, key, &inner) ||
	    reader_get_str(rd, inner, "name", &name))
		return (-1);
	if ((x = reader_tool(rd, name)) == NULL)
		return (-1);
	if (reader_member(inner, "description", &m) &&
	    reader_get_text(rd, inner, "description", &x->description))
		return (-1);
	if (strcmp(type, "function") == 0)
		return (read_function(rd, inner, x));
	x->plain = 1;
	x->schema.p = plain_schema;
	x->schema.len = sizeof(plain_schema) - 1;
	return (0);
}

static int
read_tool(struct reader *rd, struct jspan v, const struct openai_way *way)
{
	const char *type;
	size_t mark = rd->len;
	int rc;

	if (!pick_is(v, '{'))
		return (reader_refuse(rd, "must be an object"));
	if (reader_get_str(rd, v, "type", &type))
		return (-1);
	if (our_declared(type) != DECLARED_NONE)
		return (0); /* What it is for has been decided. */
	if (strcmp(type, "function") == 0)
		rc = read_caller_tool(rd, v, type, way->function);
	else if (strcmp(type, "custom") == 0)
		rc = read_caller_tool(rd, v, type, way->custom);
	else
		rc = reader_refuse(rd,
		    "tool type %.80s is not available for this model", type);
	if (rc == 0)
		reader_out(rd, mark);
	return (rc);
}

int
openai_tools(struct reader *rd, struct jspan root, const struct openai_way *way)
{
	size_t mark = reader_in(rd, "tools"), i = 0, inner;
	struct jspan_iter it;
	struct jspan v;

	if (reader_member(root, "tools", &v)) {
		if (jspan_iter(&it, v) || it.object)
			return (reader_refuse(rd, "must be a list"));
		while (jspan_next(&it, NULL, &v)) {
			inner = reader_at(rd, i++);
			if (read_tool(rd, v, way))
				return (-1);
			reader_out(rd, inner);
		}
	}
	reader_out(rd, mark);
	return (talk_offer(rd->talk) ? reader_no_memory(rd) : 0);
}

/* ---- tool_choice */

static const struct {
	const char *word;
	enum choice choice;
} words[] = {
    {"auto", CHOICE_AUTO},
    {"required", CHOICE_ANY},
    {"none", CHOICE_NONE},
};

static int
read_word(struct reader *rd, struct jspan v)
{
	size_t i;

	for (i = 0; i < NELEM(words); i++)
		if (jspan_is(v, words[i].word)) {
			rd->talk->choice = words[i].choice;
			return (0);
		}
	return (reader_refuse(
	    rd, "must be auto, required, none or an object that names a tool"));
}

/* Our first function, which is meant where a declaration is chosen. */
static const char *
first_of_ours(const struct talk *t)
{
	const char *name = NULL;
	int i;

	for (i = OUR_COUNT - 1; i >= 0; i--)
		if (t->our_name[i] != NULL)
			name = t->our_name[i];
	return (name);
}

/* Set ${name} to the function that the reference ${v} to a tool means. */
static int
read_reference(struct reader *rd, struct jspan v, const struct openai_way *way,
    const char **name)
{
	struct talk *t = rd->talk;
	size_t mark = rd->len;
	struct jspan inner;
	const char *type;

	if (!pick_is(v, '{'))
		return (reader_refuse(rd, "must be an object"));
	if (reader_get_str(rd, v, "type", &type))
		return (-1);
	if (our_declared(type) != DECLARED_NONE) {
		if ((*name = first_of_ours(t)) == NULL)
			return (
			    reader_refuse(rd, "names no tool: %.80s", type));
		return (0);
	}
	if (strcmp(type, "function") != 0 && strcmp(type, "custom") != 0)
		return (reader_refuse(rd, "no such choice: %.80s", type));
	if (inside(
		rd, v, type[0] == 'f' ? way->function : way->custom, &inner) ||
	    reader_get_str(rd, inner, "name", name))
		return (-1);
	if (!talk_has_tool(t, *name)) {
		if (talk_ours(t, *name) == OUR_NONE)
			return (
			    reader_refuse(rd, "names no tool: %.80s", *name));
		*name = first_of_ours(t);
	}
	reader_out(rd, mark);
	return (0);
}

/* The tools of the talk that the list ${v} allows, ours among them or not. */
struct allowed {
	const char **names;
	size_t n;
};

static int
is_allowed(const struct allowed *a, const char *name)
{
	size_t i;

	for (i = 0; i < a->n; i++)
		if (strcmp(a->names[i], name) == 0)
			return (1);
	return (0);
}

/* Take out of the talk what is not allowed. */
static void
keep_allowed(struct talk *t, const struct allowed *a)
{
	struct tool **xp = &t->tools, *x;
	const char *ours = first_of_ours(t);
	int i;

	while ((x = *xp) != NULL) {
		if (is_allowed(a, x->name)) {
			xp = &x->next;
			continue;
		}
		*xp = x->next;
		t->ntools--;
	}
	t->tools_end = xp;
	if (ours == NULL || is_allowed(a, ours))
		return;
	t->ours = 0;
	for (i = 0; i < OUR_COUNT; i++)
		t->our_name[i] = NULL;
}

static int
read_allowed(struct reader *rd, struct jspan v, const struct openai_way *way)
{
	size_t mark = rd->len, i = 0, inner;
	struct allowed a = {.n = 0};
	struct jspan list, mode, x;
	struct jspan_iter it;

	if (inside(rd, v, way->allowed, &v))
		return (-1);
	if (!reader_member(v, "mode", &mode) ||
	    (!jspan_is(mode, "auto") && !jspan_is(mode, "required")))
		return (reader_refuse(rd, "mode must be auto or required"));
	if (!reader_member(v, "tools", &list) || jspan_iter(&it, list) ||
	    it.object)
		return (reader_refuse(rd, "tools must be a list"));
	a.names =
	    arena_alloc(rd->talk->mem, (TALK_TOOLS_MAX + 1) * sizeof(*a.names));
	if (a.names == NULL)
		return (reader_no_memory(rd));
	(void)reader_in(rd, "tools");
	while (jspan_next(&it, NULL, &x)) {
		inner = reader_at(rd, i++);
		if (a.n > TALK_TOOLS_MAX)
			return (reader_refuse(rd, "there are too many"));
		if (read_reference(rd, x, way, &a.names[a.n++]))
			return (-1);
		reader_out(rd, inner);
	}
	keep_allowed(rd->talk, &a);
	reader_out(rd, mark);
	return (read_word(rd, mode));
}

int
openai_choice(
    struct reader *rd, struct jspan root, const struct openai_way *way)
{
	size_t mark = reader_in(rd, "tool_choice");
	struct talk *t = rd->talk;
	struct jspan v, type;
	int rc = 0;

	if (reader_member(root, "tool_choice", &v)) {
		if (pick_is(v, '"'))
			rc = read_word(rd, v);
		else if (reader_member(v, "type", &type) &&
		    jspan_is(type, "allowed_tools"))
			rc = read_allowed(rd, v, way);
		else if ((rc = read_reference(rd, v, way, &t->choice_name)) ==
		    0)
			t->choice = CHOICE_NAMED;
	}
	if (rc == 0)
		reader_out(rd, mark);
	return (rc);
}

/* ---- The rest */

int
openai_format(struct reader *rd, struct jspan root, const char *key,
    const struct openai_way *way)
{
	size_t mark = reader_in(rd, key);
	struct talk *t = rd->talk;
	struct jspan v, inner;
	const char *type;

	if (!reader_member(root, key, &v)) {
		reader_out(rd, mark);
		return (0);
	}
	if (!pick_is(v, '{'))
		return (reader_refuse(rd, "must be an object"));
	if (reader_get_str(rd, v, "type", &type))
		return (-1);
	if (strcmp(type, "json_object") == 0)
		t->json_only = 1;
	else if (strcmp(type, "json_schema") == 0) {
		if (inside(rd, v, way->schema, &inner) ||
		    reader_get_str(rd, inner, "name", &t->format_name) ||
		    reader_opt_bool(rd, inner, "strict", &t->format_strict))
			return (-1);
		if (!reader_member(inner, "schema", &t->format) ||
		    !pick_is(t->format, '{'))
			return (reader_refuse(rd, "schema must be an object"));
	} else if (strcmp(type, "text") != 0)
		return (reader_refuse(rd, "no such format: %.80s", type));
	reader_out(rd, mark);
	return (0);
}

int
openai_no_logprobs(struct reader *rd, struct jspan root)
{
	static const char why[] =
	    "log probabilities are not available for this model here";
	uint64_t n = 0;

	if (reader_opt_u64(rd, root, "top_logprobs", 0, 20, &n))
		return (-1);
	if (n > 0)
		return (refuse(rd->why, P_BAD_REQUEST, "top_logprobs",
		    "top_logprobs: %s", why));
	return (openai_refuse_member(rd, root, "logprobs", why));
}

int
openai_parameters(struct reader *rd, struct jspan root)
{
	struct talk *t = rd->talk;

	return (reader_opt_number(rd, root, "temperature", &t->temperature) ||
		    reader_opt_number(rd, root, "top_p", &t->top_p) ||
		    reader_opt_bool(
			rd, root, "parallel_tool_calls", &t->parallel) ||
		    reader_opt_u64(rd, root, "max_tool_iterations", 1,
			ROUNDS_MAX, &t->rounds)
		? -1
		: 0);
}
