#include <stdlib.h>

#include "speech/pick.h"
#include "speech/wire_emit.h"
#include "speech/wire_messages.h"
#include "speech/wire_messages_in.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

int
wire_messages_block(struct emit *e, struct jspan v)
{
	struct jspan type = emit_member(v, "type");

	if (jspan_is(type, "text"))
		return (emit_text(e, EVENT_TEXT, emit_member(v, "text")));
	if (jspan_is(type, "thinking"))
		return (
		    emit_text(e, EVENT_REASONING, emit_member(v, "thinking")));
	if (!jspan_is(type, "tool_use"))
		return (0);
	return (emit_call(e, emit_member(v, "id"), emit_member(v, "name")) ||
		    emit_args(e, emit_member(v, "input")) || emit_call_end(e)
		? -1
		: 0);
}

/* A stream says it in pieces, the first of them within a message. */
static void
take_usage(struct usage *u, struct jspan v)
{
	uint64_t made = 0, x;

	if (pick_tokens(emit_member(v, "output_tokens"), &x) == 0) {
		u->output = x;
		u->known = 1;
	}
	if (pick_tokens(emit_member(v, "input_tokens"), &x) == 0) {
		(void)pick_tokens(
		    emit_member(v, "cache_creation_input_tokens"), &made);
		u->input = x + made;
	}
	if (pick_tokens(emit_member(v, "cache_read_input_tokens"), &x) == 0) {
		u->cached = x;
		u->has_cached = 1;
	}
	if (pick_tokens(emit_member(emit_member(v, "output_tokens_details"),
			    "thinking_tokens"),
		&x) == 0) {
		u->reasoning = x;
		u->has_reasoning = 1;
	}
}

void
wire_messages_usage(struct usage *u, struct jspan root)
{

	take_usage(u, emit_member(emit_member(root, "message"), "usage"));
	take_usage(u, emit_member(root, "usage"));
}

enum stop
wire_messages_stop(struct jspan why)
{
	/* clang-format off */
	static const struct { const char *word; enum stop stop; } rows[] = {
		{ "end_turn", STOP_END }, { "max_tokens", STOP_LENGTH },
		{ "stop_sequence", STOP_SEQUENCE }, { "tool_use", STOP_CALLS },
		{ "refusal", STOP_FILTER },
		{ "model_context_window_exceeded", STOP_LENGTH },
		{ "pause_turn", STOP_LENGTH }, /* There is more to say. */
	};
	/* clang-format on */
	size_t i;

	for (i = 0; i < NELEM(rows); i++)
		if (jspan_is(why, rows[i].word))
			return (rows[i].stop);
	return (STOP_END);
}

int
wire_messages_read(const struct conf_provider *p, struct jspan root,
    event_fn *fn, void *cookie)
{
	struct jspan content = emit_member(root, "content"), v;
	struct usage usage = {0};
	struct jspan_iter it;
	struct emit e;
	int rc = 0;

	(void)p;
	if (jspan_iter(&it, content) || it.object)
		return (-1);
	emit_init(&e, fn, cookie);
	while (rc == 0 && jspan_next(&it, NULL, &v))
		rc = wire_messages_block(&e, v);
	wire_messages_usage(&usage, root);
	if (rc == 0)
		rc = emit_stop(&e, &usage,
		    wire_messages_stop(emit_member(root, "stop_reason")),
		    emit_member(root, "stop_sequence"));
	emit_free(&e);
	return (rc);
}
