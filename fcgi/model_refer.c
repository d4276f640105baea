#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/conf.h"

#include "data/caller.h"
#include "data/response.h"
#include "speech/pick.h"
#include "speech/reader.h"
#include "speech/responses_item.h"

#include "fcgi/model.h"
#include "fcgi/req.h"

#define INPUT_MAX (64U << 20) /* Of the input with its items in it. */
#define MEM_MAX (16UL << 20)  /* Of one kept answer. */
#define REFERENCES_MAX 2000
#define ID_SIZE 128

/* The input being made whole. */
struct refer {
	struct model_req *m;
	struct buf out;
	size_t n;
	struct arena *mem; /* Of the answer that was found last... */
	char seed[RESPONSE_SEEDLEN + 1];
	struct jspan output; /* ...and its items. */
};

/* Is ${v} a reference?  Then set ${id} to the string that names the item. */
static int
is_reference(struct jspan v, struct jspan *id)
{
	struct jspan x;

	if (!reader_member(v, "id", id) || !pick_is(*id, '"'))
		return (0);
	if (reader_member(v, "type", &x))
		return (jspan_is(x, "item_reference"));
	/* The type may be missing; a message has a role. */
	return (!reader_member(v, "role", &x));
}

static int
has_reference(struct jspan list)
{
	struct jspan_iter it;
	struct jspan v, id;

	if (jspan_iter(&it, list) || it.object)
		return (0);
	while (jspan_next(&it, NULL, &v))
		if (is_reference(v, &id))
			return (1);
	return (0);
}

static int
refuse_item(struct refer *f, const char *id)
{

	return (refuse(&f->m->why, P_ITEM, "input",
	    "Item with id '%.80s' not found.", id));
}

/* Has what the request goes on from the item already? */
static int
is_before(const struct refer *f, struct jspan id)
{
	const struct jspan *b = &f->m->before;

	return (b->p != NULL && memmem(b->p, b->len, id.p, id.len) != NULL);
}

/* Each use of an answer keeps it for longer; not to the second. */
static enum data_rc
prolong(struct refer *f, const struct stored_response *s)
{
	const struct caller *c = &f->m->r->caller;
	const uint64_t keep =
	    f->m->r->srv->conf->responses_retention_s * UINT64_C(1000);

	if (s->expires + keep / 24 >= c->now + keep)
		return (DATA_OK);
	return (response_prolong(
	    f->m->r->srv->db, &c->owner, s->id, c->now + keep));
}

/* Find the answer whose items begin with ${seed}. */
static int
find_answer(struct refer *f, const char *seed)
{
	struct stored_response s;
	struct jspan_info info;
	enum data_rc rc;

	if (f->mem != NULL && memcmp(seed, f->seed, RESPONSE_SEEDLEN) == 0)
		return (0);
	arena_free(f->mem);
	if ((f->mem = arena_new(MEM_MAX)) == NULL)
		return (refuse(
		    &f->m->why, P_SERVER, NULL, "Internal server error"));
	memcpy(f->seed, seed, RESPONSE_SEEDLEN);
	f->output = (struct jspan){"[]", 2};
	rc = response_find_seed(f->m->r->srv->db, f->mem,
	    &f->m->r->caller.owner, f->seed, f->m->r->caller.now, &s);
	if (rc == DATA_NONE)
		return (0);
	if (rc == DATA_OK)
		rc = prolong(f, &s);
	if (rc != DATA_OK)
		return (model_data(f->m, rc));
	if (jspan_check(s.body, s.body_len, JSPAN_DEPTH_MAX, &info) == JSPAN_OK)
		(void)reader_member(info.root, "output", &f->output);
	return (0);
}

static void
put(struct refer *f, struct jspan item)
{

	if (f->out.len > 1)
		buf_puts(&f->out, ",");
	buf_put(&f->out, item.p, item.len);
}

/* Put the item that the string ${name} names. */
static int
put_named(struct refer *f, struct jspan name)
{
	const char *id = pick_str(f->m->r->mem, name);
	const char *seed = id != NULL ? item_id_bare(id) : NULL;
	struct jspan_iter it;
	struct jspan v, x;

	if (seed == NULL)
		return (refuse_item(f, id != NULL ? id : ""));
	if (f->n++ == REFERENCES_MAX)
		return (refuse(&f->m->why, P_BODY_TOO_LARGE, "input",
		    "input: there are more than %d references to items",
		    REFERENCES_MAX));
	if (find_answer(f, seed))
		return (-1);
	if (jspan_iter(&it, f->output) == 0)
		while (jspan_next(&it, NULL, &v))
			if (reader_member(v, "id", &x) && jspan_is(x, id)) {
				put(f, v);
				return (0);
			}
	return (refuse_item(f, id));
}

static int
is_ours(struct refer *f, struct jspan name)
{
	const char *id = pick_str(f->m->r->mem, name);

	return (id != NULL && item_id_bare(id) != NULL);
}

/* Write the whole list, what is no reference as it was sent. */
static int
put_list(struct refer *f, struct jspan list, int relayed)
{
	struct jspan_iter it;
	struct jspan v, id;

	(void)jspan_iter(&it, list);
	buf_puts(&f->out, "[");
	while (jspan_next(&it, NULL, &v)) {
		if (!is_reference(v, &id) || (relayed && !is_ours(f, id)))
			put(f, v);
		else if (!is_before(f, id) && put_named(f, id))
			return (-1);
	}
	if (buf_puts(&f->out, "]"))
		return (refuse(&f->m->why, P_BODY_TOO_LARGE, "input",
		    "The conversation has become too long to go on"));
	return (0);
}

int
model_refer(struct model_req *m, int relayed)
{
	struct refer f = {.m = m, .out = BUF_INIT(INPUT_MAX)};
	struct jspan_edit edit;
	struct buf b = BUF_INIT(m->text.len + INPUT_MAX);
	int rc;

	if (m->dialect->wire != WIRE_RESPONSES ||
	    !reader_member(m->root, "input", &edit.at) ||
	    !has_reference(edit.at))
		return (0);
	if ((rc = put_list(&f, edit.at, relayed)) == 0) {
		edit.text = (struct jspan){f.out.p, f.out.len};
		rc = jspan_splice(&b, m->text, &edit, 1)
		    ? refuse(&m->why, P_SERVER, NULL, "out of memory")
		    : model_replace(m, &b);
	}
	buf_free(&b);
	buf_free(&f.out);
	arena_free(f.mem);
	return (rc);
}
