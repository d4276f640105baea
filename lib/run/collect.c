#include <string.h>

#include "base/arena.h"
#include "base/conf.h"
#include "base/hash.h"
#include "base/log.h"

#include "data/caller.h"
#include "data/file.h"

#include "http/mediatype.h"

#include "io/blob.h"

#include "speech/outcome.h"

#include "run/collect.h"

#define PURPOSE "code_execution_output"

/* One file on its way. */
struct catch
{
	struct blob *blob;
	struct hash *hash;
	uint64_t bytes;
	enum blob_rc rc; /* Of the last write. */
};

enum kept {
	KEPT,
	KEPT_NOT,
	KEPT_UNSURE, /* Nobody knows; the sweep will find out. */
	KEPT_TOO_BIG,
	KEPT_EMPTY,
	KEPT_GONE
};

static int
sink(void *cookie, const void *p, size_t len)
{
	struct catch *c = cookie;

	hash_add(c->hash, p, len);
	c->bytes += len;
	c->rc = blob_write(c->blob, p, len);
	return (c->rc == BLOB_OK ? 0 : -1);
}

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return (slash != NULL ? slash + 1 : path);
}

/* Caches and hidden files are nobody's result. */
static int
is_skipped(const char *path)
{
	const char *name = base_name(path), *p;
	size_t len = strlen(name);

	for (p = path; p != NULL; p = strchr(p, '/')) {
		p += *p == '/';
		if (*p == '.' || strncmp(p, "__pycache__/", 12) == 0)
			return (1);
	}
	return (len == 0 || (len > 4 && strcmp(name + len - 4, ".pyc") == 0));
}

/* Stream the file ${path} into the blob ${key}. */
static enum kept
fetch(const struct run_env *env, const struct sandbox *s, const char *session,
    const char *path, const char *key, uint64_t max, struct catch *c)
{
	enum sandbox_rc rc;

	if ((c->hash = hash_new(HASH_SHA256)) == NULL)
		return (KEPT_NOT);
	c->rc = blob_new(env->store, key, max, &c->blob);
	if (c->rc != BLOB_OK)
		return (KEPT_NOT);
	rc = sandbox_get(s, session, path, max, sink, c);
	if (rc == SANDBOX_OK && c->bytes > 0)
		return (KEPT);
	blob_abort(c->blob);
	if (rc == SANDBOX_GONE)
		return (KEPT_GONE);
	if (rc == SANDBOX_TOO_BIG || c->rc == BLOB_TOO_BIG)
		return (KEPT_TOO_BIG);
	if (rc == SANDBOX_OK)
		return (KEPT_EMPTY);
	log_err("collect: an output was not stored (sandbox %d, store %d)",
	    (int)rc, (int)c->rc);
	return (KEPT_NOT);
}

static int
publish(const struct run_env *env, uint64_t row, const char *path,
    const char *sha256, uint64_t bytes, struct file *f)
{
	char mime[MEDIATYPE_SIZE];
	struct file_new new = {.name = base_name(path),
	    .mime = mime,
	    .purpose = PURPOSE,
	    .sha256 = sha256,
	    .bytes = bytes,
	    .lifetime_s = env->conf->files_retention_s,
	    .origin = FILE_RUN,
	    .quota = env->conf->files_quota_user_bytes};

	mediatype_choose(NULL, 0, new.name, mime);
	switch (file_publish(
	    env->db, env->mem, &env->caller->owner, row, &new, f)) {
	case DATA_OK:
		return (0);
	case DATA_UNSURE:
		return (1); /* The row may be live: keep the bytes. */
	default:
		return (-1);
	}
}

static int
add_file(const struct run_env *env, const struct file *f, const char *path,
    struct outcome *o)
{
	struct outcome_file *x;

	if ((x = arena_alloc(env->mem, sizeof(*x))) == NULL)
		return (-1);
	x->id = f->id;
	x->path = path;
	x->bytes = f->bytes;
	*o->files_end = x;
	o->files_end = &x->next;
	return (0);
}

/* Commit the fetched bytes and make their row live. */
static enum kept
store(const struct run_env *env, uint64_t row, const char *key,
    const char *path, struct catch *c, struct outcome *o)
{
	char sha256[HASH_SIZE];
	struct file f;
	int rc;

	rc = hash_hex(c->hash, sha256);
	c->hash = NULL;
	if (rc) {
		blob_abort(c->blob);
		return (KEPT_NOT);
	}
	if (blob_commit(c->blob) != BLOB_OK)
		return (KEPT_NOT);
	rc = publish(env, row, path, sha256, c->bytes, &f);
	if (rc == 0)
		return (add_file(env, &f, path, o) ? KEPT_NOT : KEPT);
	if (rc > 0)
		return (KEPT_UNSURE);
	(void)blob_remove(env->store, key);
	return (KEPT_NOT);
}

/* Keep one file of at most ${max} bytes, and set ${bytes} to its size. */
static enum kept
keep(const struct run_env *env, const struct sandbox *s, const char *session,
    const char *path, uint64_t max, struct outcome *o, uint64_t *bytes)
{
	char key[BLOB_KEYLEN + 1];
	struct catch c = {0};
	enum kept kept;
	uint64_t row;

	if (blob_key(key) ||
	    file_begin(env->db, &env->caller->owner, key, env->caller->now,
		&row) != DATA_OK)
		return (KEPT_NOT);
	kept = fetch(env, s, session, path, key, max, &c);
	*bytes = c.bytes;
	if (kept == KEPT)
		kept = store(env, row, key, path, &c, o);
	hash_free(c.hash);
	if (kept != KEPT && kept != KEPT_UNSURE)
		file_drop(env->db, row);
	return (kept);
}

enum run_rc
collect(const struct run_env *env, const struct sandbox *s, const char *session,
    const char *const *paths, size_t n, struct outcome *o)
{
	uint64_t left = env->conf->files_output_max_bytes, bytes;
	uint64_t places = env->conf->files_output_max_files;
	size_t i;

	for (i = 0; i < n; i++) {
		if (is_skipped(paths[i]))
			continue;
		if (places == 0) {
			o->over_count++;
			continue;
		}
		switch (keep(env, s, session, paths[i], left, o, &bytes)) {
		case KEPT:
			left -= bytes;
			places--;
			break;
		case KEPT_NOT:
		case KEPT_UNSURE:
			o->failed++;
			break;
		case KEPT_TOO_BIG:
			o->over_bytes++;
			break;
		case KEPT_EMPTY:
			o->empty++;
			break;
		case KEPT_GONE:
			return (RUN_GONE);
		}
	}
	return (RUN_OK);
}
