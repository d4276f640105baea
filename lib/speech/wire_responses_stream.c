#include <stdlib.h>

#include "speech/pick.h"
#include "speech/wire_emit.h"
#include "speech/wire_responses.h"
#include "speech/wire_responses_in.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define ITEMS_MAX 256
#define LATE_MAX (16U << 20)
#define FINAL_MAX (64U << 20)

/* How much of an item has been passed on. */
enum seen {
	NOTHING,
	PART, /* Some of its deltas. */
	LATER /* All of it, but once the open call has ended. */
};

/* An answer as it comes. */
struct stream {
	struct wire_reader r; /* First: a reader is cast to this. */
	struct emit out;
	unsigned char seen[ITEMS_MAX]; /* enum seen, by output_index. */
	int any;                       /* An item has been. */
	uint64_t open;                 /* Index of the call under way. */
	struct buf late;  /* Items that came while it was: a JSON list. */
	struct buf final; /* The response that ended the stream. */
};

/* Which item an event is about; ITEMS_MAX or more: none. */
static uint64_t
index_of(struct jspan root)
{
	uint64_t i;

	return (
	    pick_u64(emit_member(root, "output_index"), &i) ? ITEMS_MAX : i);
}

/* End the open call and pass on what has waited for that. */
static int
close_call(struct stream *s)
{
	struct jspan list;
	int rc;

	if (emit_call_end(&s->out))
		return (-1);
	if (s->late.len == 0)
		return (0);
	if (buf_puts(&s->late, "]"))
		return (-1);
	list = (struct jspan){s->late.p, s->late.len};
	rc = wire_responses_items(&s->out, list);
	buf_drop(&s->late, s->late.len);
	return (rc);
}

static int
is_call(struct jspan item)
{

	return (jspan_is(emit_member(item, "type"), "function_call"));
}

static enum wire_rc
on_added(struct stream *s, struct jspan root)
{
	struct jspan item = emit_member(root, "item");
	uint64_t i = index_of(root);

	if (i >= ITEMS_MAX)
		return (WIRE_OK);
	if (!is_call(item) || s->out.in_call)
		return (WIRE_OK);
	s->any = 1;
	s->open = i;
	s->seen[i] = PART;
	return (emit_rc(&s->out,
	    emit_call(&s->out, emit_member(item, "call_id"),
		emit_member(item, "name")) ||
		    emit_first(&s->out, emit_member(item, "arguments"))
		? -1
		: 0));
}

/* Text that comes while a call is under way waits for its whole item. */
static enum wire_rc
on_text(struct stream *s, struct jspan root, enum event_kind kind)
{
	uint64_t i = index_of(root);

	if (s->out.in_call)
		return (WIRE_OK);
	if (i < ITEMS_MAX)
		s->seen[i] = PART;
	s->any = 1;
	return (emit_rc(
	    &s->out, emit_text(&s->out, kind, emit_member(root, "delta"))));
}

static enum wire_rc
on_said(struct stream *s, struct jspan root)
{

	return (on_text(s, root, EVENT_TEXT));
}

static enum wire_rc
on_thought(struct stream *s, struct jspan root)
{

	return (on_text(s, root, EVENT_REASONING));
}

static enum wire_rc
on_args(struct stream *s, struct jspan root)
{

	if (!s->out.in_call || index_of(root) != s->open)
		return (WIRE_OK);
	return (
	    emit_rc(&s->out, emit_args(&s->out, emit_member(root, "delta"))));
}

/* Keep an item until the open call has ended. */
static enum wire_rc
keep(struct stream *s, uint64_t i, struct jspan item)
{

	s->seen[i] = LATER;
	buf_puts(&s->late, s->late.len > 0 ? "," : "[");
	return (buf_put(&s->late, item.p, item.len) ? WIRE_MEMORY : WIRE_OK);
}

/* An item is whole: pass on what its deltas have not. */
static enum wire_rc
on_done(struct stream *s, struct jspan root)
{
	struct jspan item = emit_member(root, "item");
	uint64_t i = index_of(root);
	int rc = 0;

	if (i >= ITEMS_MAX || s->seen[i] == LATER)
		return (WIRE_OK);
	s->any = 1;
	if (s->out.in_call && i != s->open)
		return (s->seen[i] == NOTHING ? keep(s, i, item) : WIRE_OK);
	if (s->out.in_call) {
		if (s->out.args == 0)
			rc = emit_args(&s->out, emit_member(item, "arguments"));
		if (rc == 0)
			rc = close_call(s);
	} else if (s->seen[i] == NOTHING) {
		s->seen[i] = PART;
		rc = wire_responses_item(&s->out, item);
	}
	return (emit_rc(&s->out, rc));
}

static enum wire_rc
on_final(struct stream *s, struct jspan root)
{
	struct jspan v = emit_member(root, "response");

	if (!pick_is(v, '{'))
		return (WIRE_BAD);
	return (buf_put(&s->final, v.p, v.len) ? WIRE_MEMORY : WIRE_DONE);
}

static enum wire_rc
take(struct wire_reader *r, struct jspan root)
{
	/* clang-format off */
	static const struct {
		const char *type;
		enum wire_rc (*on)(struct stream *, struct jspan);
	} rows[] = {
		{ "response.output_text.delta", on_said },
		{ "response.function_call_arguments.delta", on_args },
		{ "response.reasoning_text.delta", on_thought },
		{ "response.reasoning_summary_text.delta", on_thought },
		{ "response.refusal.delta", on_said },
		{ "response.output_item.added", on_added },
		{ "response.output_item.done", on_done },
		{ "response.completed", on_final },
		{ "response.incomplete", on_final },
	};
	/* clang-format on */
	struct jspan type = emit_member(root, "type");
	size_t i;

	if (!pick_is(root, '{'))
		return (WIRE_BAD);
	for (i = 0; i < NELEM(rows); i++)
		if (jspan_is(type, rows[i].type))
			return (rows[i].on((struct stream *)r, root));
	return (WIRE_OK);
}

static enum wire_rc
end(struct wire_reader *r, int done)
{
	struct stream *s = (struct stream *)r;
	struct jspan root = {s->final.p, s->final.len};
	int rc;

	if (s->final.len == 0)
		return (done && s->any ? WIRE_BAD : WIRE_CUT);
	rc = close_call(s);
	/* Some servers say all of it at the end, and only then. */
	if (rc == 0 && !s->any &&
	    wire_responses_items(&s->out, emit_member(root, "output")))
		return (WIRE_BAD);
	if (rc == 0)
		rc = wire_responses_end(&s->out, root);
	return (emit_rc(&s->out, rc));
}

static void
drop(struct wire_reader *r)
{
	struct stream *s = (struct stream *)r;

	emit_free(&s->out);
	buf_free(&s->late);
	buf_free(&s->final);
	free(s);
}

struct wire_reader *
wire_responses_stream(const struct conf_provider *p)
{
	struct stream *s;

	(void)p;
	if ((s = calloc(1, sizeof(*s))) == NULL)
		return (NULL);
	s->r.take = take;
	s->r.end = end;
	s->r.free = drop;
	s->late.max = LATE_MAX;
	s->final.max = FINAL_MAX;
	emit_init(&s->out, emit_to_reader, &s->r);
	return (&s->r);
}
