#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/jprefix.h"

#include "speech/pick.h"
#include "speech/wire_chat_calls.h"

#define ARGS_MAX (16U << 20)

struct chat_call {
	struct chat_call *next;
	uint64_t index;
	int has_index;
	char *id, *name;     /* NULL: not said yet. */
	struct jprefix args; /* All of them... */
	struct buf waiting;  /* ...and what has not been passed on. */
	uint64_t len;
	int over; /* Ended; what comes for it now is lost. */
};

/* A fragment's members. */
struct fragment {
	struct jspan id, name;
	struct text args;
	uint64_t index;
	int has_index;
};

void
chat_calls_init(struct chat_calls *C, const struct wire_reader *r)
{

	*C = (struct chat_calls){.r = r, .end = &C->first};
}

void
chat_calls_free(struct chat_calls *C)
{
	struct chat_call *c, *next;

	for (c = C->first; c != NULL; c = next) {
		next = c->next;
		free(c->id);
		free(c->name);
		buf_free(&c->waiting);
		free(c);
	}
}

/* ---- Passing on */

static enum wire_rc
tell(const struct chat_calls *C, const struct event *ev)
{

	return (C->r->fn(C->r->cookie, ev) ? WIRE_STOPPED : WIRE_OK);
}

static enum wire_rc
pass_args(struct chat_calls *C, const char *p, size_t len)
{
	const struct event ev = {.kind = EVENT_ARGS, .text = {p, len}};

	return (len > 0 ? tell(C, &ev) : WIRE_OK);
}

/* Begin ${c} and pass on what has come of it. */
static enum wire_rc
begin(struct chat_calls *C, struct chat_call *c)
{
	const struct event ev = {.kind = EVENT_CALL,
	    .id = c->id,
	    .name = c->name != NULL ? c->name : ""};
	enum wire_rc rc;

	C->open = c;
	if ((rc = tell(C, &ev)) == WIRE_OK)
		rc = pass_args(C, c->waiting.p, c->waiting.len);
	buf_free(&c->waiting);
	return (rc);
}

static enum wire_rc
end_open(struct chat_calls *C)
{
	const struct event ev = {.kind = EVENT_CALL_END};

	C->open->over = 1;
	C->open = NULL;
	return (tell(C, &ev));
}

/* The first call that has not been passed on yet. */
static struct chat_call *
pending(const struct chat_calls *C)
{
	struct chat_call *c;

	for (c = C->first; c != NULL && c->over; c = c->next)
		continue;
	return (c);
}

enum wire_rc
chat_calls_settle(struct chat_calls *C)
{
	struct chat_call *c;
	enum wire_rc rc = WIRE_OK;

	while (
	    rc == WIRE_OK && C->open != NULL && jprefix_whole(&C->open->args)) {
		rc = end_open(C);
		c = pending(C);
		if (rc == WIRE_OK && c != NULL && c->name != NULL)
			rc = begin(C, c);
	}
	return (rc);
}

enum wire_rc
chat_calls_end(struct chat_calls *C)
{
	struct chat_call *c;
	enum wire_rc rc = WIRE_OK;

	while (rc == WIRE_OK && (c = pending(C)) != NULL) {
		if (C->open == NULL)
			rc = begin(C, c);
		if (rc == WIRE_OK)
			rc = end_open(C);
	}
	return (rc);
}

/* ---- Fragments */

static int
is_said(struct jspan v)
{

	return (pick_is(v, '"') && v.len > 2);
}

static void
read_fragment(struct buf *scratch, struct jspan item, struct jspan function,
    struct fragment *f)
{
	struct jspan args = pick_member(function, "arguments");

	f->id = pick_member(item, "id");
	f->name = pick_member(function, "name");
	f->has_index = pick_u64(pick_member(item, "index"), &f->index) == 0;
	f->args = (struct text){args.p, args.len};
	if (!pick_is(args, '{') && pick_decoded(scratch, args, &f->args))
		f->args.len = 0;
}

/* The call that a fragment goes on with, NULL if it begins one. */
static struct chat_call *
find(const struct chat_calls *C, const struct fragment *f)
{
	struct chat_call *c, *found = NULL;

	for (c = C->first; c != NULL; c = c->next)
		if (f->has_index ? c->has_index && c->index == f->index
				 : !is_said(f->id) || c->id == NULL ||
			    jspan_is(f->id, c->id))
			found = c;
	if (found == NULL)
		return (NULL);
	if (is_said(f->id) && found->id != NULL && !jspan_is(f->id, found->id))
		return (NULL);
	/* A function's name and arguments, after all of the last call's. */
	if (is_said(f->name) && f->args.len > 0 && jprefix_whole(&found->args))
		return (NULL);
	return (found);
}

static struct chat_call *
add(struct chat_calls *C, const struct fragment *f)
{
	struct chat_call *c;

	if ((c = calloc(1, sizeof(*c))) == NULL)
		return (NULL);
	c->waiting.max = ARGS_MAX;
	c->index = f->index;
	c->has_index = f->has_index;
	*C->end = c;
	C->end = &c->next;
	C->n++;
	return (c);
}

/* Keep the first text that is said; one with a NUL in it is none. */
static enum wire_rc
keep(char **s, struct jspan v)
{
	struct buf b = BUF_INIT(v.len * 3);

	if (*s != NULL || !is_said(v))
		return (WIRE_OK);
	if (jspan_str(&b, v)) {
		buf_free(&b);
		return (WIRE_MEMORY);
	}
	if (memchr(b.p, '\0', b.len) != NULL)
		buf_free(&b);
	*s = b.p;
	return (WIRE_OK);
}

static enum wire_rc
add_args(struct chat_calls *C, struct chat_call *c, struct text args)
{

	if (c->over)
		return (WIRE_OK);
	if ((c->len += args.len) > ARGS_MAX)
		return (WIRE_BAD);
	(void)jprefix_feed(&c->args, args.p, args.len);
	if (C->open == c)
		return (pass_args(C, args.p, args.len));
	return (buf_put(&c->waiting, args.p, args.len) ? WIRE_MEMORY : WIRE_OK);
}

enum wire_rc
chat_calls_take(struct chat_calls *C, struct buf *scratch, struct jspan item,
    struct jspan function, int whole)
{
	struct chat_call *c = NULL;
	struct fragment f = {0};
	enum wire_rc rc;

	read_fragment(scratch, item, function, &f);
	if (!whole)
		c = find(C, &f);
	if (c == NULL && C->n == CHAT_CALLS_MAX)
		return (WIRE_BAD);
	if (c == NULL && (c = add(C, &f)) == NULL)
		return (WIRE_MEMORY);
	if ((rc = keep(&c->id, f.id)) != WIRE_OK ||
	    (rc = keep(&c->name, f.name)) != WIRE_OK ||
	    (rc = add_args(C, c, f.args)) != WIRE_OK)
		return (rc);
	if (C->open != c && (rc = chat_calls_settle(C)) != WIRE_OK)
		return (rc);
	if (C->open == NULL && c->name != NULL && pending(C) == c)
		rc = begin(C, c);
	return (rc);
}
