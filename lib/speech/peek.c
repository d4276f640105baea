#include "speech/peek.h"
#include "speech/pick.h"
#include "speech/reader.h"
#include "speech/refusal.h"

/* Take one entry of "tools" into account. */
static void
see_tool(struct arena *mem, struct jspan v, struct peek *p)
{
	struct jspan type, emit;
	enum declared kind;
	const char *s;

	if (!reader_member(v, "type", &type) ||
	    (s = pick_str(mem, type)) == NULL ||
	    (kind = our_declared(s)) == DECLARED_NONE)
		return;
	p->kinds |= 1U << kind;
	if (kind == DECLARED_EXPLICIT)
		p->native |=
		    reader_member(v, "emit", &emit) && jspan_is(emit, "native");
	if (p->declared == DECLARED_NONE ||
	    (p->declared == DECLARED_EXPLICIT && kind != DECLARED_EXPLICIT)) {
		p->declared = kind;
		p->type = s;
	}
}

static int
see_stream(struct jspan root, struct peek *p, struct refusal *why)
{
	struct jspan v;

	if (!reader_member(root, "stream", &v))
		return (0);
	if (!pick_is(v, 't') && !pick_is(v, 'f'))
		return (refuse(why, P_INVALID_TYPE, "stream",
		    "stream: must be true or false"));
	p->stream = pick_is(v, 't');
	return (0);
}

int
peek_read(
    struct arena *mem, struct jspan root, struct peek *p, struct refusal *why)
{
	struct jspan tools, v;
	struct jspan_iter it;

	*p = (struct peek){.declared = DECLARED_NONE};
	if (!reader_member(root, "model", &p->model_at))
		return (refuse(
		    why, P_MISSING_PARAMETER, "model", "model: is required"));
	if ((p->model = pick_str(mem, p->model_at)) == NULL ||
	    p->model[0] == '\0')
		return (refuse(why, P_INVALID_TYPE, "model",
		    "model: must be a string that is not empty"));
	if (reader_member(root, "tools", &tools) &&
	    jspan_iter(&it, tools) == 0 && !it.object)
		while (jspan_next(&it, NULL, &v))
			see_tool(mem, v, p);
	return (see_stream(root, p, why));
}
