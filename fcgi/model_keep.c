#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/conf.h"
#include "base/jget.h"
#include "base/log.h"

#include "data/caller.h"
#include "data/response.h"
#include "speech/pick.h"
#include "speech/reader.h"

#include "fcgi/model.h"
#include "fcgi/req.h"

#define CONTINUED_MAX (64U << 20) /* Of a request with what it goes on from. */
#define KEPT_MAX (12U << 20)      /* Of an answer with its input, in a row. */
#define MEM_MAX (32UL << 20)

/* ---- Going on from an answer */

static int
refuse_previous(struct model_req *m, const char *id)
{

	return (refuse(&m->why, P_RESPONSE, "previous_response_id",
	    "Previous response with id '%.80s' not found.", id));
}

/* Find what ${id} names. */
static int
find_previous(struct model_req *m, struct arena *mem, const char *id,
    struct stored_response *s)
{
	const char *bare = response_id_bare(id);
	enum data_rc rc = DATA_NONE;

	if (bare != NULL)
		rc = response_find(m->r->srv->db, mem, &m->r->caller.owner,
		    bare, m->r->caller.now, s);
	switch (rc) {
	case DATA_OK:
		return (0);
	case DATA_NONE:
		return (refuse_previous(m, id));
	default:
		return (model_data(m, rc));
	}
}

/* Append the items of the array ${v}, with a comma before each. */
static void
add_items(struct buf *b, struct jspan v)
{
	struct jspan_iter it;
	struct jspan item;

	if (jspan_iter(&it, v) == 0 && !it.object)
		while (jspan_next(&it, NULL, &item)) {
			if (b->len > 1)
				buf_puts(b, ",");
			buf_put(b, item.p, item.len);
		}
}

/* What a request says, as items: a text is the user's message. */
static void
add_input(struct buf *b, struct jspan v)
{

	if (!pick_is(v, '"')) {
		add_items(b, v);
		return;
	}
	if (b->len > 1)
		buf_puts(b, ",");
	buf_puts(b, "{\"type\":\"message\",\"role\":\"user\",\"content\":");
	buf_put(b, v.p, v.len);
	buf_puts(b, "}");
}

/* The items of ${s}, and those it came to. */
static int
put_before(struct buf *b, const struct stored_response *s)
{
	struct jspan_info before, body;
	struct jspan output;

	buf_puts(b, "[");
	if (jspan_check(s->input, s->input_len, JGET_DEPTH, &before) ==
		JSPAN_OK &&
	    jspan_check(s->body, s->body_len, JSPAN_DEPTH_MAX, &body) ==
		JSPAN_OK &&
	    reader_member(body.root, "output", &output)) {
		add_items(b, before.root);
		add_items(b, output);
	}
	return (buf_puts(b, "]"));
}

/* All that a model is to be told: what was before, then the request's own. */
static int
put_input(struct buf *b, const struct model_req *m)
{
	struct jspan own;

	buf_puts(b, "[");
	if (m->before.p != NULL)
		add_items(b, m->before);
	if (reader_member(m->root, "input", &own))
		add_input(b, own);
	return (buf_puts(b, "]"));
}

/* Let the request's memory have what ${b} holds. */
static int
give(struct model_req *m, struct buf *b, struct jspan *root)
{
	struct jspan_info info;

	if (!buf_ok(b) ||
	    jspan_check(b->p, b->len, JSPAN_DEPTH_MAX, &info) != JSPAN_OK ||
	    arena_cleanup(m->r->mem, free, b->p))
		return (-1);
	*root = info.root;
	*b = (struct buf)BUF_INIT(1);
	return (0);
}

int
model_replace(struct model_req *m, struct buf *b)
{

	if (give(m, b, &m->root))
		return (refuse(&m->why, P_SERVER, NULL, "out of memory"));
	m->text = m->root;
	return (peek_read(m->r->mem, m->root, &m->peek, &m->why));
}

