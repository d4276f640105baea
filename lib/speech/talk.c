#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/id.h"

#include "speech/refusal.h"
#include "speech/talk.h"

static const struct text no_result = TEXT_LIT("(result not available)");

int
talk_is_unanswered(const struct part *p)
{

	return (p->kind == PART_RESULT && p->text.p == no_result.p);
}

struct talk *
talk_new(struct arena *mem)
{
	struct talk *t;

	if ((t = arena_alloc(mem, sizeof(*t))) == NULL)
		return (NULL);
	t->mem = mem;
	t->tools_end = &t->tools;
	t->uses_end = &t->uses;
	t->parallel = -1;
	t->mint = "srvtoolu_gw_";
	t->mint_len = 24;
	t->format_strict = -1;
	return (t);
}

int
talk_text(struct talk *t, const char *p, size_t len, struct text *x)
{

	x->len = len;
	x->p = arena_strndup(t->mem, len > 0 ? p : "", len);
	return (x->p == NULL ? -1 : 0);
}

static struct turn *
turn_open(struct talk *t, enum speaker who)
{
	struct turn *u;

	if (t->last != NULL && t->last->who == who)
		return (t->last);
	if ((u = arena_alloc(t->mem, sizeof(*u))) == NULL)
		return (NULL);
	u->who = who;
	u->end = &u->first;
	u->prev = t->last;
	if (t->last != NULL)
		t->last->next = u;
	else
		t->first = u;
	t->last = u;
	return (u);
}

static struct part *
part_append(struct talk *t, struct turn *u, enum part_kind kind)
{
	struct part *p;

	if ((p = arena_alloc(t->mem, sizeof(*p))) == NULL)
		return (NULL);
	p->kind = kind;
	*u->end = p;
	u->end = &p->next;
	u->ncalls += kind == PART_CALL;
	return (p);
}

/* The result of ${call} in the turn ${u} (which may be NULL), or NULL. */
static struct part *
result_of(const struct turn *u, const struct part *call)
{
	struct part *p;

	for (p = u != NULL ? u->first : NULL; p != NULL; p = p->next)
		if (p->kind == PART_RESULT && strcmp(p->id, call->id) == 0)
			return (p);
	return (NULL);
}

/* Give every call of ours in the assistant's turn ${u} its result. */
static int
answer_ours(struct talk *t, struct turn *u)
{
	struct turn *results = u->next;
	struct part *p, *res;

	for (p = u->first; p != NULL; p = p->next) {
		if (p->kind != PART_CALL || !p->ours ||
		    result_of(results, p) != NULL)
			continue;
		if ((results == NULL &&
			(results = turn_open(t, TALK_USER)) == NULL) ||
		    (res = part_append(t, results, PART_RESULT)) == NULL)
			return (-1);
		res->ours = 1;
		res->id = p->id;
		res->where = p->where;
		res->text = no_result;
	}
	return (0);
}

/* Asked before each part that is added, so what was seen is passed over. */
static int
has_our_call(struct turn *u)
{
	struct part *p = u->clear;

	for (p = p != NULL ? p->next : u->first; p != NULL; p = p->next) {
		if (p->kind == PART_CALL && p->ours)
			return (1);
		u->clear = p;
	}
	return (0);
}

/* Only results of ours: the assistant has not finished speaking. */
static int
only_ours(const struct turn *u)
{
	const struct part *p;

	for (p = u->first; p != NULL; p = p->next)
		if (p->kind != PART_RESULT || !p->ours)
			return (0);
	return (1);
}

/* Take the calls out of ${from} that nobody has answered, and add them to the
 * turn ${to}, where the assistant goes on. */
static void
move_open_calls(struct turn *from, struct turn *to)
{
	struct part **pp, *p;

	from->clear = NULL; /* It may be one of those. */
	for (pp = &from->first; (p = *pp) != NULL;) {
		if (p->kind != PART_CALL || p->ours) {
			pp = &p->next;
			continue;
		}
		*pp = p->next;
		p->next = NULL;
		*to->end = p;
		to->end = &p->next;
		from->ncalls--;
		to->ncalls++;
	}
	from->end = pp;
}

