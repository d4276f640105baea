#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/conf.h"
#include "base/log.h"
#include "base/nfc.h"
#include "base/path.h"
#include "base/utf8.h"

#include "data/caller.h"

#include "io/blob.h"

#include "speech/refusal.h"
#include "speech/talk.h"

#include "run/hold.h"
#include "run/seed.h"

#define SPARE 16777216 /* Of a large workspace, for what runs write... */
#define SPARE_PART 4   /* ...and the part of a small one. */
#define MARKER_MAX 4096
#define SOUGHT_MAX 1000 /* References that one conversation may hold. */

static enum run_rc
no_memory(struct refusal *why)
{

	(void)refuse(why, P_SERVER, NULL, "out of memory");
	return (RUN_REFUSED);
}

static int
set_marker(struct talk *t, struct part *p, struct buf *b)
{
	struct buf clean = BUF_INIT(3 * MARKER_MAX);
	size_t i;
	int rc = -1;

	/* One line of clean text, whatever the file is called. */
	for (i = 0; i < b->len; i++)
		if ((unsigned char)b->p[i] < 0x20)
			b->p[i] = ' ';
	if (buf_ok(b) && utf8_scrub(&clean, b->p, b->len) == 0)
		rc = talk_text(t, clean.p, clean.len, &p->text);
	buf_free(&clean);
	return (rc);
}

static int
mark_seeded(struct talk *t, struct part *p, const struct seed *s)
{
	struct buf b = BUF_INIT(MARKER_MAX);
	int rc;

	buf_printf(&b,
	    "[file /mnt/data/%s - uploaded as \"%s\", %s, %" PRIu64 " bytes]",
	    s->name, s->file.name, s->file.mime, s->file.bytes);
	rc = set_marker(t, p, &b);
	buf_free(&b);
	return (rc);
}

/* It lies where an earlier request put it. */
static int
mark_held(struct talk *t, struct part *p, const struct container_file *h)
{
	struct buf b = BUF_INIT(MARKER_MAX);
	int rc;

	buf_printf(&b, "[file /mnt/data/%s", h->path);
	if (h->rc == DATA_OK)
		buf_printf(&b, " - uploaded as \"%s\", %s, %" PRIu64 " bytes",
		    h->file.name, h->file.mime, h->file.bytes);
	buf_puts(&b, "]");
	rc = set_marker(t, p, &b);
	buf_free(&b);
	return (rc);
}

static int
mark_lost(struct talk *t, struct part *p, const char *name)
{
	struct buf b = BUF_INIT(MARKER_MAX);
	int rc;

	buf_printf(&b, "[file \"%.256s\" is no longer available]", name);
	rc = set_marker(t, p, &b);
	buf_free(&b);
	return (rc);
}

static int
is_taken(void *cookie, const char *name)
{
	const struct seeds *all = cookie;
	const struct seed *s;
	size_t i;

	for (s = all->first; s != NULL; s = s->next)
		if (strcmp(s->name, name) == 0)
			return (1);
	for (i = 0; i < all->nheld; i++)
		if (strcmp(all->held[i].path, name) == 0)
			return (1);
	for (i = 0; i < all->nthere; i++)
		if (strcmp(all->there[i].path, name) == 0)
			return (1);
	return (0);
}

/* Names are compared in one normal form, so they are kept in it. */
const char *
seed_name(struct arena *mem, struct seeds *seeds, const char *shown)
{
	char name[PATH_NAME_SIZE], unique[PATH_NAME_SIZE];
	struct buf b = BUF_INIT(PATH_NAME_MAX * 16);
	const char *s = NULL;

	if (nfc_put(&b, shown, strlen(shown)) == 0) {
		path_name(b.len > 0 ? b.p : "", name);
		if (path_unique(name, is_taken, seeds, unique) == 0)
			s = arena_strndup(mem, unique, strlen(unique));
	}
	buf_free(&b);
	return (s);
}

static struct seed *
find_seed(const struct seeds *seeds, const char *id)
{
	struct seed *s;

	for (s = seeds->first; s != NULL; s = s->next)
		if (strcmp(s->file.id, id) == 0)
			return (s);
	return (NULL);
}

const struct container_file *
seed_held(const struct seeds *seeds, const char *id)
{
	size_t i;

	for (i = 0; i < seeds->nheld; i++)
		if (strcmp(seeds->held[i].id, id) == 0)
			return (&seeds->held[i]);
	return (NULL);
}

static enum run_rc
too_many(const struct part *p, struct refusal *why)
{

	(void)refuse(why, P_BODY_TOO_LARGE, p->where,
	    "%s: there are more than %d files", p->where, SOUGHT_MAX);
	refuse_code(why, "seed_too_large");
	return (RUN_REFUSED);
}

uint64_t
seed_budget(const struct conf *c)
{
	const uint64_t all = c->sandbox_workspace, part = all / SPARE_PART;

	return (all - (part < SPARE ? part : SPARE));
}

static enum run_rc
add_seed(const struct run_env *env, struct talk *t, struct part *p,
    struct seeds *seeds, const struct file *f, struct refusal *why)
{
	const uint64_t budget = seed_budget(env->conf);
	struct seed *s;

