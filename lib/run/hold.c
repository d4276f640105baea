#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/conf.h"
#include "base/log.h"
#include "base/path.h"
#include "base/utf8.h"

#include "data/caller.h"
#include "data/file.h"
#include "data/file_held.h"
#include "http/mediatype.h"
#include "http/sse.h"
#include "speech/held.h"
#include "speech/pick.h"

#include "run/hold.h"
#include "run/hold_copy.h"

#define FILES_MAX 200        /* Noticed in one reply. */
#define TEXT_MAX (32U << 20) /* Of a JSON reply that is looked through. */
#define MEM_MAX (1U << 20)
#define DEPTH 128
#define CONTAINER_S 1200 /* OpenAI's containers live on for so long. */

struct hold {
	const struct conf_provider *p;
	struct arena *mem;
	struct sse *sse; /* NULL: one JSON text... */
	struct buf text; /* ...which is kept here. */
	int blind;       /* It cannot be read any further. */
	struct file_held *list;
	size_t n;
};

struct hold *
hold_new(const struct conf_provider *p, int stream)
{
	struct hold *H;

	if ((H = calloc(1, sizeof(*H))) == NULL)
		goto err0;
	H->p = p;
	H->text = (struct buf)BUF_INIT(TEXT_MAX);
	if ((H->mem = arena_new(MEM_MAX)) == NULL ||
	    (H->list = arena_alloc(H->mem, FILES_MAX * sizeof(*H->list))) ==
		NULL ||
	    (stream && (H->sse = sse_new()) == NULL))
		goto err1;

	/* Success! */
	return (H);

err1:
	hold_free(H);
err0:
	/* Failure! */
	return (NULL);
}

void
hold_free(struct hold *H)
{

	if (H == NULL)
		return;
	sse_free(H->sse);
	buf_free(&H->text);
	arena_free(H->mem);
	free(H);
}

/* ---- What the reply names */

static int
is_id(const char *s)
{
	char id[FILE_IDMAX + 1];

	return (s != NULL && file_id_parse(s, id) == 0);
}

static int
has(const struct hold *H, const char *id)
{
	size_t i;

	for (i = 0; i < H->n; i++)
		if (strcmp(H->list[i].id, id) == 0)
			return (1);
	return (0);
}

/* The name as it may be shown; without one the id serves. */
static const char *
name_of(struct hold *H, struct jspan said, const char *id)
{
	char name[PATH_NAME_SIZE];
	const char *s = pick_str(H->mem, said);

	if (s == NULL || *s == '\0' || !utf8_valid(s, strlen(s)))
		return (id);
	path_name(s, name);
	return (arena_strndup(H->mem, name, strlen(name)));
}

static int
notice(void *cookie, const struct held *h)
{
	struct hold *H = cookie;
	const int openai = pick_is(h->container, '"');
	char mime[MEDIATYPE_SIZE];
	struct file_held f = {.id = pick_str(H->mem, h->id),
	    .vendor = openai ? "openai" : "anthropic",
	    .provider = H->p->name,
	    .lifetime_s = openai ? CONTAINER_S : 0};

	if (!is_id(f.id) || has(H, f.id))
		return (0);
	if (openai && !is_id(f.container = pick_str(H->mem, h->container)))
		return (0);
	if (H->n == FILES_MAX || (f.name = name_of(H, h->name, f.id)) == NULL)
		return (-1);
	mediatype_choose(NULL, 0, f.name, mime);
	if ((f.mime = arena_strndup(H->mem, mime, strlen(mime))) == NULL)
		return (-1);
	H->list[H->n++] = f;
	return (0);
}

static void
look(struct hold *H, const char *p, size_t len)
{
	struct jspan_info info;

	if (held_may(p, len) && jspan_check(p, len, DEPTH, &info) == JSPAN_OK &&
	    held_each(info.root, notice, H))
		H->blind = 1;
}

void
hold_see(struct hold *H, const void *p, size_t len)
{
	struct sse_event ev;
	const char *s = p;
	enum sse_rc rc;

	if (H->blind)
		return;
	if (H->sse == NULL) {
		H->blind = buf_put(&H->text, p, len) != 0;
		return;
	}
	while ((rc = sse_next(H->sse, &s, &len, &ev)) == SSE_EVENT)
		look(H, ev.data, ev.len);
	if (rc != SSE_MORE)
		H->blind = 1;
}

void
hold_record(struct hold *H, const struct run_env *env)
{
	struct file_held *f;
	enum data_rc rc;
	uint64_t row;

	if (H->sse == NULL && buf_ok(&H->text) && H->text.len > 0)
		look(H, H->text.p, H->text.len);
	for (f = H->list; f < H->list + H->n; f++) {
		if (f->container == NULL)
			f->lifetime_s = env->conf->files_retention_s;
		rc = file_held_record(
		    env->db, &env->caller->owner, f, env->caller->now, &row);
		if (rc == DATA_OK && strcmp(f->name, f->id) == 0)
			hold_name(env, H->p, f, row);
		if (rc == DATA_OK && env->conf->provider_copy)
			hold_copy(env, f->id);
		else if (rc != DATA_OK && rc != DATA_TAKEN)
			log_warn("hold: the provider's file %s is not recorded",
			    f->id);
	}
}
