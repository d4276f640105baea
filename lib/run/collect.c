#include <string.h>

#include "base/arena.h"
#include "base/conf.h"
#include "base/hash.h"
#include "base/log.h"

#include "data/caller.h"
#include "data/container.h"
#include "data/file.h"

#include "http/mediatype.h"

#include "io/blob.h"

#include "speech/outcome.h"

#include "run/collect.h"

#define PURPOSE "code_execution_output"
#define ASKS 100 /* Besides those that can be kept. */

/* One file on its way. */
struct catch
{
	struct blob *blob;
	struct hash *hash;
	uint64_t bytes;
	enum blob_rc rc; /* Of the last write. */
};

enum caught { CAUGHT, CAUGHT_NOT, CAUGHT_TOO_BIG, CAUGHT_EMPTY, CAUGHT_GONE };

/* A file that is to be kept. */
struct wanted {
	const struct sandbox_file *of;
	char key[BLOB_KEYLEN + 1];
	char mime[MEDIATYPE_SIZE], sha256[HASH_SIZE];
	uint64_t row;
};

/* What is kept together, by one commit. */
struct batch {
	const struct run_env *env;
	const struct sandbox *sandbox;
	const char *session;
	struct outcome *o;
	uint64_t left;   /* Bytes that may still be kept, */
	uint64_t places; /* files too, */
	uint64_t asks;   /* and files of unknown size be asked for. */
	struct wanted *wanted;
	size_t n;       /* At most ${places}, */
	uint64_t known; /* with so many bytes, as far as that is known. */
	struct file_item *item; /* The same, once their bytes are here. */
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

/* Stream ${w}, of at most ${max} bytes, into its blob. */
static enum caught
fetch(const struct batch *b, struct wanted *w, uint64_t max, struct catch *c)
{
	enum sandbox_rc rc;

	if ((c->hash = hash_new(HASH_SHA256)) == NULL)
		return (CAUGHT_NOT);
	c->rc = blob_new(b->env->store, w->key, max, &c->blob);
	if (c->rc != BLOB_OK)
		return (CAUGHT_NOT);
	rc = sandbox_get(b->sandbox, b->session, w->of->path, max, sink, c);
	if (rc == SANDBOX_OK && c->bytes > 0)
		return (CAUGHT);
	blob_abort(c->blob);
	if (rc == SANDBOX_GONE)
		return (CAUGHT_GONE);
	if (rc == SANDBOX_TOO_BIG || c->rc == BLOB_TOO_BIG)
		return (CAUGHT_TOO_BIG);
	if (rc == SANDBOX_OK)
		return (CAUGHT_EMPTY);
	log_err("collect: an output was not stored (sandbox %d, store %d)",
	    (int)rc, (int)c->rc);
	return (CAUGHT_NOT);
}

/* Have the bytes of ${w} in the store, and set ${bytes} to how many. */
static enum caught
catch_bytes(const struct batch *b, struct wanted *w, uint64_t *bytes)
{
	struct catch c = {0};
	enum caught rc;
	int bad;

	rc = fetch(b, w, b->left, &c);
	*bytes = c.bytes;
	if (rc != CAUGHT) {
		hash_free(c.hash);
		return (rc);
	}
	bad = hash_hex(c.hash, w->sha256);
	if (bad)
		blob_abort(c.blob);
	else
		bad = blob_commit(c.blob) != BLOB_OK;
	return (bad ? CAUGHT_NOT : CAUGHT);
}

static void
describe(const struct batch *b, struct wanted *w, uint64_t bytes,
    struct file_item *item)
{
	const struct conf *c = b->env->conf;

