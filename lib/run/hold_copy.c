#include "base/conf.h"
#include "base/hash.h"
#include "base/log.h"

#include "data/caller.h"
#include "data/file.h"
#include "data/file_held.h"
#include "io/blob.h"

#include "run/hold.h"
#include "run/hold_copy.h"

/* A copy being made. */
struct copy {
	struct blob *B;
	struct hash *h;
	uint64_t bytes;
};

static int
on_body(void *cookie, const void *p, size_t len)
{
	struct copy *c = cookie;

	hash_add(c->h, p, len);
	c->bytes += len;
	return (blob_write(c->B, p, len) == BLOB_OK ? 0 : -1);
}

static int
on_head(void *cookie, int64_t length)
{

	(void)cookie;
	(void)length;
	return (0);
}

/*
 * The row learns of the blob once that is whole; a crash in between leaves one
 * that no row knows, which the sweep removes.
 */
static int
keep(const struct run_env *env, const struct file *f, struct copy *c,
    const char *key)
{
	char sha256[HASH_SIZE];

	if (hash_hex(c->h, sha256)) {
		blob_abort(c->B);
		return (-1);
	}
	if (blob_commit(c->B) != BLOB_OK)
		return (-1);
	if (c->bytes > 0 &&
	    file_held_keep(env->db, f->row, key, c->bytes, sha256) == DATA_OK)
		return (0);
	(void)blob_remove(env->store, key);
	return (-1);
}

static int
copy(const struct run_env *env, const struct file *f)
{
	struct copy c = {0};
	char key[BLOB_KEYLEN + 1];

	if (blob_key(key) ||
	    blob_new(env->store, key, env->conf->files_max_bytes, &c.B) !=
		BLOB_OK)
		return (-1);
	if ((c.h = hash_new(HASH_SHA256)) != NULL &&
	    hold_fetch(env, f, on_head, on_body, &c) == HOLD_OK)
		return (keep(env, f, &c, key));
	hash_free(c.h);
	blob_abort(c.B);
	return (-1);
}

void
hold_copy(const struct run_env *env, const char *id)
{
	struct file f;

	if (file_find(env->db, env->mem, &env->caller->owner, id,
		env->caller->now, &f) != DATA_OK ||
	    copy(env, &f))
		log_warn("hold: the provider's file %s is not copied", id);
}

static enum data_rc
find(const struct run_env *env, const char *id, struct file *f)
{

	return (file_find(
	    env->db, env->mem, &env->caller->owner, id, env->caller->now, f));
}

enum data_rc
hold_find(const struct run_env *env, const char *id, struct file *f)
{
	enum data_rc rc = find(env, id, f);

	if (rc != DATA_OK || f->key != NULL || f->origin != FILE_PROVIDER)
		return (rc);
	hold_copy(env, id);
	rc = find(env, id, f);
	return (rc == DATA_OK && f->key == NULL ? DATA_NONE : rc);
}
