#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/conf.h"

#include "data/caller.h"
#include "data/file.h"

#include "speech/refusal.h"
#include "speech/talk.h"

#include "run/hold.h"
#include "run/show.h"

#define TEXT_MAX (16U << 20) /* Of one part. */
#define SOUGHT_MAX 1000      /* Files that one conversation may name. */

/* A talk being settled. */
struct state {
	const struct run_env *env;
	const struct conf_provider *p;
	struct talk *t;
	struct refusal *why;
	uint64_t sent;   /* Bytes of base64 so far. */
	unsigned sought; /* Stored files looked up. */
};

static enum run_rc
no_memory(struct state *s)
{

	(void)refuse(s->why, P_SERVER, NULL, "out of memory");
	return (RUN_REFUSED);
}

/*
 * Let ${p} say these two, each on lines of its own, and then what it says: a
 * seeded file's marker stands after its content (executor contract, 7.1).
 */
static enum run_rc
add_text(struct state *s, struct part *p, struct text a, struct text b)
{
	struct buf all = BUF_INIT(TEXT_MAX);
	const struct text *const list[] = {&a, &b, &p->text};
	size_t i;
	int rc;

	for (i = 0; i < 3; i++) {
		if (list[i]->len == 0)
			continue;
		if (all.len > 0)
			buf_puts(&all, "\n");
		buf_put(&all, list[i]->p, list[i]->len);
	}
	rc = !buf_ok(&all) || talk_text(s->t, all.p, all.len, &p->text);
	buf_free(&all);
	return (rc ? no_memory(s) : RUN_OK);
}

/* Let ${p} say "[${what}${why}]". */
static enum run_rc
say_instead(struct state *s, struct part *p, const char *what, const char *why)
{
	static const struct text nothing = {"", 0};
	struct buf b = BUF_INIT(4096);
	enum run_rc rc;

	if (buf_printf(&b, "[%.2000s%s]", what, why))
		rc = no_memory(s);
	else
		rc = add_text(s, p, (struct text){b.p, b.len}, nothing);
	buf_free(&b);
	return (rc);
}

/* The result that shows an image says so itself where the model is blind: else
 * it would be taken for an empty one. */
static enum run_rc
tell_blind(struct state *s, struct part *result)
{
	static const struct text blind =
	    TEXT_LIT("[There is an image here.  This model cannot see images: "
		     "the setting \"vision\" of its provider is not true.]");
	const struct text said = result->text;

	if (said.len >= blind.len &&
	    memcmp(said.p + said.len - blind.len, blind.p, blind.len) == 0)
		return (RUN_OK);
	result->text = (struct text){"", 0};
	return (add_text(s, result, said, blind));
}

/* ---- One part */

/* Put what the model is given of ${d} into ${p}, where it is to see that. */
static enum run_rc
settle(struct state *s, struct part *p, const struct document *d, int see)
{
	struct shown shown;
	enum run_rc rc;

	rc = show_document(s->env, s->p, d, &shown, s->why);
	if (rc != RUN_OK)
		return (rc);
	/* What the user shows now; code can read what it has been given. */
	if (see && shown.absent && p->newest && !p->result &&
	    (p->kind == PART_MEDIA || s->t->ours == 0))
		return (show_refuse(d, p->where, s->why));
	if (shown.as == SHOWN_TEXT) {
		if (p->result != NULL && shown.said.len == 0 &&
		    show_is_image(d) && tell_blind(s, p->result) != RUN_OK)
			return (RUN_REFUSED);
		p->media->data = (struct text){NULL, 0};
		return (add_text(s, p, shown.head, shown.said));
	}
	s->sent += shown.data.len;
	if (s->sent > s->p->request_max) {
		(void)refuse(s->why, P_BAD_REQUEST, p->where,
		    "%s: the files together are larger than the request that "
		    "this model's provider takes",
		    p->where != NULL ? p->where : "messages");
		return (RUN_REFUSED);
	}
	p->media->image = shown.as == SHOWN_IMAGE;
	p->media->mime = shown.mime;
	p->media->name = d->name;
	p->media->data = shown.data;
	return (RUN_OK);
}

