#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/conf.h"
#include "base/hash.h"
#include "base/log.h"

#include "data/caller.h"

#include "http/mediatype.h"
#include "http/place.h"

#include "io/blob.h"

#include "speech/refusal.h"

#include "run/exec.h"

#define PURPOSE "code_execution_output"

/* What becomes of one change that the run made. */
enum fate { KEEP, IGNORE, SKIP };

static struct exec_input *
find_input(const struct exec *x, const char *path)
{

	for (size_t i = 0; i < x->ninputs; i++)
		if (strcmp(x->input[i].place, path) == 0)
			return (&x->input[i]);
	return (NULL);
}

/* Caches and hidden files are nobody's result. */
static int
is_ignored(const char *path)
{
	static const char *const dirs[] = {"__pycache__/", "node_modules/"};

	for (const char *p = path; p != NULL; p = strchr(p, '/')) {
		p += *p == '/';
		if (*p == '.')
			return (1);
		for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
			if (strncmp(p, dirs[i], strlen(dirs[i])) == 0)
				return (1);
	}
	return (0);
}

static size_t
levels(const char *path)
{
	size_t n = 1;

	for (; *path != '\0'; path++)
		n += *path == '/';
	return (n);
}

static enum fate
skip(struct exec *x, const char *path, enum exec_skip reason)
{

	x->skipped[reason]++;
	if (x->nskipped < EXEC_SKIPPED_MAX)
		x->skipped_path[x->nskipped] = path;
	x->nskipped++;
	return (SKIP);
}

static enum fate
judge(struct exec *x, const struct sandbox_change *c)
{
	const struct conf *conf = x->env->conf;
	struct exec_input *in = find_input(x, c->path);

	if (in != NULL && in->o.read_only)
		return (IGNORE);
	if (c->state == SANDBOX_DELETED) {
		if (in != NULL)
			in->deleted = !x->ran.res.truncated;
		return (IGNORE);
	}
	if (in == NULL && is_ignored(c->path))
		return (IGNORE);
	if (levels(c->path) > PLACE_LEVELS)
		return (skip(x, c->path, EXEC_SKIP_DEPTH));
	if (in == NULL && !place_ok(c->path, strlen(c->path)))
		return (skip(x, c->path, EXEC_SKIP_NAME));
	if (c->bytes > conf->lc_output_max_bytes)
		return (skip(x, c->path, EXEC_SKIP_SIZE));
	if (x->noutputs == conf->lc_output_max_files)
		return (skip(x, c->path, EXEC_SKIP_COUNT));
	if (in != NULL)
		in->changed = 1;
	x->output[x->noutputs++] =
	    (struct exec_output){.place = c->path, .change = c, .from = in};
	return (KEEP);
}

/* A file on its way into the store. */
struct catch
{
	struct blob *blob;
	struct hash *hash;
	uint64_t bytes;
};

static int
sink(void *cookie, const void *p, size_t len)
{
	struct catch *c = cookie;

	hash_add(c->hash, p, len);
	c->bytes += len;
	return (blob_write(c->blob, p, len) == BLOB_OK ? 0 : -1);
}

/* Fetch the file ${out} into its durable blob.  SANDBOX_STOPPED: the store
 * would not have it. */
static enum sandbox_rc
fetch(struct exec *x, const struct exec_output *out, struct catch *c,
    char sha256[static HASH_SIZE])
{
	const uint64_t max = x->env->conf->lc_output_max_bytes;
	struct hash *h;
	enum sandbox_rc rc = SANDBOX_STOPPED;

	if ((c->hash = hash_new(HASH_SHA256)) == NULL)
		return (rc);
	if (blob_new(x->env->store, out->key, max, &c->blob) != BLOB_OK) {
		hash_free(c->hash);
		return (rc);
	}
	/* Nobody has to be asked for nothing. */
	rc = out->change->bytes == 0
	    ? SANDBOX_OK
	    : sandbox_get(
		  &x->room.sandbox, x->room.session, out->place, max, sink, c);
	h = c->hash;
	if (rc != SANDBOX_OK || hash_hex(h, sha256)) {
		if (rc != SANDBOX_OK)
			hash_free(h);
		blob_abort(c->blob);
		return (rc == SANDBOX_OK ? SANDBOX_STOPPED : rc);
	}
	return (blob_commit(c->blob) == BLOB_OK ? SANDBOX_OK : SANDBOX_STOPPED);
}

/* Does the changed file hold the ${bytes} bytes with that hash? */
static int
holds(const struct sandbox_change *c, uint64_t bytes, const char *sha256)
{

	return (c->bytes == bytes && sha256 != NULL &&
	    strlen(sha256) == HASH_SHA256_HEX &&
	    strcmp(c->sha256, sha256) == 0);
}

/* The blob of an input or an earlier output with the same bytes, or NULL. */
static const char *
known(const struct exec *x, const struct sandbox_change *c)
{
	size_t i;

	for (i = 0; i < x->ninputs; i++)
		if (holds(
			c, x->input[i].o.file.bytes, x->input[i].o.file.sha256))
			return (x->input[i].o.file.key);
	for (i = 0; i < x->noutputs; i++)
		if (x->output[i].made != NULL &&
		    holds(c, x->output[i].made->file.bytes,
			x->output[i].made->file.sha256))
			return (x->output[i].key);
	return (NULL);
}

