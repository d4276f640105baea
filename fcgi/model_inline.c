#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/conf.h"

#include "data/caller.h"
#include "data/file.h"
#include "data/file_held.h"
#include "run/hold.h"
#include "run/show.h"
#include "speech/media.h"
#include "speech/pick.h"
#include "speech/stored.h"
#include "speech/talk.h"

#include "fcgi/io.h"
#include "fcgi/model.h"
#include "fcgi/model_inline.h"
#include "fcgi/req.h"

#define EDITS_MAX 4096
#define FILES_MAX 1000 /* That one request may name. */
#define GONE 1
#define KEPT 2 /* It is the provider's, which knows it by this id. */

/* ---- Edits */

int
edits_add(struct model_req *m, struct edits *e, struct jspan at,
    const char *text, size_t len)
{
	char *copy;

	if (e->list == NULL)
		e->list = arena_alloc(m->mem, EDITS_MAX * sizeof(*e->list));
	if (e->n == EDITS_MAX)
		return (refuse(&m->why, P_BODY_TOO_LARGE, NULL,
		    "The request names too many files"));
	if (e->list == NULL ||
	    (copy = arena_strndup(m->mem, text, len)) == NULL)
		return (refuse(&m->why, P_SERVER, NULL, "out of memory"));
	e->list[e->n++] = (struct jspan_edit){at, {copy, len}};
	e->added += len;
	return (0);
}

static int
by_place(const void *a, const void *b)
{
	const struct jspan_edit *x = a, *y = b;

	if (x->at.p != y->at.p)
		return (x->at.p < y->at.p ? -1 : 1);
	return ((x->at.len > y->at.len) - (x->at.len < y->at.len));
}

void
edits_sort(struct edits *e)
{

	const char *end = NULL;
	size_t i, n = 0;

	if (e->n > 1)
		qsort(e->list, e->n, sizeof(*e->list), by_place);
	for (i = 0; i < e->n; i++) {
		if (n > 0 && e->list[i].at.p < end)
			continue; /* It goes with the block it lies in. */
		end = e->list[i].at.p + e->list[i].at.len;
		e->list[n++] = e->list[i];
	}
	e->n = n;
}

/* ---- Files */

/* A request being looked through. */
struct looking {
	struct model_req *m;
	struct run_env env;
	struct edits *edits;
	const char *newest; /* Where the user's newest turn begins. */
	size_t nfiles;
	size_t nreplaced; /* Edits that were there before. */
};

/* Put what ${put} wrote in its place. */
static int
replace(struct looking *l, struct buf *b, struct jspan at)
{
	struct model_req *m = l->m;

	if (edits_add(m, l->edits, at, b->p, b->len))
		return (-1);
	if (m->text.len + l->edits->added <= m->provider->request_max)
		return (0);
	return (refuse(&m->why, P_BAD_REQUEST, NULL,
	    "The files together are larger than the request that the "
	    "provider of '%.200s' takes",
	    m->peek.model));
}

/* What ${rc}, of a look for a row, comes to. */
static int
found(struct looking *l, enum data_rc rc)
{

	switch (rc) {
	case DATA_OK:
		return (0);
	case DATA_NONE:
	case DATA_EXPIRED:
		return (GONE);
	default:
		return (model_data(l->m, rc));
	}
}

/* Has this provider the caller's file ${f}, so that its id means something
 * there? */
static int
is_there(struct looking *l, const struct file *f)
{
	struct file_held h;
	int rc;

	if (f->origin != FILE_PROVIDER)
		return (0);
	rc = found(l, file_held_find(l->env.db, l->env.mem, f->row, &h));
	if (rc != 0)
		return (rc == GONE ? 0 : -1);
	return (h.container == NULL &&
	    strcmp(h.provider, l->m->provider->name) == 0);
}

/* Find the caller's file that ${s} names.  Return 0, KEPT, GONE or -1. */
static int
find(struct looking *l, const struct stored *s, struct file *f)
{
	struct model_req *m = l->m;
	int rc;

	if (s->id[0] == '\0')
		return (GONE);
	rc = found(l,
	    file_find(m->r->srv->db, m->mem, &m->r->caller.owner, s->id,
		m->r->caller.now, f));
	if (rc != 0)
		return (rc);
	if ((rc = is_there(l, f)) != 0)
		return (rc > 0 ? KEPT : -1);
	if (f->key == NULL &&
	    (rc = found(l, hold_find(&l->env, s->id, f))) != 0)
		return (rc);
	return (f->key != NULL ? 0 : GONE);
}

/* It is not there: fatal only where the user names it now. */
static int
lost(struct looking *l, const struct stored *s)
{
	static const char said[] = "[a file that is no longer available]";
	struct buf b = BUF_INIT(1024);
	struct jspan at;
	int rc;

	if (s->block.p >= l->newest || s->form == STORED_OTHER)
		return (refuse(&l->m->why, P_FILE_REFERENCE, s->where,
		    "%s: there is no such file", s->where));
	rc = stored_put_text(s, said, &b, &at) ? -1 : replace(l, &b, at);
	buf_free(&b);
	return (rc);
}

