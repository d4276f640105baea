#include "base/arena.h"
#include "base/id.h"

#include "data/response.h"

#include "speech/model_dialect.h"
#include "speech/openai_read.h"
#include "speech/pick.h"
#include "speech/refusal.h"
#include "speech/responses.h"
#include "speech/talk.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

static const struct openai_way way = {NULL, NULL, NULL, NULL};

/* ---- Parameters */

/* What this gateway has not. */
static int
refuse_others(struct reader *rd, struct jspan root)
{
	/* clang-format off */
	static const struct { const char *key, *why; } rows[] = {
		{ "background", "background runs are not available for this "
		    "model; send false" },
		{ "conversation", "conversations are not kept here; send the "
		    "items in input, or previous_response_id" },
		{ "prompt", "stored prompts are not available here; send "
		    "instructions and input" },
	};
	/* clang-format on */
	size_t i;

	for (i = 0; i < NELEM(rows); i++)
		if (openai_refuse_member(rd, root, rows[i].key, rows[i].why))
			return (-1);
	return (0);
}

static int
read_text(struct reader *rd, struct jspan root)
{
	size_t mark = reader_in(rd, "text");
	struct jspan v;

	if (reader_member(root, "text", &v)) {
		if (!pick_is(v, '{'))
			return (reader_refuse(rd, "must be an object"));
		if (openai_format(rd, v, "format", &way) ||
		    reader_opt_str(rd, v, "verbosity", &rd->talk->verbosity))
			return (-1);
	}
	reader_out(rd, mark);
	return (0);
}

static int
read_reasoning(struct reader *rd, struct jspan root)
{
	size_t mark = reader_in(rd, "reasoning");
	struct jspan v;

	if (reader_member(root, "reasoning", &v)) {
		if (!pick_is(v, '{'))
			return (reader_refuse(rd, "must be an object"));
		if (reader_opt_str(rd, v, "effort", &rd->talk->effort))
			return (-1);
	}
	reader_out(rd, mark);
	return (0);
}

/* What the answer will have to hold or repeat must be of its type. */
static int
check_repeated(struct reader *rd, struct jspan root)
{
	/* clang-format off */
	static const struct { const char *key; char first; const char *what; }
	rows[] = {
		{ "include", '[', "a list" },
		{ "metadata", '{', "an object" },
	};
	/* clang-format on */
	struct jspan v;
	size_t i, mark;

	for (i = 0; i < NELEM(rows); i++) {
		mark = reader_in(rd, rows[i].key);
		if (reader_member(root, rows[i].key, &v) &&
		    !pick_is(v, rows[i].first))
			return (reader_refuse(rd, "must be %s", rows[i].what));
		reader_out(rd, mark);
	}
	return (0);
}

static int
read_instructions(struct reader *rd, struct jspan root)
{
	struct jspan v;
	struct text x;

	if (!reader_member(root, "instructions", &v))
		return (0);
	if (reader_get_text(rd, root, "instructions", &x))
		return (-1);
	return (openai_instruct(rd, x, 0));
}

/* What is to be in the answer besides. */
static int
read_include(struct reader *rd, struct jspan v)
{
	/* clang-format off */
	static const struct { const char *word; int served; } rows[] = {
		{ "code_interpreter_call.outputs", 1 },
		{ "reasoning.encrypted_content", 1 }, /* There is none. */
		/* There is nothing to add where the tool is not served. */
		{ "web_search_call.results", 1 },
		{ "web_search_call.action.sources", 1 },
		{ "file_search_call.results", 1 },
		{ "computer_call_output.output.image_url", 1 },
		{ "message.input_image.image_url", 1 },
		{ "message.output_text.logprobs", 0 },
	};
	/* clang-format on */
	size_t i;

	for (i = 0; i < NELEM(rows); i++)
		if (jspan_is(v, rows[i].word))
			break;
	if (i < NELEM(rows) && rows[i].served)
		return (0);
	return (reader_refuse(rd,
	    i < NELEM(rows) ? "log probabilities are not available for this "
			      "model here"
			    : "must be one of the values that the "
			      "Responses API names"));
}

/* Whoever keeps answers has found this one, or it cannot be gone on from. */
static int
read_previous(struct reader *rd, struct jspan root)
{
	const char *id = NULL;

	if (reader_opt_str(rd, root, "previous_response_id", &id))
		return (-1);
	if (id == NULL || rd->talk->before.p != NULL)
		return (0);
	return (refuse(rd->why, P_RESPONSE, "previous_response_id",
	    "Previous response with id '%.80s' not found.", id));
}

static int
read_parameters(struct reader *rd, struct jspan root)
{

	return (refuse_others(rd, root) || read_previous(rd, root) ||
		    check_repeated(rd, root) || read_instructions(rd, root) ||
		    openai_parameters(rd, root) || read_text(rd, root) ||
		    read_reasoning(rd, root) ||
		    reader_opt_u64(rd, root, "max_output_tokens", 1, UINT32_MAX,
			&rd->talk->max_tokens) ||
		    reader_opt_u64(rd, root, "max_tool_calls", 1, UINT32_MAX,
			&rd->talk->max_calls) ||
		    openai_no_logprobs(rd, root) ||
		    reader_each(rd, root, "include", read_include)
		? -1
		: 0);
}

/* Does the request ask for what runs printed? */
static int
wants_outputs(const struct talk *t)
{
	struct jspan list, v;
	struct jspan_iter it;

	if (!reader_member(t->asked, "include", &list) || jspan_iter(&it, list))
		return (0);
	while (jspan_next(&it, NULL, &v))
		if (jspan_is(v, "code_interpreter_call.outputs"))
			return (1);
	return (0);
}

/* By its first characters an item's id tells which answer it is of. */
static int
make_seed(struct reader *rd)
{
	char s[RESPONSE_SEEDLEN + 1];

	if (id_base36(s, RESPONSE_SEEDLEN) ||
	    (rd->talk->seed =
		    arena_strndup(rd->talk->mem, s, RESPONSE_SEEDLEN)) == NULL)
		return (reader_no_memory(rd));
	return (0);
}

int
responses_read(struct jspan root, struct talk *t, struct refusal *why)
{
	struct reader rd = {.talk = t, .why = why, .brackets = 1};
	struct openai_files files = {.at = NULL};
	struct jspan input, rest;

	if (openai_part(&rd, root, "input", &input, &rest))
		return (-1);
	t->asked = rest;
	t->mint = "ci_gw_";
	t->mint_len = RESPONSE_IDLEN;
	if (make_seed(&rd))
		return (-1);
	if (t->ours != 0)
		t->ours = 1U << OUR_CODE; /* All that it has words for. */
	t->pictures = wants_outputs(t);
	if (openai_declared(&rd, rest, &files) ||
	    openai_tools(&rd, rest, &way) || openai_choice(&rd, rest, &way) ||
	    read_parameters(&rd, rest) ||
	    responses_read_input(&rd, input, &files))
		return (-1);
	if (t->last == NULL)
		return (refuse(why, P_BAD_REQUEST, "input",
		    "input: there is nothing to answer"));
	return (talk_settle(t, why));
}
