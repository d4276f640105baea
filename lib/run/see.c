#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/base64.h"
#include "base/buf.h"
#include "base/conf.h"

#include "data/caller.h"
#include "data/document.h"

#include "speech/refusal.h"
#include "speech/talk.h"

#include "run/ask.h"
#include "run/catalog.h"
#include "run/see.h"

#define SAID_MAX 65536
#define TOKENS 1500
#define PROMPT                                                               \
	"Describe this image for somebody who cannot see it: what it shows," \
	" all text in it word for word, and the numbers of a chart or table."

/* Keep what the model says; the rest is nothing to us. */
static int
take(void *cookie, const struct event *ev)
{
	struct buf *b = cookie;

	if (ev->kind != EVENT_TEXT || b->len + ev->text.len > b->max)
		return (0);
	return (buf_put(b, ev->text.p, ev->text.len));
}

/* A talk that asks about the image; NULL if memory ran out. */
static struct talk *
question(const struct run_env *env, const struct document *d, const char *mime)
{
	static const struct text prompt = TEXT_LIT(PROMPT);
	struct talk *t = talk_new(env->mem);
	const unsigned char *p = document_bytes(env, d);
	size_t len = BASE64_SIZE((size_t)d->bytes);
	struct part *part;
	char *data;

	if (t == NULL || p == NULL ||
	    (part = talk_media(t, TALK_USER, NULL)) == NULL ||
	    (data = arena_alloc(env->mem, len)) == NULL)
		return (NULL);
	base64_encode(p, (size_t)d->bytes, data);
	part->media->image = 1;
	part->media->mime = mime;
	part->media->data = (struct text){data, len - 1};
	t->model = env->conf->vision_model;
	if ((part = talk_add(t, TALK_USER, PART_TEXT)) == NULL)
		return (NULL);
	part->text = prompt;
	return (t);
}

static enum document_rc
ask_model(const struct run_env *env, const struct document *d, const char *mime,
    struct text *said)
{
	struct round r = {.max_tokens = TOKENS};
	struct buf b = BUF_INIT(SAID_MAX);
	const struct ask_sink sink = {take, NULL, &b};
	enum document_rc rc = DOCUMENT_FAILED;
	struct refusal why = {0};
	struct talk *t;
	enum run_rc rrc;

	r.provider =
	    catalog_choose(env->conf, env->conf->vision_model, &r.model);
	if (r.provider == NULL || (t = question(env, d, mime)) == NULL)
		return (DOCUMENT_FAILED);
	rrc = ask_round(env, r.provider, t, &r,
	    env->conf->documents_timeout_s * 1000, &sink, &why);
	if (rrc == RUN_GONE)
		rc = DOCUMENT_GONE;
	else if (rrc == RUN_OK && b.len > 0 &&
	    memchr(b.p, '\0', b.len) == NULL &&
	    (said->p = arena_strndup(env->mem, b.p, b.len)) != NULL) {
		said->len = b.len;
		rc = DOCUMENT_OK;
	}
	buf_free(&b);
	return (rc);
}

/* Under what is kept what the model says of ${d}, asked in this ${way}. */
static int
key_of(const struct run_env *env, const struct document *d, const char *how,
    struct document_key *key)
{
	char way[2048];
	int n;

	key->workspace = env->caller->owner.workspace;
	memcpy(key->sha256, d->sha256, sizeof(key->sha256));
	n = snprintf(way, sizeof(way), "1 %s %s %s", how,
	    env->conf->vision_model, PROMPT);
	return (n < 0 || (size_t)n >= sizeof(way) ||
	    hash_sha256(way, (size_t)n, key->way));
}

/* What was kept; DOCUMENT_UNKNOWN if nothing was. */
static enum document_rc
find_kept(const struct run_env *env, const struct document_key *key,
    struct text *said)
{

	if (document_find(env->db, env->mem, key, &said->p) != DATA_OK)
		return (DOCUMENT_UNKNOWN);
	said->len = strlen(said->p);
	return (said->len > 0 ? DOCUMENT_OK : DOCUMENT_EMPTY);
}

enum document_rc
see_image(const struct run_env *env, const struct document *d, const char *mime,
    struct text *said)
{
	struct document_key key;
	enum document_rc rc;

	if (env->conf->vision_model == NULL)
		return (DOCUMENT_UNKNOWN);
	if (key_of(env, d, "image", &key))
		return (DOCUMENT_FAILED);
	if ((rc = find_kept(env, &key, said)) != DOCUMENT_UNKNOWN)
		return (rc);
	if ((rc = ask_model(env, d, mime, said)) == DOCUMENT_OK)
		(void)document_keep(env->db, &key, said->p, env->caller->now);
	return (rc);
}

/* Pages that are being looked at. */
struct pages {
	const struct run_env *env;
	struct buf all;
	unsigned int n;
};

static enum document_rc
see_page(void *cookie, const struct document *d)
{
	struct pages *k = cookie;
	enum document_rc rc;
	struct text said;

	if ((rc = ask_model(k->env, d, d->mime, &said)) != DOCUMENT_OK)
		return (rc);
	buf_printf(&k->all, "%s[page %u]\n", k->n > 0 ? "\n" : "", k->n + 1);
	k->n++;
	return (
	    buf_put(&k->all, said.p, said.len) ? DOCUMENT_FAILED : DOCUMENT_OK);
}

enum document_rc
see_pages(const struct run_env *env, const struct document *d,
    struct text *said, struct refusal *why)
{
	struct pages k = {.env = env, .all = BUF_INIT(16 * SAID_MAX)};
	struct document_key key;
	enum document_rc rc;

	if (env->conf->vision_model == NULL)
		return (DOCUMENT_UNKNOWN);
	if (key_of(env, d, "pages", &key))
		return (DOCUMENT_FAILED);
	if ((rc = find_kept(env, &key, said)) != DOCUMENT_UNKNOWN)
		return (rc);
	rc = document_pages(env, d, see_page, &k, why);
	if (rc == DOCUMENT_OK) {
		said->len = k.all.len;
		said->p = arena_strndup(env->mem, k.all.p, k.all.len);
		if (said->p == NULL)
			rc = DOCUMENT_FAILED;
	}
	if (rc == DOCUMENT_OK || rc == DOCUMENT_EMPTY)
		(void)document_keep(env->db, &key,
		    rc == DOCUMENT_OK ? said->p : "", env->caller->now);
	buf_free(&k.all);
	return (rc);
}
