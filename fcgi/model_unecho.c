#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/conf.h"

#include "data/caller.h"
#include "run/recall.h"
#include "speech/messages.h"
#include "speech/pick.h"
#include "speech/talk.h"
#include "speech/unecho.h"

#include "fcgi/model.h"
#include "fcgi/model_inline.h"
#include "fcgi/req.h"

#define ALL_OURS ((1U << OUR_COUNT) - 1)

static int
no_memory(struct model_req *m)
{

	return (refuse(&m->why, P_SERVER, NULL, "out of memory"));
}

/* What the model was told of the run ${id}, and what was run. */
static void
run_of(void *cookie, const char *id, struct text *x, struct jspan *input)
{
	const struct talk *t = cookie;
	const struct part *p = talk_find_call(t, id);
	const struct turn *u;
	struct jspan_info info;

	if (p != NULL && p->ours &&
	    jspan_check(p->text.p, p->text.len, JSPAN_DEPTH_MAX, &info) ==
		JSPAN_OK)
		*input = info.root;
	for (u = t->first; u != NULL; u = u->next)
		for (p = u->first; p != NULL; p = p->next)
			if (p->kind == PART_RESULT && p->ours &&
			    strcmp(p->id, id) == 0 && p->text.len > 0)
				*x = p->text;
}

/*
 * Read one message of the assistant's as a turn of ours would, for the results
 * of its runs.  NULL if memory ran out.
 */
static struct talk *
recall(struct model_req *m, struct jspan message)
{
	const struct run_env env = {.conf = m->r->srv->conf,
	    .db = m->r->srv->db,
	    .caller = &m->r->caller,
	    .mem = m->mem,
	    .gone_fd = -1};
	struct talk *t = talk_new(m->mem);
	struct buf b = BUF_INIT(message.len + 16);
	struct refusal why = {0};
	struct reader rd = {.talk = t, .why = &why};
	struct text list;

	buf_puts(&b, "[");
	buf_put(&b, message.p, message.len);
	if (t == NULL || buf_puts(&b, "]") || talk_text(t, b.p, b.len, &list)) {
		buf_free(&b);
		return (NULL);
	}
	buf_free(&b);
	t->ours = ALL_OURS;
	if (talk_offer(t))
		return (NULL);
	/* A message that cannot be read is the provider's to refuse; the
	 * caller's own calls have their results in the next one. */
	if (messages_read_turns(&rd, (struct jspan){list.p, list.len}) == 0) {
		(void)talk_settle(t, &why);
		(void)recall_results(&env, t, &why);
	}
	return (t);
}

static int
see_message(struct model_req *m, struct edits *e, struct jspan v)
{
	struct buf b = BUF_INIT(SIZE_MAX / 2);
	struct jspan role, content;
	struct talk *t;
	int rc;

	if (jspan_get(v, "role", &role) == 0 || !jspan_is(role, "assistant") ||
	    jspan_get(v, "content", &content) == 0 ||
	    !unecho_may(content.p, content.len))
		return (0);
	if ((t = recall(m, v)) == NULL)
		return (no_memory(m));
	rc = unecho_messages(&b, content, run_of, t);
	if (rc > 0)
		rc = edits_add(m, e, content, b.p, b.len);
	else if (rc < 0)
		rc = no_memory(m);
	buf_free(&b);
	return (rc);
}

/* An item with the comma before it or, the ${first}, behind it. */
static struct jspan
with_comma(struct jspan list, struct jspan item, int first)
{
	const char *p = item.p, *end = item.p + item.len;

	if (first) {
		while (end < list.p + list.len - 1 && *end != ',')
			end++;
		end += *end == ',';
	} else
		while (p > list.p && *--p != ',')
			continue;
	return ((struct jspan){p, (size_t)(end - p)});
}

static int
see_item(struct model_req *m, struct edits *e, struct jspan list,
    struct jspan v, int first)
{
	struct buf b = BUF_INIT(SIZE_MAX / 2);
	struct jspan at;
	int rc = unecho_item(&b, v, &at);

	if (rc > 0 && b.len == 0 && at.p == v.p && at.len == v.len)
		at = with_comma(list, v, first);
	if (rc > 0)
		rc = edits_add(m, e, at, b.p != NULL ? b.p : "", b.len);
	else if (rc < 0)
		rc = no_memory(m);
	buf_free(&b);
	return (rc);
}

static int
unecho_list(struct model_req *m, struct edits *e, struct jspan list)
{
	const int responses = m->dialect->wire == WIRE_RESPONSES;
	struct jspan_iter it;
	struct jspan v;
	int rc = 0, first = 1;

	if (jspan_iter(&it, list) || it.object)
		return (0);
	while (rc == 0 && jspan_next(&it, NULL, &v)) {
		rc = responses ? see_item(m, e, list, v, first)
			       : see_message(m, e, v);
		first = 0;
	}
	return (rc);
}

int
model_unecho(struct model_req *m, struct edits *e)
{
	struct jspan list;
	const int responses = m->dialect->wire == WIRE_RESPONSES;

	if (m->dialect->wire == WIRE_CHAT ||
	    !unecho_may(m->root.p, m->root.len))
		return (0);
	if (jspan_get(m->root, responses ? "input" : "messages", &list) == 0)
		return (0);
	return (unecho_list(m, e, list));
}