/* Has the user shown it now, and nothing here can tell what it says? */
static int
is_asked(const struct looking *l, const struct stored *s, const struct shown *x)
{

	return (x->absent && !s->result && s->form != STORED_UPLOAD &&
	    s->block.p >= l->newest);
}

static int
inline_file(struct looking *l, const struct stored *s, const struct file *f)
{
	struct model_req *m = l->m;
	struct buf b = BUF_INIT(SIZE_MAX / 2);
	struct document d;
	struct shown x;
	struct jspan at;
	int rc;

	show_file(&l->env, f, &d);
	if (s->form == STORED_OTHER)
		return (refuse(&m->why, P_BAD_REQUEST, s->where,
		    "%s: this gateway's files cannot be given to the code of "
		    "this model's provider",
		    s->where));
	if (!stored_fits(s, show_is_image(&d)))
		return (refuse(&m->why, P_BAD_REQUEST, s->where,
		    show_is_image(&d) ? "%s: the file is an image"
				      : "%s: the file is no image",
		    s->where));
	if (d.bytes > m->provider->request_max)
		return (refuse(&m->why, P_BAD_REQUEST, s->where,
		    "%s: the file is larger than the request that the "
		    "provider takes",
		    s->where));
	switch (show_document(&l->env, m->provider, &d, &x, &m->why)) {
	case RUN_OK:
		break;
	case RUN_GONE:
		return (GONE);
	case RUN_REFUSED:
		return (-1);
	}
	if (is_asked(l, s, &x)) {
		(void)show_refuse(&d, s->where, &m->why);
		return (-1);
	}
	rc = stored_put(s, f->name, &x, &b, &at)
	    ? refuse(&m->why, P_SERVER, NULL, "out of memory")
	    : replace(l, &b, at);
	buf_free(&b);
	return (rc);
}

/* What came inside the request as media; its texts are in the arena. */
static int
read_media(struct looking *l, const struct stored *s, struct media *k)
{
	struct arena *mem = l->m->mem;
	const int image = stored_is_image(s);
	struct text x;
	int rc = -1;

	*k = (struct media){.image = image};
	if (s->name.p != NULL)
		k->name = pick_str(mem, s->name);
	if (pick_text(mem, s->data, &x) == 0) {
		rc =
		    s->bare ? media_file_data(mem, x, k) : media_url(mem, x, k);
		if (s->mime.p != NULL)
			k->mime = pick_str(mem, s->mime);
	}
	if (rc <= 0)
		return (rc == 0
			? 0
			: refuse(&l->m->why, P_SERVER, NULL, "out of memory"));
	return (refuse(&l->m->why, P_BAD_REQUEST, s->where,
	    "%s: must be a data URL in base64, or an address of http or https",
	    s->where));
}

/* Let the request say ${url} where it asked for what is there. */
static int
say_url(struct looking *l, const struct stored *s, struct text url)
{
	struct buf line = BUF_INIT(4096), b = BUF_INIT(65536);
	struct jspan at;
	int rc = -1;

	if (buf_printf(&line, "[%.*s: is not fetched]",
		(int)(url.len < 2000 ? url.len : 2000), url.p) == 0 &&
	    stored_put_text(s, line.p, &b, &at) == 0)
		rc = replace(l, &b, at);
	buf_free(&line);
	buf_free(&b);
	return (rc);
}

/* Text in the place of ${d}, if the provider does not take it. */
static int
put_media(struct looking *l, const struct stored *s, const struct document *d)
{
	struct model_req *m = l->m;
	struct buf b = BUF_INIT(SIZE_MAX / 2);
	struct shown x;
	struct jspan at;
	int rc;

	switch (show_document(&l->env, m->provider, d, &x, &m->why)) {
	case RUN_OK:
		break;
	case RUN_GONE:
		return (GONE);
	case RUN_REFUSED:
		return (-1);
	}
	if (x.as != SHOWN_TEXT)
		return (0);
	if (is_asked(l, s, &x)) {
		(void)show_refuse(d, s->where, &m->why);
		return (-1);
	}
	rc = stored_put(s, d->name, &x, &b, &at)
	    ? refuse(&m->why, P_SERVER, NULL, "out of memory")
	    : replace(l, &b, at);
	buf_free(&b);
	return (rc);
}

/* An image or a document that came inside the request. */
static int
see_media(struct looking *l, const struct stored *s)
{
	struct model_req *m = l->m;
	const struct conf_provider *p = m->provider;
	struct document d;
	struct media k;

	if (show_can(p, stored_is_image(s) ? p->vision : p->pdf))
		return (0);
	if (read_media(l, s, &k))
		return (-1);
	if (k.data.p == NULL)
		return (say_url(l, s, k.url));
	if (show_media(&l->env, &k, s->where, &d, &m->why) != RUN_OK)
		return (-1);
	return (put_media(l, s, &d));
}

/* Does an answer given back only tell of the file? */
static int
is_told(const struct stored *s)
{

	return (s->form == STORED_CITED || s->form == STORED_MADE);
}

/*
 * A file of the caller's that is stored here gets its bytes in the place of its
 * id, one that this provider holds for the caller keeps it, and everything else
 * is not there: an id alone opens nothing.
 */
