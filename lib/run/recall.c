#include "base/buf.h"
#include "base/conf.h"

#include "data/caller.h"
#include "data/file.h"

#include "speech/outcome.h"
#include "speech/refusal.h"
#include "speech/talk.h"

#include "run/recall.h"

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

enum run_rc
recall_results(const struct run_env *env, struct talk *t, struct refusal *why)
{
	unsigned int lookups = LOOKUPS, left = 0;
	struct turn *u;
	struct part *p;

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