/* The turn in which the assistant's next part belongs. */
static struct turn *
assistant_turn(struct talk *t, enum part_kind kind)
{
	struct turn *u = t->last, *before, *now;

	/* Speaking on after a call of ours begins a new stretch. */
	if (u != NULL && u->who == TALK_ASSISTANT && kind != PART_CALL &&
	    has_our_call(u) && answer_ours(t, u))
		return (NULL);
	if ((u = t->last) == NULL || u->who == TALK_ASSISTANT ||
	    (before = u->prev) == NULL || !only_ours(u))
		return (turn_open(t, TALK_ASSISTANT));
	if (answer_ours(t, before) ||
	    (now = turn_open(t, TALK_ASSISTANT)) == NULL)
		return (NULL);
	move_open_calls(before, now);
	return (now);
}

struct part *
talk_add(struct talk *t, enum speaker who, enum part_kind kind)
{
	struct turn *u;

	if (kind == PART_RESULT)
		who = TALK_USER;
	u = who == TALK_ASSISTANT ? assistant_turn(t, kind)
				  : turn_open(t, TALK_USER);
	return (u != NULL ? part_append(t, u, kind) : NULL);
}

struct part *
talk_media(struct talk *t, enum speaker who, const char *id)
{
	struct part *p;

	p = talk_add(t, who, id != NULL ? PART_FILE : PART_MEDIA);
	if (p == NULL ||
	    (p->media = arena_alloc(t->mem, sizeof(*p->media))) == NULL)
		return (NULL);
	p->id = id;
	return (p);
}

int
talk_instruct(struct talk *t, struct text x, int developer)
{
	static const struct text mark = TEXT_LIT("[system] ");
	struct part *p = talk_add(t, TALK_USER, PART_TEXT);
	char *s;

	if (p == NULL || (s = arena_alloc(t->mem, mark.len + x.len)) == NULL)
		return (-1);
	memcpy(s, mark.p, mark.len);
	memcpy(s + mark.len, x.p, x.len);
	p->text = (struct text){s, mark.len + x.len};
	p->instruct = (struct text){s + mark.len, x.len};
	p->developer = developer;
	return (0);
}

struct tool *
talk_tool(struct talk *t)
{
	struct tool *x;

	if ((x = arena_alloc(t->mem, sizeof(*x))) == NULL)
		return (NULL);
	x->strict = -1;
	*t->tools_end = x;
	t->tools_end = &x->next;
	t->ntools++;
	return (x);
}

const struct tool *
talk_find_tool(const struct talk *t, const char *name)
{
	const struct tool *x;

	for (x = t->tools; x != NULL; x = x->next)
		if (strcmp(x->name, name) == 0)
			break;
	return (x);
}

int
talk_has_tool(const struct talk *t, const char *name)
{

	return (talk_find_tool(t, name) != NULL);
}

int
talk_offer(struct talk *t)
{
	char name[64];
	int i;

	for (i = 0; i < OUR_COUNT; i++) {
		if (!(t->ours & (1U << i)))
			continue;
		(void)snprintf(name, sizeof(name), "%s%s",
		    talk_has_tool(t, our_rows[i].name) ? "gw_" : "",
		    our_rows[i].name);
		t->our_name[i] = arena_strndup(t->mem, name, strlen(name));
		if (t->our_name[i] == NULL)
			return (-1);
	}
	return (0);
}

int
talk_id(const struct talk *t, size_t n, char *id)
{
	size_t len = t->seed != NULL ? strlen(t->seed) : 0;

	if (len >= n)
		return (-1);
	if (len > 0)
		memcpy(id, t->seed, len);
	return (id_base36(id + len, n - len));
}

int
talk_mint(const struct talk *t, char id[static TALK_IDMAX + 1])
{
	size_t len = strlen(t->mint);

	if (len + t->mint_len > TALK_IDMAX)
		return (-1);
	memcpy(id, t->mint, len);
	return (talk_id(t, t->mint_len, id + len));
}

