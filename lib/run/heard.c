#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/id.h"
#include "base/jspan.h"

#include "speech/model_dialect.h"
#include "speech/pick.h"
#include "speech/talk.h"

#include "run/heard.h"

#define TEXT_MAX (64U << 20)
#define ARGS_MAX (16U << 20)
#define ARGS_DEPTH 128
#define CALLS_MAX 128
#define CALL_ID_MAX 64

void
heard_init(struct heard *h, struct talk *t, struct writer *w)
{

	*h = (struct heard){.mem = t->mem,
	    .talk = t,
	    .writer = w,
	    .text = BUF_INIT(TEXT_MAX),
	    .args = BUF_INIT(ARGS_MAX),
	    .end = &h->first};
}

void
heard_free(struct heard *h)
{

	buf_free(&h->text);
	buf_free(&h->args);
}

/* An id that a caller's client and any upstream will take. */
static int
is_good_id(const char *id)
{

	return (id != NULL && id[0] != '\0' && strlen(id) <= CALL_ID_MAX &&
	    strspn(id,
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		"0123456789_-") == strlen(id));
}

static int
is_used(const struct heard *h, const char *id)
{
	const struct heard_call *c;

	for (c = h->first; c != NULL; c = c->next)
		if (strcmp(c->id, id) == 0)
			return (1);
	return (talk_find_call(h->talk, id) != NULL);
}

/* The upstream's id if it is good and new, else one of our own. */
static const char *
choose_id(struct heard *h, const char *id)
{
	char fresh[40] = "toolu_gw_";

	if (is_good_id(id) && !is_used(h, id))
		return (arena_strndup(h->mem, id, strlen(id)));
	if (id_base36(fresh + 9, 24))
		return (NULL);
	return (arena_strndup(h->mem, fresh, strlen(fresh)));
}

static int
begin_call(struct heard *h, const struct event *ev)
{
	struct heard_call *c;
	unsigned int n = 0;

	for (c = h->first; c != NULL; c = c->next)
		n++;
	if (n == CALLS_MAX || (c = arena_alloc(h->mem, sizeof(*c))) == NULL ||
	    (c->id = choose_id(h, ev->id)) == NULL ||
	    (c->name = arena_strndup(h->mem, ev->name, strlen(ev->name))) ==
		NULL)
		return (-1);
	*h->end = c;
	h->end = &c->next;
	h->now = c;
	buf_drop(&h->args, h->args.len);
	return (0);
}

static int
end_call(struct heard *h)
{

	return (talk_text(h->talk, h->args.p, h->args.len, &h->now->args));
}

int
heard_event(void *cookie, const struct event *ev)
{
	struct heard *h = cookie;

	switch (ev->kind) {
	case EVENT_TEXT:
		if (buf_put(&h->text, ev->text.p, ev->text.len))
			return (-1);
		return (h->writer->event(h->writer, ev));
	case EVENT_REASONING:
		return (h->writer->event(h->writer, ev));
	case EVENT_CALL:
		return (begin_call(h, ev));
	case EVENT_ARGS:
		return (buf_put(&h->args, ev->text.p, ev->text.len));
	case EVENT_CALL_END:
		return (end_call(h));
	case EVENT_USAGE:
		h->usage = *ev->usage;
		break;
	case EVENT_STOP:
		h->stop = ev->stop;
		return (
		    talk_text(h->talk, ev->text.p, ev->text.len, &h->sequence));
	case EVENT_ROUND:
	case EVENT_RESULT:
		break; /* No wire makes one. */
	}
	return (0);
}

static int
is_object(struct text args)
{
	struct jspan_info info;

	return (args.len > 0 &&
	    jspan_check(args.p, args.len, ARGS_DEPTH, &info) == JSPAN_OK &&
	    pick_is(info.root, '{'));
}

static enum whose
whose_is(const struct heard *h, enum our_tool meant, const char *name)
{

	if (meant != OUR_NONE)
		return (WHOSE_OURS);
	return (talk_has_tool(h->talk, name) ? WHOSE_CALLER : WHOSE_NOBODY);
}

int
heard_sort(struct heard *h, uint64_t max_tokens, int last)
{
	struct heard_call *c;
	enum our_tool meant;

	/* Some servers say tool_calls of a call that the limit broke off. */
	if (max_tokens != 0 && h->usage.known && h->usage.output >= max_tokens)
		for (c = h->first; c != NULL; c = c->next)
			if (!is_object(c->args))
				h->stop = STOP_LENGTH;
	for (c = h->first; c != NULL; c = c->next) {
		meant = talk_ours(h->talk, c->name);
		c->whose = whose_is(h, meant, c->name);
		if ((last && c->whose != WHOSE_CALLER) ||
		    (c->whose == WHOSE_CALLER && h->stop == STOP_LENGTH &&
			!is_object(c->args)))
			c->whose = WHOSE_DROPPED;
		if (c->whose == WHOSE_OURS &&
		    call_read(h->talk, meant, c->args, &c->call))
			return (-1);
	}
	return (0);
}

unsigned int
heard_count(const struct heard *h, enum whose whose)
{
	const struct heard_call *c;
	unsigned int n = 0;

	for (c = h->first; c != NULL; c = c->next)
		n += c->whose == whose;
	return (n);
}
