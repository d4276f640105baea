#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/jspan.h"

#include "speech/args.h"
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
heard_init(struct heard *h, struct talk *t, struct writer *w, int last)
{

	*h = (struct heard){.mem = t->mem,
	    .talk = t,
	    .writer = w,
	    .text = BUF_INIT(TEXT_MAX),
	    .thought = BUF_INIT(TEXT_MAX),
	    .args = BUF_INIT(ARGS_MAX),
	    .end = &h->first,
	    .last = last};
}

void
heard_free(struct heard *h)
{

	buf_free(&h->text);
	buf_free(&h->thought);
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

/* A new id of our own. */
static const char *
mint_id(struct heard *h)
{
	char fresh[CALL_ID_SIZE];

	return (call_id(fresh) == 0
		? arena_strndup(h->mem, fresh, strlen(fresh))
		: NULL);
}

/* The upstream's id if it is good and new, else one of our own. */
static const char *
choose_id(struct heard *h, const char *id)
{

	return (is_good_id(id) && !is_used(h, id)
		? arena_strndup(h->mem, id, strlen(id))
		: mint_id(h));
}

static int
tell(struct heard *h, const struct event *ev)
{

	return (h->writer->event(h->writer, ev));
}

static enum whose
whose_is(const struct heard *h, const char *name)
{

	if (talk_ours(h->talk, name) != OUR_NONE)
		return (h->last ? WHOSE_DROPPED : WHOSE_OURS);
	if (talk_has_tool(h->talk, name))
		return (WHOSE_CALLER);
	return (h->last ? WHOSE_DROPPED : WHOSE_NOBODY);
}

/* ---- Calls as they come */

/* Begin to show the call under way under ${id} and ${name}. */
static int
show(struct heard *h, const char *id, const char *name)
{
	struct heard_call *c = h->now;
	const struct event begin = {.kind = EVENT_CALL,
	    .id = id,
	    .name = name,
	    .ours = c->whose == WHOSE_OURS};
	const struct event args = {
	    .kind = EVENT_ARGS, .text = {h->args.p, h->args.len}};

	c->shown = id;
	h->live = LIVE_NOW;
	return (tell(h, &begin) || (h->args.len > 0 && tell(h, &args)));
}

/* Show a call of ours once its arguments tell that this can be done. */
static int
show_ours(struct heard *h)
{
	enum our_tool tool = talk_ours(h->talk, h->now->name);
	char id[TALK_IDMAX + 1];
	char *copy;

	switch (call_begins(tool, (struct text){h->args.p, h->args.len})) {
	case 0:
		return (0);
	case 1:
		break;
	default:
		h->live = LIVE_NOT;
		return (0);
	}
	if (talk_mint(h->talk, id) ||
	    (copy = arena_strndup(h->mem, id, strlen(id))) == NULL)
		return (-1);
	return (show(h, copy, our_rows[tool].name));
}

/* Will the call under way, ours, be shown as it comes? */
static int
may_show_ours(const struct heard *h)
{
	const struct talk *t = h->talk;

	return (t->stream && !t->quiet && heard_count(h, WHOSE_OURS) == 1 &&
	    (t->ours & (1U << talk_ours(t, h->now->name))));
}

/* May this round hold runs that the caller is not shown?  His calls then wait
 * for its end, which tells under which ids they are to be shown. */
static int
may_hide(const struct heard *h)
{

	return (h->talk->quiet && h->talk->ours != 0);
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
	h->way = (struct args){0};
	c->whose = whose_is(h, c->name);
	h->live = LIVE_NOT;
	if (c->whose == WHOSE_CALLER && h->talk->stream && !may_hide(h))
		return (show(h, c->id, c->name));
	if (c->whose == WHOSE_OURS && may_show_ours(h))
		h->live = LIVE_SOON;
	return (0);
}

static int
add_args(struct heard *h, struct text x)
{
	const size_t before = h->args.len;
	struct event ev = {.kind = EVENT_ARGS};

	if (args_feed(&h->way, &h->args, x.p, x.len))
		return (-1);
	ev.text = (struct text){h->args.p + before, h->args.len - before};
	if (h->live == LIVE_NOW)
		return (tell(h, &ev));
	return (h->live == LIVE_SOON ? show_ours(h) : 0);
}

static int
end_call(struct heard *h, const struct event *ev)
{
	static const struct text nothing = TEXT_LIT("{}");
	struct heard_call *c = h->now;

	c->bare = args_none((struct text){h->args.p, h->args.len});
	if (c->bare && !h->cut && add_args(h, nothing))
		return (-1);
	h->now = NULL;
	if (h->live == LIVE_NOW && tell(h, ev))
		return (-1);
	return (talk_text(h->talk, h->args.p, h->args.len, &c->args));
}

int
heard_event(void *cookie, const struct event *ev)
{
	struct heard *h = cookie;

	switch (ev->kind) {
	case EVENT_ROUND:
		h->estimate = ev->usage->input;
		return (tell(h, ev));
	case EVENT_TEXT:
		if (buf_put(&h->text, ev->text.p, ev->text.len))
			return (-1);
		return (tell(h, ev));
	case EVENT_REASONING:
		if (buf_put(&h->thought, ev->text.p, ev->text.len))
			return (-1);
		return (tell(h, ev));
	case EVENT_CALL:
		return (begin_call(h, ev));
	case EVENT_ARGS:
		return (add_args(h, ev->text));
	case EVENT_CALL_END:
		return (end_call(h, ev));
	case EVENT_USAGE:
		h->usage = *ev->usage;
		break;
	case EVENT_STOP:
		h->stop = ev->stop;
		return (
		    talk_text(h->talk, ev->text.p, ev->text.len, &h->sequence));
	case EVENT_RESULT:
		break; /* No wire makes one. */
	}
	return (0);
}

int
heard_flush(void *cookie)
{
	struct heard *h = cookie;

	return (h->writer->flush != NULL ? h->writer->flush(h->writer) : 0);
}

/* ---- The round is over */

int
heard_cut(struct heard *h)
{
	static const struct event end = {.kind = EVENT_CALL_END};

	h->cut = 1;
	h->stop = STOP_LENGTH;
	if (h->now != NULL && end_call(h, &end))
		return (-1);
	return (h->text.len > 0 || h->thought.len > 0 || h->first != NULL);
}

static int
is_object(struct text args)
{
	struct jspan_info info;

	return (args.len > 0 &&
	    jspan_check(args.p, args.len, ARGS_DEPTH, &info) == JSPAN_OK &&
	    pick_is(info.root, '{'));
}

/* Hidden runs are found again by the caller's call beside them, so its id must
 * be ours: an upstream may give the same ids in every conversation. */
static int
rename_calls(struct heard *h)
{
	struct heard_call *c;

	for (c = h->first; c != NULL; c = c->next)
		if (c->whose == WHOSE_CALLER && (c->id = mint_id(h)) == NULL)
			return (-1);
	return (0);
}

int
heard_sort(struct heard *h, uint64_t max_tokens)
{
	struct heard_call *c;

	/* Some servers say tool_calls of a call that the limit broke off. */
	if (max_tokens != 0 && h->usage.known && h->usage.output >= max_tokens)
		for (c = h->first; c != NULL; c = c->next)
			if (c->bare || !is_object(c->args))
				h->stop = STOP_LENGTH;
	for (c = h->first; c != NULL; c = c->next) {
		if (c->whose == WHOSE_CALLER && h->stop == STOP_LENGTH &&
		    (c->bare || !is_object(c->args)))
			c->whose = WHOSE_DROPPED;
		if (c->whose == WHOSE_OURS &&
		    call_read(h->talk, talk_ours(h->talk, c->name), c->args,
			&c->call))
			return (-1);
	}
	return (may_hide(h) && heard_count(h, WHOSE_OURS) > 0 ? rename_calls(h)
							      : 0);
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
