#include <stdlib.h>

#include "speech/pick.h"
#include "speech/wire_emit.h"
#include "speech/wire_responses.h"
#include "speech/wire_responses_in.h"
#include "speech/wire_usage.h"

/* ---- Items */

static int
read_parts(struct emit *e, struct jspan list)
{
	struct jspan_iter it;
	struct jspan v, type;

	if (jspan_iter(&it, list) || it.object)
		return (0);
	while (jspan_next(&it, NULL, &v)) {
		type = emit_member(v, "type");
		if (emit_text(e, EVENT_TEXT,
			emit_member(
			    v, jspan_is(type, "refusal") ? "refusal" : "text")))
			return (-1);
	}
	return (0);
}

/* What it thought, or what it tells of that. */
static int
read_thoughts(struct emit *e, struct jspan item)
{
	struct jspan list = emit_member(item, "content"), v;
	struct jspan_iter it;

	if (jspan_iter(&it, list) || it.object || !jspan_next(&it, NULL, &v))
		list = emit_member(item, "summary");
	if (jspan_iter(&it, list) || it.object)
		return (0);
	while (jspan_next(&it, NULL, &v))
		if (emit_text(e, EVENT_REASONING, emit_member(v, "text")))
			return (-1);
	return (0);
}

static int
read_call(struct emit *e, struct jspan item)
{

	return (emit_call(e, emit_member(item, "call_id"),
		    emit_member(item, "name")) ||
		    emit_args(e, emit_member(item, "arguments")) ||
		    emit_call_end(e)
		? -1
		: 0);
}

int
wire_responses_item(struct emit *e, struct jspan item)
{
	struct jspan type = emit_member(item, "type");

	if (jspan_is(type, "message"))
		return (read_parts(e, emit_member(item, "content")));
	if (jspan_is(type, "reasoning"))
		return (read_thoughts(e, item));
	if (jspan_is(type, "function_call"))
		return (read_call(e, item));
	return (0);
}

int
wire_responses_items(struct emit *e, struct jspan list)
{
	struct jspan_iter it;
	struct jspan v;

	if (jspan_iter(&it, list) || it.object)
		return (-1);
	while (jspan_next(&it, NULL, &v))
		if (wire_responses_item(e, v))
			return (-1);
	return (0);
}

/* ---- How it ends */

void
wire_responses_usage(struct usage *usage, struct jspan root)
{
	static const struct wire_usage_names names = {"input_tokens",
	    "output_tokens", "input_tokens_details", "output_tokens_details"};
	struct jspan v = emit_member(root, "response");

	/* An event holds the answer; else it is the answer. */
	v = emit_member(pick_is(v, '{') ? v : root, "usage");
	wire_usage(usage, v, &names);
}

static enum stop
stop_of(const struct emit *e, struct jspan root)
{
	struct jspan why =
	    emit_member(emit_member(root, "incomplete_details"), "reason");

	if (jspan_is(emit_member(root, "status"), "incomplete"))
		return (jspan_is(why, "content_filter") ? STOP_FILTER
							: STOP_LENGTH);
	return (e->ncalls > 0 ? STOP_CALLS : STOP_END);
}

int
wire_responses_end(struct emit *e, struct jspan root)
{
	struct usage usage = {0};

	wire_responses_usage(&usage, root);
	return (
	    emit_stop(e, &usage, stop_of(e, root), (struct jspan){"null", 4}));
}

int
wire_responses_read(const struct conf_provider *p, struct jspan root,
    event_fn *fn, void *cookie)
{
	struct jspan status = emit_member(root, "status");
	struct emit e;
	int rc;

	(void)p;
	if (!pick_is(status, 'n') && !jspan_is(status, "completed") &&
	    !jspan_is(status, "incomplete"))
		return (-1); /* It has not ended, or not well. */
	emit_init(&e, fn, cookie);
	rc = wire_responses_items(&e, emit_member(root, "output"));
	if (rc == 0)
		rc = wire_responses_end(&e, root);
	emit_free(&e);
	return (rc);
}