/* As fetch(), but bytes that are in the store already are not stored again. */
static enum sandbox_rc
catch_bytes(struct exec *x, const struct exec_output *out, struct catch *c,
    char sha256[static HASH_SIZE])
{
	const char *twin = known(x, out->change);

	if (twin == NULL || blob_twin(x->env->store, out->key, twin) != BLOB_OK)
		return (fetch(x, out, c, sha256));
	c->bytes = out->change->bytes;
	memcpy(sha256, out->change->sha256, HASH_SIZE);
	return (SANDBOX_OK);
}

/* What lc_publish() is to be told of the caught file. */
static int
prepare(struct exec *x, struct exec_output *out, const struct catch *c,
    const char *sha256)
{
	const struct run_env *env = x->env;
	char type[MEDIATYPE_SIZE], *mime, *sha;
	struct lc_new *n = &x->made[x->nmade];

	mediatype_choose(NULL, 0, place_base(out->place), type);
	mime = arena_strndup(env->mem, type, strlen(type));
	sha = arena_strndup(env->mem, sha256, strlen(sha256));
	if (mime == NULL || sha == NULL)
		return (-1);
	*n = (struct lc_new){.row = out->row,
	    .place = out->place,
	    .file = {.name = place_base(out->place),
		.mime = mime,
		.purpose = PURPOSE,
		.sha256 = sha,
		.bytes = c->bytes,
		.lifetime_s = env->conf->files_retention_s,
		.origin = FILE_RUN,
		.quota = env->conf->files_quota_user_bytes}};
	out->made = n;
	x->nmade++;
	return (0);
}

/* Forget ${out}, and the bytes of it that there may be. */
static void
forget(struct exec *x, struct exec_output *out)
{

	if (blob_remove(x->env->store, out->key) == BLOB_OK)
		file_drop(x->env->db, out->row);
	out->made = NULL;
}

/* Store the bytes of one output.  RUN_OK also if that failed. */
static enum run_rc
catch_one(struct exec *x, struct exec_output *out)
{
	char sha256[HASH_SIZE];
	struct catch c = {0};
	enum sandbox_rc rc;

	rc = catch_bytes(x, out, &c, sha256);
	if (rc == SANDBOX_OK && prepare(x, out, &c, sha256) == 0)
		return (RUN_OK);
	if (rc == SANDBOX_GONE)
		return (RUN_GONE);
	log_err("exec: an output was not stored (sandbox %d)", (int)rc);
	x->failed++;
	forget(x, out);
	return (RUN_OK);
}

/* Forget all: the client has left, or there is no database. */
static void
undo(struct exec *x)
{

	for (size_t i = 0; i < x->noutputs; i++)
		forget(x, &x->output[i]);
	x->nmade = 0;
}

static enum run_rc
no_database(struct refusal *why)
{

	(void)refuse(why, P_DATABASE, NULL,
	    "The database is not available at the moment");
	return (RUN_REFUSED);
}

/* The rows of all outputs, before any of their bytes. */
static enum run_rc
begin(struct exec *x, struct refusal *why)
{
	const struct run_env *env = x->env;
	const size_t n = x->noutputs;
	const char **key = arena_alloc(env->mem, (n + 1) * sizeof(*key));
	uint64_t *row = arena_alloc(env->mem, (n + 1) * sizeof(*row));
	size_t i;

	for (i = 0; key != NULL && row != NULL && i < n; i++) {
		if (blob_key(x->output[i].key))
			break;
		key[i] = x->output[i].key;
	}
	if (key == NULL || row == NULL || i < n) {
		(void)refuse(why, P_SERVER, NULL, "Internal server error");
		return (RUN_REFUSED);
	}
	if (file_begin_all(env->db, &env->caller->owner, key, n,
		env->caller->now, row) != DATA_OK)
		return (no_database(why));
	for (i = 0; i < n; i++)
		x->output[i].row = row[i];
	return (RUN_OK);
}

static enum run_rc
publish(struct exec *x, struct refusal *why)
{
	const struct run_env *env = x->env;
	const struct lc_owner owner = {.kind = LC_USER,
	    .workspace = env->caller->owner.workspace,
	    .names = env->caller->names,
	    .user = env->caller->owner.user,
	    .resource = env->caller->user,
	    .version = ""};
	enum data_rc rc;

	if (x->nmade == 0)
		return (RUN_OK);
	rc = lc_publish(env->db, env->mem, &env->caller->owner, &owner,
	    x->session, env->conf->lc_retention_s, x->made, x->nmade);
	if (rc == DATA_OK)
		return (RUN_OK);
	if (rc != DATA_UNSURE)
		undo(x);
	if (rc == DATA_QUOTA) {
		x->failed = x->attempted;
		return (RUN_OK);
	}
	return (no_database(why));
}

enum run_rc
exec_keep(struct exec *x, struct refusal *why)
{
	const size_t most = x->env->conf->lc_output_max_files;
	enum run_rc rc;

	x->output = arena_alloc(x->env->mem, most * sizeof(*x->output));
	x->made = arena_alloc(x->env->mem, most * sizeof(*x->made));
	if (x->output == NULL || x->made == NULL) {
		(void)refuse(why, P_SERVER, NULL, "Internal server error");
		return (RUN_REFUSED);
	}
	for (size_t i = 0; i < x->ran.nchanges; i++)
		(void)judge(x, &x->ran.change[i]);
	if ((rc = begin(x, why)) != RUN_OK)
		return (rc);
	x->attempted = x->noutputs;
	for (size_t i = 0; i < x->noutputs && rc == RUN_OK; i++)
		rc = catch_one(x, &x->output[i]);
	if (rc != RUN_OK) {
		undo(x);
		return (rc);
	}
	return (publish(x, why));
}
