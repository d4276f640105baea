#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/conf.h"
#include "base/num.h"

#include "run/catalog.h"

#include "fcgi/io.h"
#include "fcgi/req.h"
#include "fcgi/routes.h"

#define LIST_MAX (16U << 20)
#define CATALOG_MEM (16UL << 20)

static int
send_buf(struct req *r, const struct buf *b)
{

	return (buf_ok(b) ? reply_text(r, 200, b->p, b->len) : -1);
}

/* ---- Which part of the list */

/* A page of it: from...end, and whether there is more. */
struct page {
	size_t from, end;
	int more;
};

static int
take_limit(struct req *r, size_t *limit)
{
	const char *s = query_get(r->query, "limit", 0);
	uint64_t n = r->dialect->page_default;

	if (s != NULL && num_u64(s, 1, r->dialect->page_max, &n)) {
		(void)reply_problem(r, P_INVALID_VALUE, "limit",
		    "limit must be a whole number between 1 and %u",
		    r->dialect->page_max);
		return (-1);
	}
	*limit = (size_t)n;
	return (0);
}

/* The place of the cursor ${name}; not given leaves ${i} alone. */
static int
take_cursor(
    struct req *r, const struct catalog *all, const char *name, size_t *i)
{
	const char *id = query_get(r->query, name, 0);
	size_t k;

	if (id == NULL || *id == '\0')
		return (0);
	for (k = 0; k < all->n; k++)
		if (strcmp(all->cards[k].id, id) == 0) {
			*i = k;
			return (1);
		}
	(void)reply_problem(
	    r, P_INVALID_VALUE, name, "%s: there is no such model", name);
	return (-1);
}

static int
take_page(struct req *r, const struct catalog *all, struct page *p)
{
	const char *after =
	    query_count(r->query, "after") > 0 ? "after" : "after_id";
	size_t limit, at = 0;
	int rc;

	*p = (struct page){.end = all->n};
	if (take_limit(r, &limit) || (rc = take_cursor(r, all, after, &at)) < 0)
		return (-1);
	if (rc > 0)
		p->from = at + 1;
	else if ((rc = take_cursor(r, all, "before_id", &at)) < 0)
		return (-1);
	else if (rc > 0) {
		p->end = at;
		if (at > limit)
			p->from = at - limit;
		p->more = p->from > 0;
		return (0);
	}
	p->more = p->end - p->from > limit;
	if (p->more)
		p->end = p->from + limit;
	return (0);
}

/*
 * GET /v1/models
 *
 * 200: a page of the models that a caller may ask for, in the caller's dialect.
 * A provider that cannot be asked for its list just now is left out.
 */
int
models_list(struct req *r)
{
	struct arena *mem = arena_new(CATALOG_MEM);
	struct buf b = BUF_INIT(LIST_MAX);
	struct catalog all;
	struct page p;
	int rc = -1;

	if (mem != NULL &&
	    catalog_read(r->srv->conf, mem, io_fd(r->io), &all) == 0) {
		if (take_page(r, &all, &p))
			rc = 0;
		else if (model_cards_put(&b, r->dialect, all.cards + p.from,
			     p.end - p.from, p.more) == 0)
			rc = send_buf(r, &b);
	}
	buf_free(&b);
	arena_free(mem);
	return (rc);
}

/*
 * The card of ${id}: as the list has it; else, as the name can be asked for all
 * the same, no more than that.  1, 0 if no provider serves it, -1.
 */
static int
find_card(
    struct req *r, struct arena *mem, const char *id, struct model_card *card)
{
	const struct conf *c = r->srv->conf;
	const struct conf_provider *p;
	struct catalog all;
	const char *name, *other;
	size_t i;

	if ((p = catalog_choose(c, id, &name)) == NULL)
		return (0);
	if (catalog_read(c, mem, io_fd(r->io), &all))
		return (-1);
	*card = (struct model_card){.id = id};
	for (i = 0; i < all.n; i++)
		if (catalog_choose(c, all.cards[i].id, &other) == p &&
		    strcmp(name, other) == 0) {
			*card = all.cards[i];
			card->id = id;
			return (1);
		}
	return (1);
}

/*
 * GET /v1/models/{model}
 *
 * 200: what is known of it, in the caller's dialect.
 * 404: no provider serves it.
 */
int
models_retrieve(struct req *r)
{
	struct arena *mem = arena_new(CATALOG_MEM);
	struct buf b = BUF_INIT(LIST_MAX), id = BUF_INIT(1024);
	struct model_card card;
	int rc = -1, found = -1;

	buf_puts(&id, r->arg[0]);
	if (strstr(r->route->path, "}/{") != NULL) /* "ORG/NAME" is one name. */
		buf_printf(&id, "/%s", r->arg[1]);
	if (mem != NULL && buf_ok(&id))
		found = find_card(r, mem, id.p, &card);
	if (found == 0)
		rc = reply_problem(r, P_MODEL, "model",
		    "The model '%.200s' does not exist here", id.p);
	else if (found > 0 && model_card_put(&b, r->dialect, &card) == 0)
		rc = send_buf(r, &b);
	buf_free(&id);
	buf_free(&b);
	arena_free(mem);
	return (rc);
}