/* Set ${m}->before. */
static int
set_before(struct model_req *m, const struct stored_response *s)
{
	struct buf b = BUF_INIT(CONTINUED_MAX);
	int rc;

	rc = put_before(&b, s) || give(m, &b, &m->before);
	buf_free(&b);
	return (rc ? -1 : 0);
}

/* The request once more, its input made whole, and without ${previous}. */
static int
rewrite(struct model_req *m, struct jspan previous)
{
	struct buf input = BUF_INIT(CONTINUED_MAX), b = BUF_INIT(CONTINUED_MAX);
	struct jspan_edit edits[2] = {{previous, {"null", 4}}};
	size_t n = 1;
	int rc = -1;

	if (put_input(&input, m))
		goto done;
	if (reader_member(m->root, "input", &edits[1].at)) {
		n = 2;
		edits[1].text = (struct jspan){input.p, input.len};
		/* Edits are made in the order of the text. */
		if (edits[1].at.p < previous.p) {
			edits[0] = edits[1];
			edits[1] = (struct jspan_edit){previous, {"null", 4}};
		}
	}
	if (jspan_splice(&b, m->text, edits, n) == 0)
		rc = model_replace(m, &b);

done:
	buf_free(&input);
	buf_free(&b);
	return (rc);
}

int
model_continue(struct model_req *m, int relayed)
{
	struct stored_response s;
	struct jspan previous;
	struct arena *mem;
	const char *id;
	int rc = -1;

	if (m->dialect->wire != WIRE_RESPONSES ||
	    !reader_member(m->root, "previous_response_id", &previous))
		return (0);
	if ((id = pick_str(m->r->mem, previous)) == NULL)
		return (refuse(&m->why, P_INVALID_TYPE, "previous_response_id",
		    "previous_response_id: must be a string"));
	/* One of the provider's own means something there. */
	if (relayed && response_id_bare(id) == NULL)
		return (0);
	if ((mem = arena_new(MEM_MAX)) == NULL)
		return (
		    refuse(&m->why, P_SERVER, NULL, "Internal server error"));
	if (find_previous(m, mem, id, &s) == 0) {
		m->previous = response_id_bare(id);
		rc = set_before(m, &s);
		if (rc == 0 && relayed)
			rc = rewrite(m, previous);
		if (rc != 0)
			(void)refuse(&m->why, P_BODY_TOO_LARGE,
			    "previous_response_id",
			    "The conversation has become too long to go on");
	}
	arena_free(mem);
	return (rc);
}

/* ---- Keeping an answer */

static int
is_wanted(const struct model_req *m)
{
	struct jspan v;

	return (m->r->srv->conf->responses_retention_s > 0 &&
	    !(reader_member(m->root, "store", &v) && pick_is(v, 'f')));
}

static void
keep(struct model_req *m, const struct buf *body, const char *id)
{
	const struct conf *c = m->r->srv->conf;
	const uint64_t now = m->r->caller.now;
	struct buf input = BUF_INIT(KEPT_MAX);
	struct stored_response s = {.id = id,
	    .body = body->p,
	    .body_len = body->len,
	    .created = now,
	    .expires = now + c->responses_retention_s * 1000};

	if (put_input(&input, m) == 0 && input.len + body->len <= KEPT_MAX) {
		s.input = input.p;
		s.input_len = input.len;
		(void)response_keep(
		    m->r->srv->db, &m->r->caller.owner, m->previous, &s);
	} else
		log_warn("response %s is too long to be kept", id);
	buf_free(&input);
}

void
model_keep(struct model_req *m, struct writer *w)
{
	struct buf body = BUF_INIT(KEPT_MAX);
	struct jspan_info info;
	struct jspan v;
	const char *id;

	if (w->object == NULL || !is_wanted(m))
		return;
	if (w->object(w, &body) == 0 &&
	    jspan_check(body.p, body.len, JSPAN_DEPTH_MAX, &info) == JSPAN_OK &&
	    reader_member(info.root, "id", &v) &&
	    (id = pick_str(m->r->mem, v)) != NULL &&
	    (id = response_id_bare(id)) != NULL)
		keep(m, &body, id);
	else
		log_warn("a response is too long to be kept");
	buf_free(&body);
}
