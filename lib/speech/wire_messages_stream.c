#include <stdlib.h>

#include "speech/pick.h"
#include "speech/wire_emit.h"
#include "speech/wire_messages.h"
#include "speech/wire_messages_in.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define SEQUENCE_MAX 65536

static const struct jspan absent = {"null", 4};

/* An answer as it comes. */
struct stream {
	struct wire_reader r; /* First: a reader is cast to this. */
	struct emit out;
	struct usage usage;
	enum stop stop;
	int said_stop;       /* A reason was given. */
	struct buf sequence; /* The stop text, as JSON. */
};

static enum wire_rc
on_start(struct stream *s, struct jspan root)
{

	wire_messages_usage(&s->usage, root);
	return (WIRE_OK);
}

static enum wire_rc
on_block(struct stream *s, struct jspan root)
{
	struct jspan v = emit_member(root, "content_block");

	if (!jspan_is(emit_member(v, "type"), "tool_use"))
		return (emit_rc(&s->out, wire_messages_block(&s->out, v)));
	/* Some servers say it all at once, where the vendor says {}. */
	return (emit_rc(&s->out,
	    emit_call(&s->out, emit_member(v, "id"), emit_member(v, "name")) ||
		    emit_first(&s->out, emit_member(v, "input"))
		? -1
		: 0));
}

static enum wire_rc
on_delta(struct stream *s, struct jspan root)
{
	struct jspan v = emit_member(root, "delta");
	struct jspan type = emit_member(v, "type");
	int rc = 0;

	if (jspan_is(type, "text_delta"))
		rc = emit_text(&s->out, EVENT_TEXT, emit_member(v, "text"));
	else if (jspan_is(type, "thinking_delta"))
		rc = emit_text(
		    &s->out, EVENT_REASONING, emit_member(v, "thinking"));
	else if (jspan_is(type, "input_json_delta"))
		rc = emit_args(&s->out, emit_member(v, "partial_json"));
	return (emit_rc(&s->out, rc));
}

static enum wire_rc
on_block_stop(struct stream *s, struct jspan root)
{

	(void)root;
	return (emit_rc(&s->out, emit_call_end(&s->out)));
}

static enum wire_rc
on_message_delta(struct stream *s, struct jspan root)
{
	struct jspan delta = emit_member(root, "delta");
	struct jspan why = emit_member(delta, "stop_reason");
	struct jspan sequence = emit_member(delta, "stop_sequence");

	wire_messages_usage(&s->usage, root);
	if (!pick_is(why, '"'))
		return (WIRE_OK);
	s->said_stop = 1;
	s->stop = wire_messages_stop(why);
	buf_drop(&s->sequence, s->sequence.len);
	return (buf_put(&s->sequence, sequence.p, sequence.len) ? WIRE_MEMORY
								: WIRE_OK);
}

static enum wire_rc
on_message_stop(struct stream *s, struct jspan root)
{

	(void)s;
	(void)root;
	return (WIRE_DONE);
}

static enum wire_rc
take(struct wire_reader *r, struct jspan root)
{
	/* clang-format off */
	static const struct {
		const char *type;
		enum wire_rc (*on)(struct stream *, struct jspan);
	} rows[] = {
		{ "content_block_delta", on_delta },
		{ "content_block_start", on_block },
		{ "content_block_stop", on_block_stop },
		{ "message_start", on_start },
		{ "message_delta", on_message_delta },
		{ "message_stop", on_message_stop },
	};
	/* clang-format on */
	struct jspan type = emit_member(root, "type");
	size_t i;

	if (!pick_is(root, '{'))
		return (WIRE_BAD);
	for (i = 0; i < NELEM(rows); i++)
		if (jspan_is(type, rows[i].type))
			return (rows[i].on((struct stream *)r, root));
	return (WIRE_OK); /* "ping", and what is yet to be invented. */
}

static enum wire_rc
end(struct wire_reader *r, int done)
{
	struct stream *s = (struct stream *)r;
	struct jspan sequence = {s->sequence.p, s->sequence.len};

	if (!done && !s->said_stop)
		return (WIRE_CUT);
	if (sequence.p == NULL)
		sequence = absent;
	return (emit_rc(&s->out,
	    emit_stop(&s->out, &s->usage, s->said_stop ? s->stop : STOP_END,
		sequence)));
}

static void
drop(struct wire_reader *r)
{
	struct stream *s = (struct stream *)r;

	emit_free(&s->out);
	buf_free(&s->sequence);
	free(s);
}

struct wire_reader *
wire_messages_stream(const struct conf_provider *p)
{
	struct stream *s;

	(void)p;
	if ((s = calloc(1, sizeof(*s))) == NULL)
		return (NULL);
	s->r.take = take;
	s->r.end = end;
	s->r.free = drop;
	s->sequence.max = SEQUENCE_MAX;
	emit_init(&s->out, emit_to_reader, &s->r);
	return (&s->r);
}
