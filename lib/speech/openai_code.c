#include "speech/container_ask.h"
#include "speech/openai_read.h"
#include "speech/pick.h"
#include "speech/refusal.h"
#include "speech/talk.h"

/* What a declaration of code execution says of its container. */
static int
read_container(struct reader *rd, struct jspan v, struct openai_files *f)
{
	const char *member, *why;
	size_t mark;

	if (pick_is(v, '"'))
		return (openai_container(rd, v));
	if (!pick_is(v, '{'))
		return (reader_refuse(rd, "must be an id or an object"));
	if ((why = container_ask_wrong(v, &member)) != NULL) {
		(void)reader_in(rd, member);
		return (reader_refuse(rd, "%s", why));
	}
	if (f->list.p != NULL || !reader_member(v, "file_ids", &f->list))
		return (0);
	mark = reader_in(rd, "file_ids");
	if (!pick_is(f->list, '['))
		return (reader_refuse(rd, "must be a list"));
	if ((f->at = reader_where(rd)) == NULL)
		return (reader_no_memory(rd));
	reader_out(rd, mark);
	return (0);
}

static int
read_declared(struct reader *rd, struct jspan v, struct openai_files *f)
{
	struct jspan type, container;
	size_t mark;
	const char *s;

	if (!reader_member(v, "type", &type) ||
	    (s = pick_str(rd->talk->mem, type)) == NULL ||
	    our_declared(s) == DECLARED_NONE ||
	    !reader_member(v, "container", &container))
		return (0);
	mark = reader_in(rd, "container");
	if (read_container(rd, container, f))
		return (-1);
	reader_out(rd, mark);
	return (0);
}

int
openai_declared(struct reader *rd, struct jspan root, struct openai_files *f)
{
	size_t mark = reader_in(rd, "tools"), i = 0, inner;
	struct jspan_iter it;
	struct jspan tools, v;

	if (reader_member(root, "tools", &tools) &&
	    jspan_iter(&it, tools) == 0 && !it.object)
		while (jspan_next(&it, NULL, &v)) {
			inner = reader_at(rd, i++);
			if (read_declared(rd, v, f))
				return (-1);
			reader_out(rd, inner);
		}
	reader_out(rd, mark);
	return (0);
}

int
openai_hand_over(struct reader *rd, struct openai_files *f)
{
	struct jspan_iter it;
	struct jspan v;
	struct part *p;

	if (f->list.p == NULL || jspan_iter(&it, f->list))
		return (0);
	f->list.p = NULL;
	while (jspan_next(&it, NULL, &v)) {
		if ((p = talk_add(rd->talk, TALK_USER, PART_FILE)) == NULL)
			return (reader_no_memory(rd));
		p->newest = 1; /* One that is gone is an error. */
		p->where = f->at;
		if ((p->id = pick_str(rd->talk->mem, v)) == NULL ||
		    p->id[0] == '\0')
			return (refuse(rd->why, P_BAD_REQUEST, f->at,
			    "%s: must be a list of ids", f->at));
	}
	return (0);
}
