#include "base/arena.h"
#include "base/base64.h"

#include "data/caller.h"
#include "data/file.h"

#include "speech/outcome.h"

#include "run/document.h"
#include "run/picture.h"
#include "run/show.h"

static void
load(
    const struct run_env *env, const struct document *d, struct outcome_file *x)
{
	const unsigned char *p = document_bytes(env, d);
	size_t len = BASE64_SIZE((size_t)d->bytes);
	char *s;

	if (p == NULL || (s = arena_alloc(env->mem, len)) == NULL)
		return;
	base64_encode(p, (size_t)d->bytes, s);
	x->data = (struct text){s, len - 1};
}

void
picture_load(const struct run_env *env, struct outcome *o, uint64_t *left)
{
	struct outcome_file *x;
	struct document d;
	struct file f;

	for (x = o->files; x != NULL; x = x->next) {
		if (file_find(env->db, env->mem, &env->caller->owner, x->id,
			env->caller->now, &f) != DATA_OK ||
		    f.key == NULL)
			continue;
		show_file(env, &f, &d);
		if (!show_is_image(&d))
			continue;
		x->image = f.mime;
		if (d.bytes > PICTURE_MAX || d.bytes > *left)
			continue;
		*left -= d.bytes;
		load(env, &d, x);
	}
}