	*item = (struct file_item){.row = w->row,
	    .new = {.name = base_name(w->of->path),
		.mime = w->mime,
		.purpose = PURPOSE,
		.sha256 = w->sha256,
		.bytes = bytes,
		.lifetime_s = c->files_retention_s,
		.origin = FILE_RUN,
		.quota = c->files_quota_user_bytes}};
	mediatype_choose(NULL, 0, item->new.name, w->mime);
}

static void
add_file(const struct batch *b, const struct wanted *w, const struct file *f)
{
	struct outcome *o = b->o;
	struct outcome_file *x;

	if ((x = arena_alloc(b->env->mem, sizeof(*x))) == NULL) {
		o->failed++;
		return;
	}
	x->id = f->id;
	x->path = w->of->path;
	x->bytes = f->bytes;
	*o->files_end = x;
	o->files_end = &x->next;
}

/* Forget ${w}, and the bytes of it that there may be. */
static void
forget(const struct batch *b, const struct wanted *w)
{

	if (blob_remove(b->env->store, w->key) == BLOB_OK)
		file_drop(b->env->db, w->row);
}

/* One by one: not all of them can be had. */
static void
publish_each(const struct batch *b, const struct wanted *w, size_t n)
{
	enum data_rc rc;
	size_t i;

	for (i = 0; i < n; i++) {
		rc = file_publish_all(b->env->db, b->env->mem,
		    &b->env->caller->owner, &b->item[i], 1);
		if (rc == DATA_OK) {
			add_file(b, &w[i], &b->item[i].made);
			continue;
		}
		b->o->failed++;
		if (rc != DATA_UNSURE) /* The row may be live. */
			forget(b, &w[i]);
	}
}

/* Make the first ${n} live, whose bytes are in the store. */
static void
publish(const struct batch *b, const struct wanted *w, size_t n)
{
	enum data_rc rc;
	size_t i;

	rc = file_publish_all(
	    b->env->db, b->env->mem, &b->env->caller->owner, b->item, n);
	if (rc == DATA_OK)
		for (i = 0; i < n; i++)
			add_file(b, &w[i], &b->item[i].made);
	else if (rc == DATA_UNSURE)
		b->o->failed += (unsigned int)n;
	else
		publish_each(b, w, n);
}

/* The rows of the batch, before any of its bytes. */
static int
begin(struct batch *b)
{
	const struct run_env *env = b->env;
	const char **key = arena_alloc(env->mem, (b->n + 1) * sizeof(*key));
	uint64_t *row = arena_alloc(env->mem, (b->n + 1) * sizeof(*row));
	size_t i;

	if (key == NULL || row == NULL)
		return (-1);
	for (i = 0; i < b->n; i++) {
		if (blob_key(b->wanted[i].key))
			return (-1);
		key[i] = b->wanted[i].key;
	}
	if (file_begin_all(env->db, &env->caller->owner, key, b->n,
		env->caller->now, row) != DATA_OK)
		return (-1);
	for (i = 0; i < b->n; i++)
		b->wanted[i].row = row[i];
	return (0);
}

/* Note why the bytes of ${w} are not here. */
static void
miss(const struct batch *b, const struct wanted *w, enum caught why)
{

	if (why == CAUGHT_TOO_BIG)
		b->o->over_bytes++;
	else if (why == CAUGHT_EMPTY)
		b->o->empty++;
	else
		b->o->failed++;
	forget(b, w);
}

/* Keep the batch. */
static enum run_rc
keep(struct batch *b)
{
	enum caught rc = CAUGHT;
	uint64_t bytes;
	size_t i, n = 0;

	if (b->n == 0)
		return (RUN_OK);
	if (begin(b)) {
		b->o->failed += (unsigned int)b->n;
		b->n = 0;
		b->known = 0;
		return (RUN_OK);
	}
	for (i = 0; i < b->n; i++) {
		/* After the client has left nothing more is asked for. */
		if (rc != CAUGHT_GONE)
			rc = catch_bytes(b, &b->wanted[i], &bytes);
		if (rc != CAUGHT) {
			miss(b, &b->wanted[i], rc);
			continue;
		}
		describe(b, &b->wanted[i], bytes, &b->item[n]);
		b->left -= bytes;
		if (n != i)
			b->wanted[n] = b->wanted[i];
		b->item[n].new.mime = b->wanted[n].mime;
		b->item[n].new.sha256 = b->wanted[n].sha256;
		n++;
	}
	b->n = 0;
	b->known = 0;
	if (rc == CAUGHT_GONE) {
		while (n > 0)
			forget(b, &b->wanted[--n]);
		return (RUN_GONE);
	}
	publish(b, b->wanted, n);
	b->places -= n;
	return (RUN_OK);
}

/* Put ${f} into the batch, if it can be kept. */
static void
consider(struct batch *b, const struct sandbox_file *f)
{
	const int known = f->bytes != SANDBOX_UNKNOWN;

	if (is_skipped(f->path))
		return;
	if (f->bytes == 0)
		b->o->empty++;
	else if (b->places == 0 || (!known && b->asks == 0))
		b->o->over_count++;
	else if (known && (f->bytes > b->left || b->known > b->left - f->bytes))
		b->o->over_bytes++;
	else {
		b->wanted[b->n++].of = f;
		if (known)
			b->known += f->bytes;
		else
			b->asks--;
	}
}

enum run_rc
collect(const struct run_env *env, const struct sandbox *s, const char *session,
    const struct sandbox_file *files, size_t n, struct outcome *o)
{
	const uint64_t places = env->conf->files_output_max_files;
	struct batch b = {.env = env,
	    .sandbox = s,
	    .session = session,
	    .o = o,
	    .left = env->conf->files_output_max_bytes,
	    .places = places,
	    .asks = places + ASKS};
	enum run_rc rc;
	size_t i;

	b.wanted = arena_alloc(env->mem, (places + 1) * sizeof(*b.wanted));
	b.item = arena_alloc(env->mem, (places + 1) * sizeof(*b.item));
	if (b.wanted == NULL || b.item == NULL) {
		o->failed += (unsigned int)n;
		return (RUN_OK);
	}
	for (i = 0; i < n; i++) {
		consider(&b, &files[i]);
		if (b.n < b.places)
			continue;
		if ((rc = keep(&b)) != RUN_OK)
			return (rc);
	}
	return (keep(&b));
}

struct container_put *
collect_puts(struct arena *mem, const struct outcome *o, size_t *n)
{
	const struct outcome_file *f;
	struct container_put *put;

	*n = 0;
	for (f = o->files; f != NULL; f = f->next)
		(*n)++;
	if ((put = arena_alloc(mem, (*n + 1) * sizeof(*put))) == NULL)
		return (NULL);
	*n = 0;
	for (f = o->files; f != NULL; f = f->next)
		put[(*n)++] = (struct container_put){f->id, f->path, 1};
	return (put);
}