enum our_tool
talk_ours(const struct talk *t, const char *name)
{
	enum our_tool tool;
	int i;

	for (i = 0; i < OUR_COUNT; i++)
		if (t->our_name[i] != NULL && strcmp(t->our_name[i], name) == 0)
			return ((enum our_tool)i);
	if (t->ours == 0 || talk_has_tool(t, name))
		return (OUR_NONE);
	tool = our_alias(name);
	return (tool);
}

static struct part *
call_in(const struct turn *u, const char *id)
{
	struct part *p;

	for (p = u->first; p != NULL; p = p->next)
		if (p->kind == PART_CALL && strcmp(p->id, id) == 0)
			return (p);
	return (NULL);
}

struct part *
talk_open_call(const struct talk *t, const char *id)
{
	const struct turn *u = t->last;

	if (u != NULL && u->who == TALK_USER)
		u = u->prev;
	return (u != NULL ? call_in(u, id) : NULL);
}

struct part *
talk_find_call(const struct talk *t, const char *id)
{
	const struct turn *u;
	struct part *p;

	for (u = t->first; u != NULL; u = u->next)
		if ((p = call_in(u, id)) != NULL)
			return (p);
	return (NULL);
}

/* Bring the results of ${u} to its head, ours before the caller's. */
static void
results_first(struct turn *u)
{
	struct part *list[3] = {NULL, NULL, NULL}, **end[3], *p;
	int i;

	for (i = 0; i < 3; i++)
		end[i] = &list[i];
	for (p = u->first; p != NULL; p = p->next) {
		i = p->kind != PART_RESULT ? 2 : !p->ours;
		*end[i] = p;
		end[i] = &p->next;
	}
	*end[2] = NULL;
	*end[1] = list[2];
	*end[0] = list[1];
	u->first = list[0];
	for (u->end = &u->first; *u->end != NULL; u->end = &(*u->end)->next)
		continue;
}

static int
check_calls(const struct turn *u, struct refusal *why)
{
	const struct part *p;
	size_t n = 0;

	for (p = u->first; p != NULL; p = p->next) {
		if (p->kind != PART_CALL)
			continue;
		if (++n > TALK_CALLS_MAX)
			return (refuse(why, P_BAD_REQUEST, p->where,
			    "%s: more than %d calls in one message", p->where,
			    TALK_CALLS_MAX));
		if (result_of(u->next, p) == NULL)
			return (refuse(why, P_BAD_REQUEST, p->where,
			    "%s: the call %.80s has no result in the message "
			    "after it",
			    p->where, p->id));
	}
	return (0);
}

static int
check_results(const struct turn *u, struct refusal *why)
{
	const struct part *p, *call;

	for (p = u->first; p != NULL; p = p->next) {
		if (p->kind != PART_RESULT)
			continue;
		call = u->prev != NULL ? call_in(u->prev, p->id) : NULL;
		if (call == NULL)
			return (refuse(why, P_BAD_REQUEST, p->where,
			    "%s: no call %.80s in the message before it",
			    p->where, p->id));
		if (result_of(u, call) != p)
			return (refuse(why, P_BAD_REQUEST, p->where,
			    "%s: the call %.80s has a result already", p->where,
			    p->id));
	}
	return (0);
}

int
talk_settle(struct talk *t, struct refusal *why)
{
	struct turn *u;

	if (t->last == NULL)
		return (refuse(why, P_BAD_REQUEST, "messages",
		    "messages: there is nothing to answer"));
	if (talk_mend(t))
		return (refuse(why, P_SERVER, NULL, "out of memory"));
	for (u = t->first; u != NULL; u = u->next) {
		if (u->who == TALK_ASSISTANT) {
			if (answer_ours(t, u))
				return (refuse(
				    why, P_SERVER, NULL, "out of memory"));
			if (check_calls(u, why))
				return (-1);
			continue;
		}
		results_first(u);
		if (check_results(u, why))
			return (-1);
	}
	return (0);
}