static int
see_file(void *cookie, const struct stored *s)
{
	struct looking *l = cookie;
	struct file f;
	size_t i;
	int rc;

	for (i = 0; i < l->nreplaced; i++)
		if (s->member.p >= l->edits->list[i].at.p &&
		    s->member.p <
			l->edits->list[i].at.p + l->edits->list[i].at.len)
			return (0); /* It is not there any more. */
	if (s->data.p != NULL)
		return (see_media(l, s));
	if (l->nfiles++ < FILES_MAX)
		rc = s->ours && is_told(s) ? GONE : find(l, s, &f);
	else if (is_told(s))
		rc = GONE;
	else
		return (refuse(&l->m->why, P_BODY_TOO_LARGE, s->where,
		    "%s: there are more than %d files", s->where, FILES_MAX));
	switch (rc) {
	case 0:
		return (is_told(s) ? 0 : inline_file(l, s, &f));
	case KEPT:
		return (0);
	case GONE:
		return (is_told(s)
			? edits_add(l->m, l->edits, s->block, "[]", 2)
			: lost(l, s));
	default:
		return (-1);
	}
}

/* ---- Parts of the user's that stand in no message */

static int
is_bare(struct jspan v)
{
	struct jspan type;

	return (jspan_get(v, "type", &type) > 0 &&
	    (jspan_is(type, "input_text") || jspan_is(type, "input_image") ||
		jspan_is(type, "input_file")));
}

/* What a call came to, which the caller says as well. */
static int
is_output(struct jspan v)
{
	static const char end[] = "_output\"";
	const size_t len = sizeof(end) - 1;
	struct jspan type;

	return (jspan_get(v, "type", &type) > 0 && type.len > len &&
	    memcmp(type.p + type.len - len, end, len) == 0);
}

/* Wrap each run of them, which the vendor's own schema does not allow. */
static int
wrap_bare(struct looking *l, struct jspan list)
{
	static const char open[] = "{\"type\":\"message\",\"role\":\"user\","
				   "\"content\":[";
	struct jspan_iter it;
	struct jspan v, last = {0};
	int rc = 0;

	(void)jspan_iter(&it, list);
	while (rc == 0 && jspan_next(&it, NULL, &v)) {
		if (is_bare(v) && last.p == NULL)
			rc = edits_add(l->m, l->edits, (struct jspan){v.p, 0},
			    open, strlen(open));
		else if (!is_bare(v) && last.p != NULL)
			rc = edits_add(l->m, l->edits,
			    (struct jspan){last.p + last.len, 0}, "]}", 2);
		last = is_bare(v) ? v : (struct jspan){0};
	}
	if (rc == 0 && last.p != NULL)
		rc = edits_add(l->m, l->edits,
		    (struct jspan){last.p + last.len, 0}, "]}", 2);
	return (rc);
}

/* Where what the user says now begins: behind the last that is not his. */
static const char *
newest_of(struct jspan list)
{
	const char *from = list.p;
	struct jspan_iter it;
	struct jspan v, x;

	if (jspan_iter(&it, list))
		return (from);
	while (jspan_next(&it, NULL, &v))
		if (jspan_get(v, "role", &x) > 0 ? jspan_is(x, "assistant")
						 : !is_bare(v) && !is_output(v))
			from = v.p + v.len;
	return (from);
}

/* A server that does not know the developer takes the system's word for it. */
static int
name_roles(struct model_req *m, struct edits *e, struct jspan list)
{
	static const char role[] = "\"system\"";
	struct jspan_iter it;
	struct jspan v, x;
	int rc = 0;

	if (m->provider->developer_role || jspan_iter(&it, list))
		return (0);
	while (rc == 0 && jspan_next(&it, NULL, &v))
		if (jspan_get(v, "role", &x) > 0 && jspan_is(x, "developer"))
			rc = edits_add(m, e, x, role, sizeof(role) - 1);
	return (rc);
}

int
model_inline(struct model_req *m, struct edits *e)
{
	struct looking l = {.m = m,
	    .edits = e,
	    .env = {.conf = m->r->srv->conf,
		.db = m->r->srv->db,
		.store = m->r->srv->store,
		.seats = m->r->srv->seats,
		.slot = m->r->srv->slot,
		.caller = &m->r->caller,
		.mem = m->mem,
		.gone_fd = io_fd(m->r->io)}};
	struct jspan list;

	l.newest = m->root.p;
	l.nreplaced = e->n;
	if (m->dialect->wire == WIRE_RESPONSES) {
		if (jspan_get(m->root, "input", &list) > 0 &&
		    pick_is(list, '[')) {
			l.newest = newest_of(list);
			if (wrap_bare(&l, list))
				return (-1);
		}
	} else if (jspan_get(m->root, "messages", &list) > 0) {
		l.newest = newest_of(list);
		if (m->dialect->wire == WIRE_CHAT && name_roles(m, e, list))
			return (-1);
	}
	return (stored_each(m->root,
	    !show_can(m->provider, m->provider->vision) ||
		!show_can(m->provider, m->provider->pdf),
	    see_file, &l));
}
