#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/hash.h"

#include "speech/args.h"
#include "speech/talk.h"

/* A call and where it stands. */
struct named {
	struct part *call;
	struct turn *turn;
	size_t nth; /* In the conversation. */
};

static int
by_id(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	const int rc = strcmp(x->call->id, y->call->id);

	return (rc != 0 ? rc : x->nth < y->nth ? -1 : 1);
}

/* The result ${k}, from 0, with this ${id} in ${u} (may be NULL); or NULL. */
static struct part *
result_at(const struct turn *u, const char *id, size_t k)
{
	struct part *p;

	for (p = u != NULL ? u->first : NULL; p != NULL; p = p->next)
		if (p->kind == PART_RESULT && strcmp(p->id, id) == 0 &&
		    k-- == 0)
			return (p);
	return (NULL);
}

static void
drop(struct turn *u, const struct part *call)
{
	struct part **pp = &u->first;

	while (*pp != call)
		pp = &(*pp)->next;
	*pp = call->next;
	if (*pp == NULL)
		u->end = pp;
	u->ncalls--;
	u->clear = NULL; /* It may be that one. */
}

/* The same new id at every request, so that what an upstream has cached of the
 * conversation stays good. */
static const char *
derive_id(struct talk *t, const char *id, size_t nth)
{
	struct buf b = BUF_INIT(strlen(id) + 32);
	char hex[HASH_SIZE], made[CALL_ID_SIZE];
	int rc;

	rc = buf_printf(&b, "%s#%zu", id, nth) || hash_sha256(b.p, b.len, hex);
	buf_free(&b);
	if (rc)
		return (NULL);
	(void)snprintf(made, sizeof(made), "toolu_gw_%.24s", hex);
	return (arena_strndup(t->mem, made, strlen(made)));
}

/* Give all but the first of the ${n} calls at ${c}, which have one id, an id of
 * their own, and their results; from the last, while results can be counted. */
static int
part_ids(struct talk *t, const struct named *c, size_t n)
{
	const char *id = c->call->id, *made;
	struct part *result;
	size_t i, k;

	for (i = n - 1; i > 0; i--) {
		for (k = 0; k < i && c[i - k - 1].turn == c[i].turn; k++)
			continue;
		result = result_at(c[i].turn->next, id, k);
		if (result == NULL && k > 0) {
			drop(c[i].turn, c[i].call); /* Said twice. */
			continue;
		}
		if ((made = derive_id(t, id, i)) == NULL)
			return (-1);
		c[i].call->id = made;
		if (result != NULL)
			result->id = made;
	}
	return (0);
}

int
talk_mend(struct talk *t)
{
	struct named *all;
	struct turn *u;
	struct part *p;
	size_t n = 0, i, end;

	for (u = t->first; u != NULL; u = u->next)
		for (p = u->first; p != NULL; p = p->next)
			n += p->kind == PART_CALL;
	if ((all = arena_alloc(t->mem, (n + 1) * sizeof(*all))) == NULL)
		return (-1);
	n = 0;
	for (u = t->first; u != NULL; u = u->next)
		for (p = u->first; p != NULL; p = p->next) {
			if (p->kind != PART_CALL)
				continue;
			if (args_sound(t->mem, p->text, &p->text) == -1)
				return (-1);
			all[n] = (struct named){p, u, n};
			n++;
		}
	qsort(all, n, sizeof(*all), by_id);
	for (i = 0; i < n; i = end) {
		for (end = i + 1;
		     end < n && strcmp(all[end].call->id, all[i].call->id) == 0;
		     end++)
			continue;
		if (part_ids(t, all + i, end - i))
			return (-1);
	}
	return (0);
}
