#include <string.h>

#include "base/arena.h"

#include "speech/outcome.h"

#include "run/tally.h"

void
tally_run(struct tally *T, const char *container, const struct outcome *o,
    uint64_t ms)
{
	const struct outcome_file *f;
	struct tally_run *x;

	if (T == NULL || (x = arena_alloc(T->mem, sizeof(*x))) == NULL)
		return;
	*x = (struct tally_run){.run = {.tool = our_rows[o->tool].name,
				    .ms = ms,
				    .has_code = o->kind == OUTCOME_RAN,
				    .code = o->code,
				    .error = outcome_error_name(o->kind)}};
	/* The rows are written when the request's own memory has gone. */
	if (container != NULL)
		x->run.container =
		    arena_strndup(T->mem, container, strlen(container));
	for (f = o->files; f != NULL; f = f->next) {
		x->run.files++;
		x->run.bytes += f->bytes;
	}
	T->runs++;
	T->priced += x->run.error == NULL;
	T->run_ms += ms;
	T->bytes += x->run.bytes;
	if (T->last != NULL)
		T->last->next = x;
	else
		T->first = x;
	T->last = x;
}
