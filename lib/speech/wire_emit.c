#include "speech/pick.h"
#include "speech/wire_emit.h"

#define NAME_MAX_BYTES 4096

static const struct jspan absent = {"null", 4};

void
emit_init(struct emit *e, event_fn *fn, void *cookie)
{

	*e = (struct emit){.fn = fn,
	    .cookie = cookie,
	    .text = BUF_INIT(EMIT_TEXT_MAX),
	    .name = BUF_INIT(NAME_MAX_BYTES),
	    .first = BUF_INIT(EMIT_TEXT_MAX)};
}

void
emit_free(struct emit *e)
{

	buf_free(&e->text);
	buf_free(&e->name);
	buf_free(&e->first);
}

struct jspan
emit_member(struct jspan o, const char *key)
{
	struct jspan v;

	return (jspan_get(o, key, &v) > 0 ? v : absent);
}

/* Decode ${v} into ${b}, from its beginning.  0, -1 if memory ran out. */
static int
decode(struct buf *b, struct jspan v)
{

	buf_drop(b, b->len);
	if (pick_is(v, '"') && jspan_str(b, v))
		return (-1);
	return (buf_ok(b) ? 0 : -1);
}

int
emit_text(struct emit *e, enum event_kind kind, struct jspan v)
{
	struct event ev = {.kind = kind};

	if (decode(&e->text, v))
		return (-1);
	if (e->text.len == 0)
		return (0);
	ev.text.p = e->text.p;
	ev.text.len = e->text.len;
	return (e->fn(e->cookie, &ev));
}

/* A name without NUL, or "". */
static const char *
as_str(struct buf *b, struct jspan v)
{

	if (decode(b, v)) {
		buf_free(b);
		return ("");
	}
	return (b->len > 0 ? b->p : "");
}

int
emit_call(struct emit *e, struct jspan id, struct jspan name)
{
	struct event ev = {.kind = EVENT_CALL};

	if (emit_call_end(e))
		return (-1);
	e->in_call = 1;
	e->args = 0;
	buf_drop(&e->first, e->first.len);
	e->ncalls++;
	ev.id = as_str(&e->text, id);
	if (ev.id[0] == '\0')
		ev.id = NULL;
	ev.name = as_str(&e->name, name);
	return (e->fn(e->cookie, &ev));
}

int
emit_args(struct emit *e, struct jspan v)
{
	struct event ev = {.kind = EVENT_ARGS, .text = {v.p, v.len}};

	if (!e->in_call)
		return (0);
	if (!pick_is(v, '{')) {
		if (decode(&e->text, v))
			return (-1);
		ev.text.p = e->text.p;
		ev.text.len = e->text.len;
	}
	if (ev.text.len == 0)
		return (0);
	e->args += ev.text.len;
	return (e->fn(e->cookie, &ev));
}

int
emit_first(struct emit *e, struct jspan v)
{

	return (e->in_call ? buf_put(&e->first, v.p, v.len) : 0);
}

int
emit_call_end(struct emit *e)
{
	const struct event ev = {.kind = EVENT_CALL_END};

	if (!e->in_call)
		return (0);
	if (e->args == 0 && e->first.len > 0 &&
	    emit_args(e, (struct jspan){e->first.p, e->first.len}))
		return (-1);
	e->in_call = 0;
	return (e->fn(e->cookie, &ev));
}

int
emit_stop(struct emit *e, const struct usage *usage, enum stop stop,
    struct jspan sequence)
{
	const struct event used = {.kind = EVENT_USAGE, .usage = usage};
	struct event ev = {.kind = EVENT_STOP, .stop = stop};

	if (emit_call_end(e) || (usage->known && e->fn(e->cookie, &used)))
		return (-1);
	if (stop == STOP_SEQUENCE) {
		if (decode(&e->text, sequence))
			return (-1);
		ev.text.p = e->text.p;
		ev.text.len = e->text.len;
	}
	return (e->fn(e->cookie, &ev));
}

enum wire_rc
emit_rc(const struct emit *e, int rc)
{

	if (rc == 0)
		return (WIRE_OK);
	return (
	    buf_ok(&e->text) && buf_ok(&e->first) ? WIRE_STOPPED : WIRE_MEMORY);
}

int
emit_to_reader(void *reader, const struct event *ev)
{
	const struct wire_reader *r = reader;

	return (r->fn(r->cookie, ev));
}