/* A file that came inside the request. */
static enum run_rc
settle_inline(struct state *s, struct part *p)
{
	struct document d;
	enum run_rc rc;

	rc = show_media(s->env, p->media, p->where, &d, s->why);
	return (rc == RUN_OK ? settle(s, p, &d, 1) : rc);
}

/* One that is somewhere else: forwarded where the model takes such a thing. */
static enum run_rc
settle_url(struct state *s, struct part *p)
{
	struct media *m = p->media;
	const int ability = m->image ? s->p->vision : s->p->pdf;
	char *url;

	if ((m->image || s->p->wire != WIRE_CHAT) && show_can(s->p, ability))
		return (RUN_OK);
	if (p->result != NULL && m->image && tell_blind(s, p->result) != RUN_OK)
		return (RUN_REFUSED);
	url = arena_strndup(s->env->mem, m->url.p, m->url.len);
	m->url = (struct text){NULL, 0};
	return (url == NULL ? no_memory(s)
			    : say_instead(s, p, url, ": is not fetched"));
}

/* The stored file is not there. */
static enum run_rc
lost(struct state *s, struct part *p)
{

	if (!p->newest)
		return (p->text.len > 0 ? RUN_OK
					: say_instead(s, p, "a file",
					      " that is no longer available"));
	(void)refuse(s->why, P_FILE_REFERENCE, p->where,
	    "%s: there is no file %.128s", p->where, p->id);
	return (RUN_REFUSED);
}

/* What was called an image must be one, and what was called a document not. */
static enum run_rc
settle_file(struct state *s, struct part *p, const struct file *f)
{
	const int see = p->media != NULL;
	struct document d;

	show_file(s->env, f, &d);
	if (p->media != NULL && p->media->image != show_is_image(&d)) {
		(void)refuse(s->why, P_BAD_REQUEST, p->where,
		    p->media->image ? "%s: the file \"%.200s\" is no image"
				    : "%s: the file \"%.200s\" is an image",
		    p->where, f->name);
		return (RUN_REFUSED);
	}
	if (p->media == NULL &&
	    (p->media = arena_alloc(s->env->mem, sizeof(*p->media))) == NULL)
		return (no_memory(s));
	return (settle(s, p, &d, see));
}

static enum run_rc
settle_stored(struct state *s, struct part *p)
{
	const struct run_env *env = s->env;
	char id[FILE_IDMAX + 1];
	struct file f;
	enum data_rc rc = DATA_NONE;

	if (s->sought++ == SOUGHT_MAX) {
		(void)refuse(s->why, P_BODY_TOO_LARGE, p->where,
		    "%s: there are more than %d files", p->where, SOUGHT_MAX);
		return (RUN_REFUSED);
	}
	if (file_id_parse(p->id, id) == 0)
		rc = hold_find(env, id, &f);
	if (rc == DATA_DOWN) {
		(void)refuse(s->why, P_DATABASE, NULL,
		    "The database is not available right now.");
		return (RUN_REFUSED);
	}
	if (rc != DATA_OK || f.key == NULL)
		return (lost(s, p));
	return (settle_file(s, p, &f));
}

static enum run_rc
settle_part(struct state *s, struct part *p)
{

	/* What only code is to have is not shown, where there is code. */
	if (p->kind == PART_FILE && (p->media != NULL || s->t->ours == 0))
		return (settle_stored(s, p));
	if (p->kind != PART_MEDIA)
		return (RUN_OK);
	return (
	    p->media->data.p != NULL ? settle_inline(s, p) : settle_url(s, p));
}

enum run_rc
show_talk(const struct run_env *env, const struct conf_provider *p,
    struct talk *t, struct refusal *why)
{
	struct state s = {env, p, t, why, 0, 0};
	struct turn *u;
	struct part *part;
	enum run_rc rc;

	for (u = t->first; u != NULL; u = u->next)
		for (part = u->first; part != NULL; part = part->next)
			if ((rc = settle_part(&s, part)) != RUN_OK)
				return (rc);
	return (RUN_OK);
}
