#include "base/buf.h"

#include "data/container.h"
#include "speech/pick.h"
#include "speech/reader.h"

#include "fcgi/model.h"
#include "fcgi/req.h"

#define MORE_MAX 4096 /* What a request may grow by. */
#define EDITS_MAX 16  /* Declarations that name one. */

static const struct jspan none = {"null", 4};
static const struct jspan another = {"{\"type\":\"auto\"}", 15};

/* Is ${v} the id of a container of ours? */
static int
is_ours(struct model_req *m, struct jspan v)
{
	const char *s;

	return (pick_is(v, '"') && (s = pick_str(m->r->mem, v)) != NULL &&
	    container_id_bare(s) != NULL);
}

/* Messages: one for the request, by its id or in an object. */
static size_t
find_whole(struct model_req *m, struct jspan_edit *edit)
{
	struct jspan v, id;

	if (!reader_member(m->root, "container", &v))
		return (0);
	id = v;
	if (pick_is(v, '{') && !reader_member(v, "id", &id))
		return (0);
	if (!is_ours(m, id))
		return (0);
	*edit = (struct jspan_edit){v, none};
	return (1);
}

/* Responses: one for each declaration. */
static size_t
find_declared(struct model_req *m, struct jspan_edit *edits)
{
	struct jspan tools, tool, v;
	struct jspan_iter it;
	size_t n = 0;

	if (!reader_member(m->root, "tools", &tools) ||
	    jspan_iter(&it, tools) || it.object)
		return (0);
	while (n < EDITS_MAX && jspan_next(&it, NULL, &tool))
		if (reader_member(tool, "container", &v) && is_ours(m, v))
			edits[n++] = (struct jspan_edit){v, another};
	return (n);
}

int
model_disown(struct model_req *m)
{
	struct jspan_edit edits[EDITS_MAX];
	struct buf b = BUF_INIT(m->text.len + MORE_MAX);
	size_t n = 0;
	int rc = 0;

	if (m->dialect->wire == WIRE_MESSAGES)
		n = find_whole(m, edits);
	else if (m->dialect->wire == WIRE_RESPONSES)
		n = find_declared(m, edits);
	if (n == 0)
		return (0);
	if (jspan_splice(&b, m->text, edits, n))
		rc = refuse(&m->why, P_SERVER, NULL, "out of memory");
	else
		rc = model_replace(m, &b);
	buf_free(&b);
	return (rc);
}
