#include "speech/peek.h"
#include "speech/pick.h"
#include "speech/reader.h"
#include "speech/refusal.h"

#define HINT_MAX 8192 /* Of an entry's hint, as JSON. */

/* Take one entry of "tools" into account. */
static void
see_tool(struct arena *mem, struct jspan v, struct peek *p)
{
	struct jspan type, emit, hint;
	enum declared kind;
	const char *s;

	if (!reader_member(v, "type", &type) ||
	    (s = pick_str(mem, type)) == NULL ||
	    (kind = our_declared(s)) == DECLARED_NONE)
		return;
	p->kinds |= 1U << kind;
	if (p->hint == NULL && reader_member(v, "purpose_hint", &hint) &&
	    pick_is(hint, '"') && hint.len <= HINT_MAX)
		p->hint = pick_str(mem, hint);
	if (kind == DECLARED_EXPLICIT)
		p->native |=
		    reader_member(v, "emit", &emit) && jspan_is(emit, "native");
	if (p->declared == DECLARED_NONE ||
	    (p->declared == DECLARED_EXPLICIT && kind != DECLARED_EXPLICIT)) {
		p->declared = kind;
		p->type = s;
	}
}

static void
see_tools(struct arena *mem, struct jspan tools, struct peek *p)
{
	struct jspan_iter it;
	struct jspan v;

	if (jspan_iter(&it, tools) == 0 && !it.object)
		while (jspan_next(&it, NULL, &v))
			see_tool(mem, v, p);
}

int
peek_read(
    struct arena *mem, struct jspan root, struct peek *p, struct refusal *why)
{
	struct jspan_iter it;
	struct jspan key, v, stream = {"false", 5};

	*p = (struct peek){.declared = DECLARED_NONE};
	if (jspan_iter(&it, root) == 0 && it.object)
		while (jspan_next(&it, &key, &v)) {
			if (pick_is(v, 'n'))
				continue;
			if (jspan_is(key, "model"))
				p->model_at = v;
			else if (jspan_is(key, "stream"))
				stream = v;
			else if (jspan_is(key, "tools"))
				see_tools(mem, v, p);
		}
	if (p->model_at.p == NULL)
		return (refuse(
		    why, P_MISSING_PARAMETER, "model", "model: is required"));
	if ((p->model = pick_str(mem, p->model_at)) == NULL ||
	    p->model[0] == '\0')
		return (refuse(why, P_INVALID_TYPE, "model",
		    "model: must be a string that is not empty"));
	if (!pick_is(stream, 't') && !pick_is(stream, 'f'))
		return (refuse(why, P_INVALID_TYPE, "stream",
		    "stream: must be true or false"));
	p->stream = pick_is(stream, 't');
	return (0);
}
