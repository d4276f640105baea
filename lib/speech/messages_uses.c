#include "speech/messages.h"
#include "speech/pick.h"
#include "speech/refusal.h"
#include "speech/talk.h"

int
messages_read_use(struct reader *rd, const char *id)
{
	struct code_use *u;

	if (!code_use_is(id))
		return (0);
	if (talk_find_use(rd->talk, id) != NULL)
		return (reader_refuse(rd, "the id %.80s stands twice", id));
	if (rd->talk->nuses == TALK_USES_MAX)
		return (reader_refuse(rd,
		    "there are more than %d calls made by code",
		    TALK_USES_MAX));
	if ((u = talk_use(rd->talk, id)) == NULL ||
	    (u->where = reader_where(rd)) == NULL)
		return (refuse(rd->why, P_SERVER, NULL, "out of memory"));
	return (1);
}

/* Does the message ${v} hold results and nothing else? */
static int
check_message(struct reader *rd, struct jspan v)
{
	struct jspan content, block, type;
	struct jspan_iter it;
	size_t mark, i = 0;

	if (!reader_member(v, "content", &content))
		return (0);
	mark = reader_in(rd, "content");
	if (jspan_iter(&it, content) || it.object)
		return (reader_refuse(rd,
		    "only tool_result blocks can be given to code that "
		    "waits for them"));
	for (; jspan_next(&it, NULL, &block); i++) {
		if (reader_member(block, "type", &type) &&
		    jspan_is(type, "tool_result"))
			continue;
		(void)reader_at(rd, i);
		return (reader_refuse(rd,
		    "only tool_result blocks can be given to code that "
		    "waits for them"));
	}
	reader_out(rd, mark);
	return (0);
}

int
messages_check_uses(struct reader *rd, struct jspan list, size_t newest)
{
	const struct code_use *u;
	struct jspan_iter it;
	struct jspan v;
	int any = 0;
	size_t mark, i;

	for (u = rd->talk->uses; u != NULL; u = u->next) {
		if (!u->answered)
			return (refuse(rd->why, P_BAD_REQUEST, u->where,
			    "%s: the call %.80s has no result", u->where,
			    u->id));
		any |= u->newest;
	}
	if (!any || jspan_iter(&it, list))
		return (0);
	for (i = 0; jspan_next(&it, NULL, &v); i++) {
		mark = reader_at(rd, i);
		if (i >= newest && check_message(rd, v))
			return (-1);
		reader_out(rd, mark);
	}
	return (0);
}