	if (f->bytes > budget || seeds->bytes > budget - f->bytes) {
		(void)refuse(why, P_BODY_TOO_LARGE, p->where,
		    "%s: the files together are larger than the %" PRIu64
		    " bytes that the sandbox takes",
		    p->where, budget);
		refuse_code(why, "seed_too_large");
		return (RUN_REFUSED);
	}
	if ((s = arena_alloc(env->mem, sizeof(*s))) == NULL)
		return (no_memory(why));
	s->file = *f;
	if ((s->name = seed_name(env->mem, seeds, f->name)) == NULL ||
	    mark_seeded(t, p, s))
		return (no_memory(why));
	seeds->bytes += f->bytes;
	*seeds->end = s;
	seeds->end = &s->next;
	return (RUN_OK);
}

/* The file of ${p} is not there: fatal only where the user names it now. */
static enum run_rc
lost_seed(struct talk *t, struct part *p, enum data_rc rc, const struct file *f,
    struct refusal *why)
{

	if (!p->newest) {
		if (mark_lost(t, p, rc == DATA_EXPIRED ? f->name : p->id))
			return (no_memory(why));
		return (RUN_OK);
	}
	(void)refuse(why, P_FILE_REFERENCE, p->where,
	    rc == DATA_EXPIRED ? "%s: the file %.128s has expired"
			       : "%s: there is no file %.128s",
	    p->where, p->id);
	return (RUN_REFUSED);
}

static enum run_rc
resolve(const struct run_env *env, struct talk *t, struct part *p,
    struct seeds *seeds, struct refusal *why)
{
	const struct container_file *h;
	char id[FILE_IDMAX + 1];
	struct file f;
	struct seed *s;
	enum data_rc rc;

	if (file_id_parse(p->id, id))
		return (lost_seed(t, p, DATA_NONE, NULL, why));
	if ((h = seed_held(seeds, id)) != NULL &&
	    (h->rc == DATA_OK || !p->newest))
		return (mark_held(t, p, h) ? no_memory(why) : RUN_OK);
	if ((s = find_seed(seeds, id)) != NULL)
		return (mark_seeded(t, p, s) ? no_memory(why) : RUN_OK);
	if (seeds->sought++ == SOUGHT_MAX)
		return (too_many(p, why));
	rc = hold_find(env, id, &f);
	switch (rc) {
	case DATA_OK:
		if (f.key == NULL)
			return (lost_seed(t, p, DATA_NONE, NULL, why));
		return (add_seed(env, t, p, seeds, &f, why));
	case DATA_NONE:
	case DATA_EXPIRED:
		return (lost_seed(t, p, rc, &f, why));
	case DATA_DOWN:
		(void)refuse(why, P_DATABASE, NULL,
		    "The database is not available right now.");
		return (RUN_REFUSED);
	default:
		(void)refuse(
		    why, P_SERVER, NULL, "An internal error occurred.");
		return (RUN_REFUSED);
	}
}

enum run_rc
seed_resolve(const struct run_env *env, struct talk *t, struct seeds *seeds,
    struct refusal *why)
{
	struct turn *u;
	struct part *p;
	enum run_rc rc;

	for (u = t->first; u != NULL; u = u->next)
		for (p = u->first; p != NULL; p = p->next)
			if (p->kind == PART_FILE &&
			    (rc = resolve(env, t, p, seeds, why)) != RUN_OK)
				return (rc);
	return (RUN_OK);
}

static ssize_t
read_blob(void *cookie, uint64_t off, void *buf, size_t len)
{

	return (pread(*(int *)cookie, buf, len, (off_t)off));
}

static enum run_rc
refuse_blob(enum blob_rc rc, const struct file *f, struct refusal *why)
{

	if (rc == BLOB_AWAY)
		(void)refuse(why, P_STORE, NULL,
		    "The file store is not available right now.");
	else {
		log_err("seed: the bytes of file %s are missing", f->id);
		(void)refuse(why, P_CONTENT_MISSING, NULL,
		    "The content of the file \"%.200s\" is missing.", f->name);
	}
	return (RUN_REFUSED);
}

enum run_rc
seed_put(const struct run_env *env, const struct sandbox *sb,
    const char *session, const struct file *f, const char *path,
    struct refusal *why)
{
	enum sandbox_rc rc;
	enum blob_rc brc;
	uint64_t bytes;
	int fd;

	brc = blob_open(env->store, f->key, &bytes, &fd);
	if (brc != BLOB_OK)
		return (refuse_blob(brc, f, why));
	rc = sandbox_put(sb, session, path, read_blob, &fd, bytes);
	close(fd);
	switch (rc) {
	case SANDBOX_OK:
		return (RUN_OK);
	case SANDBOX_GONE:
		return (RUN_GONE);
	case SANDBOX_TOO_BIG:
		(void)refuse(why, P_BODY_TOO_LARGE, NULL,
		    "The file \"%.200s\" is too large for the sandbox.",
		    f->name);
		return (RUN_REFUSED);
	default:
		(void)refuse(why, P_SANDBOX, NULL,
		    "The code sandbox cannot take work right now.");
		return (RUN_REFUSED);
	}
}
