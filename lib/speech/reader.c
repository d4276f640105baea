#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"

#include "speech/pick.h"
#include "speech/reader.h"
#include "speech/refusal.h"
#include "speech/talk.h"

#define STOPS_MAX 256

static size_t
step(struct reader *, const char *, ...) __attribute__((format(printf, 2, 3)));

/* Append to the position; one too long for its place is cut. */
static size_t
step(struct reader *rd, const char *fmt, ...)
{
	size_t mark = rd->len, room = sizeof(rd->at) - rd->len;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(rd->at + rd->len, room, fmt, ap);
	va_end(ap);
	if (n > 0)
		rd->len += (size_t)n < room ? (size_t)n : room - 1;
	return (mark);
}

size_t
reader_in(struct reader *rd, const char *key)
{

	return (step(rd, "%s%s", rd->len > 0 ? "." : "", key));
}

size_t
reader_at(struct reader *rd, size_t index)
{

	return (step(rd, rd->brackets ? "[%zu]" : ".%zu", index));
}

void
reader_out(struct reader *rd, size_t mark)
{

	rd->len = mark;
	rd->at[mark] = '\0';
}

int
reader_refuse(struct reader *rd, const char *fmt, ...)
{
	char what[400];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	return (refuse(rd->why, P_BAD_REQUEST, rd->at, "%s: %s", rd->at, what));
}

const char *
reader_where(const struct reader *rd)
{

	return (arena_strndup(rd->talk->mem, rd->at, rd->len));
}

int
reader_text(struct reader *rd, struct jspan v, struct text *x)
{

	switch (pick_text(rd->talk->mem, v, x)) {
	case 0:
		return (0);
	case -1:
		return (reader_refuse(rd, "must be a string"));
	default:
		return (refuse(rd->why, P_SERVER, NULL, "out of memory"));
	}
}

int
reader_str(struct reader *rd, struct jspan v, const char **s)
{
	struct text x;

	if (reader_text(rd, v, &x))
		return (-1);
	if (x.len == 0 || memchr(x.p, '\0', x.len) != NULL)
		return (reader_refuse(rd, "must not be empty or hold a NUL"));
	if ((*s = arena_strndup(rd->talk->mem, x.p, x.len)) == NULL)
		return (refuse(rd->why, P_SERVER, NULL, "out of memory"));
	return (0);
}

int
reader_member(struct jspan o, const char *key, struct jspan *v)
{
	struct jspan_iter it;
	struct jspan k, x;

	/* Repeated keys have been refused, so the first one is the only one. */
	if (jspan_iter(&it, o) || !it.object)
		return (0);
	while (jspan_next(&it, &k, &x)) {
		if (!jspan_is(k, key))
			continue;
		if (pick_is(x, 'n'))
			return (0);
		*v = x;
		return (1);
	}
	return (0);
}

int
reader_get_text(
    struct reader *rd, struct jspan o, const char *key, struct text *x)
{
	size_t mark = reader_in(rd, key);
	struct jspan v;

	if (!reader_member(o, key, &v))
		return (reader_refuse(rd, "is required"));
	if (reader_text(rd, v, x))
		return (-1);
	reader_out(rd, mark);
	return (0);
}

int
reader_get_str(
    struct reader *rd, struct jspan o, const char *key, const char **s)
{
	size_t mark = reader_in(rd, key);
	struct jspan v;

	if (!reader_member(o, key, &v))
		return (reader_refuse(rd, "is required"));
	if (reader_str(rd, v, s))
		return (-1);
	reader_out(rd, mark);
	return (0);
}

int
reader_opt_u64(struct reader *rd, struct jspan o, const char *key, uint64_t min,
    uint64_t max, uint64_t *x)
{
	size_t mark = reader_in(rd, key);
	struct jspan v;
	uint64_t n;

	if (reader_member(o, key, &v)) {
		if (pick_u64(v, &n) || n < min || n > max)
			return (reader_refuse(rd,
			    "must be a whole number between %" PRIu64
			    " and %" PRIu64,
			    min, max));
		*x = n;
	}
	reader_out(rd, mark);
	return (0);
}

int
reader_opt_str(
    struct reader *rd, struct jspan o, const char *key, const char **s)
{
	struct jspan v;

	return (reader_member(o, key, &v) ? reader_get_str(rd, o, key, s) : 0);
}

int
reader_opt_bool(struct reader *rd, struct jspan o, const char *key, int *x)
{
	size_t mark = reader_in(rd, key);
	struct jspan v;

	if (reader_member(o, key, &v)) {
		if (!pick_is(v, 't') && !pick_is(v, 'f'))
			return (reader_refuse(rd, "must be true or false"));
		*x = pick_is(v, 't');
	}
	reader_out(rd, mark);
	return (0);
}

int
reader_opt_number(
    struct reader *rd, struct jspan o, const char *key, struct jspan *v)
{
	size_t mark = reader_in(rd, key);
	struct jspan n;

	if (reader_member(o, key, &n)) {
		if (strchr("-0123456789", n.p[0]) == NULL)
			return (reader_refuse(rd, "must be a number"));
		*v = n;
	}
	reader_out(rd, mark);
	return (0);
}

int
reader_each(struct reader *rd, struct jspan o, const char *key, reader_fn *fn)
{
	size_t mark = reader_in(rd, key), i = 0, inner;
	struct jspan_iter it;
	struct jspan v;

	if (reader_member(o, key, &v)) {
		if (jspan_iter(&it, v) || it.object)
			return (reader_refuse(rd, "must be a list"));
		while (jspan_next(&it, NULL, &v)) {
			inner = reader_at(rd, i++);
			if (fn(rd, v))
				return (-1);
			reader_out(rd, inner);
		}
	}
	reader_out(rd, mark);
	return (0);
}

int
reader_no_memory(struct reader *rd)
{

	return (refuse(rd->why, P_SERVER, NULL, "out of memory"));
}

struct tool *
reader_tool(struct reader *rd, const char *name)
{
	struct tool *x = NULL;

	if (talk_has_tool(rd->talk, name))
		(void)reader_refuse(rd, "there is a tool %.80s already", name);
	else if (rd->talk->ntools == TALK_TOOLS_MAX)
		(void)reader_refuse(rd, "there are too many");
	else if ((x = talk_tool(rd->talk)) == NULL)
		(void)reader_no_memory(rd);
	else
		x->name = name;
	return (x);
}

int
reader_stops(struct reader *rd)
{
	struct talk *t = rd->talk;

	t->stops = arena_alloc(t->mem, STOPS_MAX * sizeof(struct text));
	return (t->stops == NULL ? reader_no_memory(rd) : 0);
}

int
reader_stop(struct reader *rd, struct jspan v)
{
	struct talk *t = rd->talk;

	if (t->nstops == STOPS_MAX)
		return (reader_refuse(rd, "there are too many"));
	return (reader_text(rd, v, &t->stops[t->nstops++]));
}

struct part *
reader_call(struct reader *rd)
{
	struct part *p;

	if ((p = talk_add(rd->talk, TALK_ASSISTANT, PART_CALL)) == NULL ||
	    (p->where = reader_where(rd)) == NULL) {
		(void)reader_no_memory(rd);
		return (NULL);
	}
	if (rd->talk->last->ncalls <= TALK_CALLS_MAX)
		return (p);
	(void)reader_refuse(
	    rd, "more than %d calls in one message", TALK_CALLS_MAX);
	return (NULL);
}
