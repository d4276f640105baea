#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/id.h"

#include "speech/talk.h"

#define PREFIX "call_gw_"
#define IDLEN 24

static struct part *
new_part(struct talk *t, enum part_kind kind, const char *id)
{
	struct part *p;

	if ((p = arena_alloc(t->mem, sizeof(*p))) == NULL)
		return (NULL);
	*p = (struct part){.kind = kind, .ours = 1, .id = id};
	return (p);
}

/* Before the first of ${kind} in ${u} that is not ours. */
static void
insert(struct turn *u, struct part *p)
{
	struct part **at = &u->first;

	while (*at != NULL && ((*at)->kind != p->kind || (*at)->ours))
		at = &(*at)->next;
	p->next = *at;
	if (*at == NULL)
		u->end = &p->next;
	*at = p;
}

int
talk_hide(struct talk *t, struct turn *u, const char *name, struct text args,
    struct outcome *o)
{
	char id[sizeof(PREFIX) + IDLEN] = PREFIX;
	struct part *call, *result;
	const char *kept;

	if (u->next == NULL || id_base36(id + sizeof(PREFIX) - 1, IDLEN) ||
	    (kept = arena_strndup(t->mem, id, strlen(id))) == NULL ||
	    (call = new_part(t, PART_CALL, kept)) == NULL ||
	    (result = new_part(t, PART_RESULT, kept)) == NULL)
		return (-1);
	call->name = name;
	call->text = args;
	result->outcome = o;
	insert(u, call);
	insert(u->next, result);
	u->ncalls++;
	return (0);
}
