#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/conf.h"

#include "data/caller.h"
#include "data/file.h"

#include "speech/outcome.h"
#include "speech/refusal.h"
#include "speech/talk.h"

#include "run/our_call.h"
#include "run/recall.h"
#include "run/remember.h"

#define LOOKUPS 100 /* Names asked of the database, a request. */
#define TEXT_MAX (4U << 20)

/* Names for the files of ${o}; what is not found stays a bare id. */
static void
find_names(const struct run_env *env, struct outcome *o, unsigned int *left)
{
	struct outcome_file *x;
	struct file f;

	for (x = o->files; x != NULL && *left > 0; x = x->next, (*left)--) {
		if (file_find(env->db, env->mem, &env->caller->owner, x->id,
			env->caller->now, &f) != DATA_OK)
			continue;
		x->path = f.name;
		x->bytes = f.bytes;
	}
}

static int
write_text(
    const struct run_env *env, struct talk *t, struct part *p, size_t max_text)
{
	const struct outcome_bounds bounds = {env->conf->files_output_max_files,
	    env->conf->files_output_max_bytes, max_text};
	struct buf b = BUF_INIT(TEXT_MAX);
	int rc = -1;

	if (outcome_text(&b, p->outcome, &bounds) == 0)
		rc = talk_text(t, b.p, b.len, &p->text);
	buf_free(&b);
	p->outcome = NULL;
	return (rc);
}

/* The call ${id} of ours, if the caller's client has lost its arguments. */
static struct part *
find_bare(const struct talk *t, const char *id)
{
	struct part *p = talk_find_call(t, id);

	return (p != NULL && p->ours && p->text.len == 2 &&
		    memcmp(p->text.p, "{}", 2) == 0
		? p
		: NULL);
}

/* A result of ours that the caller's client has lost, or the arguments of its
 * call, from where they are kept. */
static int
find_lost(const struct run_env *env, struct talk *t, struct part *p,
    unsigned int *left)
{
	struct part *bare;
	struct outcome *o;
	struct call c;

	if (!p->ours || p->kind != PART_RESULT || *left == 0)
		return (0);
	if ((bare = find_bare(t, p->id)) == NULL && !talk_is_unanswered(p))
		return (0);
	(*left)--;
	if ((o = arena_alloc(t->mem, sizeof(*o))) == NULL)
		return (-1);
	if (remember_find(env, p->id, 0, &c, o) <= 0)
		return (0);
	if (talk_is_unanswered(p))
		p->outcome = o;
	if (bare != NULL)
		bare->text = c.args;
	return (0);
}

/* Calls of ours in the message of ${u} that its caller was never shown. */
static int
find_hidden(const struct run_env *env, struct talk *t, struct turn *u,
    unsigned int *left)
{
	const struct part *p = u->first;
	struct outcome *o;
	struct call c;
	uint64_t nth = 0;

	while (p != NULL && p->kind != PART_CALL)
		p = p->next;
	/* Only ids that were given for this are looked for. */
	if (u->who != TALK_ASSISTANT || p == NULL || p->ours ||
	    !call_id_is(p->id))
		return (0);
	for (; *left > 0; nth++) {
		(*left)--;
		if ((o = arena_alloc(t->mem, sizeof(*o))) == NULL)
			return (-1);
		if (remember_find(env, p->id, nth, &c, o) <= 0)
			return (0);
		if (t->our_name[c.tool] != NULL &&
		    talk_hide(t, u, t->our_name[c.tool], c.args, o))
			return (-1);
	}
	return (0);
}

/* Fetch what is kept here of the conversation. */
static int
find_kept(const struct run_env *env, struct talk *t)
{
	unsigned int left = LOOKUPS;
	struct turn *u;
	struct part *p;

	for (u = t->first; u != NULL; u = u->next) {
		for (p = u->first; p != NULL; p = p->next)
			if (find_lost(env, t, p, &left))
				return (-1);
		if (t->quiet && t->ours != 0 && find_hidden(env, t, u, &left))
			return (-1);
	}
	return (0);
}

enum run_rc
recall_results(const struct run_env *env, struct talk *t, struct refusal *why)
{
	unsigned int lookups = LOOKUPS, left = 0;
	struct turn *u;
	struct part *p;

	if (find_kept(env, t)) {
		(void)refuse(why, P_SERVER, NULL, "out of memory");
		return (RUN_REFUSED);
	}
	for (u = t->first; u != NULL; u = u->next)
		for (p = u->first; p != NULL; p = p->next)
			left += p->outcome != NULL;
	for (u = t->first; u != NULL; u = u->next)
		for (p = u->first; p != NULL; p = p->next) {
			if (p->outcome == NULL)
				continue;
			find_names(env, p->outcome, &lookups);
			if (write_text(env, t, p,
				left-- <= 2 ? RECALL_TEXT : RECALL_SHORT)) {
				(void)refuse(
				    why, P_SERVER, NULL, "out of memory");
				return (RUN_REFUSED);
			}
		}
	return (RUN_OK);
}
