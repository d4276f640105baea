#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/conf.h"
#include "base/jspan.h"
#include "base/log.h"
#include "base/seldom.h"

#include "io/upstream.h"

#include "speech/pick.h"
#include "speech/reader.h"

#include "run/ask.h"
#include "run/catalog.h"

#define LIST_MAX (8U << 20) /* Bytes of a provider's own list. */
#define LIST_DEPTH 64
#define LIST_MS 5000 /* That it may take. */

/* Does ${s} fit the pattern, in which '*' is any text? */
static int
fits(const char *pattern, const char *s)
{
	const char *star = NULL, *from = s;

	while (*s != '\0') {
		if (*pattern == '*') {
			star = pattern++;
			from = s;
		} else if (*pattern == *s) {
			pattern++;
			s++;
		} else if (star != NULL) {
			pattern = star + 1;
			s = ++from;
		} else
			return (0);
	}
	return (pattern[strspn(pattern, "*")] == '\0');
}

int
catalog_serves(const struct conf_provider *p, const char *model)
{
	char **m;

	for (m = p->models; m != NULL && *m != NULL; m++)
		if (fits(*m, model))
			return (1);
	return (p->models == NULL);
}

const struct conf_provider *
catalog_choose(const struct conf *c, const char *model, const char **name)
{
	const struct conf_provider *p, *end = c->providers + c->nproviders;
	size_t len = strcspn(model, ":");

	if (strlen(model) > CATALOG_NAME_MAX)
		return (NULL);
	for (p = c->providers; p < end && model[len] == ':'; p++)
		if (strlen(p->name) == len &&
		    strncmp(p->name, model, len) == 0) {
			*name = model + len + 1;
			return (catalog_serves(p, *name) ? p : NULL);
		}
	*name = model;
	for (p = c->providers; p < end; p++)
		if (catalog_serves(p, model))
			return (p);
	return (NULL);
}

/* ---- The list */

/* A list being made. */
struct making {
	const struct conf *conf;
	struct arena *mem;
	struct catalog *all;
};

static int
has(const struct catalog *all, const char *id)
{
	size_t i;

	for (i = 0; i < all->n; i++)
		if (strcmp(all->cards[i].id, id) == 0)
			return (1);
	return (0);
}

/* By which name a caller gets ${model} of ${p}; NULL if memory ran out. */
static const char *
id_of(const struct making *k, const struct conf_provider *p, const char *model)
{
	struct buf b = BUF_INIT(1024);
	const char *name, *id = NULL;

	if (catalog_choose(k->conf, model, &name) == p &&
	    strcmp(name, model) == 0)
		return (arena_strndup(k->mem, model, strlen(model)));
	if (buf_printf(&b, "%s:%s", p->name, model) == 0)
		id = arena_strndup(k->mem, b.p, b.len);
	buf_free(&b);
	return (id);
}

/* Add a model unless it is there.  Return 0, or -1 if memory ran out. */
static int
add(struct making *k, const struct conf_provider *p, const char *model,
    const struct model_card *more)
{
	struct catalog *all = k->all;
	struct model_card card = *more;

	if (all->n == CATALOG_MAX || strlen(model) > 512)
		return (0);
	if ((card.id = id_of(k, p, model)) == NULL)
		return (-1);
	if (!has(all, card.id))
		all->cards[all->n++] = card;
	return (0);
}

static uint64_t
number(struct jspan o, const char *key)
{
	struct jspan v;
	uint64_t x = 0;

	if (reader_member(o, key, &v))
		(void)pick_u64(v, &x);
	return (x);
}

/* One entry of a provider's list, whichever vendor's shape it has. */
static int
see_entry(struct making *k, const struct conf_provider *p, struct jspan v)
{
	struct model_card card = {
	    .created = number(v, "created"),
	    .max_input = number(v, "max_input_tokens"),
	    .max_output = number(v, "max_tokens"),
	};
	struct jspan id, name;
	const char *model;

	if (card.max_input == 0) /* As vLLM says it. */
		card.max_input = number(v, "max_model_len");
	if (!reader_member(v, "id", &id) ||
	    (model = pick_str(k->mem, id)) == NULL || !catalog_serves(p, model))
		return (0);
	if (reader_member(v, "display_name", &name))
		card.name = pick_str(k->mem, name);
	return (add(k, p, model, &card));
}

#define LIST_FAILED 1

/* Return 0, LIST_FAILED, or -1 if memory ran out. */
static int
see_list(struct making *k, const struct conf_provider *p, const struct buf *b)
{
	struct jspan_info info;
	struct jspan_iter it;
	struct jspan data, v;

	if (b->len == 0 ||
	    jspan_check(b->p, b->len, LIST_DEPTH, &info) != JSPAN_OK ||
	    !reader_member(info.root, "data", &data) || jspan_iter(&it, data) ||
	    it.object)
		return (LIST_FAILED);
	while (jspan_next(&it, NULL, &v))
		if (see_entry(k, p, v))
			return (-1);
	return (0);
}

/* A list as it comes. */
struct listing {
	struct buf text;
	struct ask_heard heard;
};

static int
on_body(void *cookie, const void *p, size_t len)
{
	struct listing *l = cookie;

	if (l->text.len == 0)
		ask_hear(&l->heard, p, len);
	return (l->heard.status != 200 || buf_put(&l->text, p, len) ? -1 : 0);
}

static int
on_head(void *cookie, int status, const struct upstream_head *head)
{

	(void)head;
	((struct listing *)cookie)->heard.status = status;
	return (0);
}

/* Every request for the models meets it, so the log is told now and then. */
static void
tell_list(const struct conf_provider *p, enum upstream_rc rc, const char *path,
    struct ask_heard *h)
{

	static const char nothing[] = "no answer";

	if (rc == UPSTREAM_TIMEOUT || rc == UPSTREAM_REFUSED)
		h->status = 0;
	if (h->status == 0)
		ask_hear(h, nothing, sizeof(nothing) - 1);
	ask_log(p, path, h);
}

/* Ask ${p} for its list.  Return 0, or -1. */
static int
ask(struct making *k, const struct conf_provider *p, int gone_fd)
{
	struct listing l = {
	    .text = BUF_INIT(LIST_MAX), .heard = {.since = clock_ms()}};
	struct ask_head h;
	struct upstream_call call = {.label = p->name,
	    .quiet = 1,
	    .method = "GET",
	    .path = p->wire == WIRE_MESSAGES ? "/models?limit=1000" : "/models",
	    .gone_fd = gone_fd,
	    .first_ms = LIST_MS,
	    .total_ms = LIST_MS,
	    .max = LIST_MAX,
	    .on_head = on_head,
	    .on_body = on_body,
	    .cookie = &l};
	enum upstream_rc urc = UPSTREAM_FAIL;
	int rc = 0;

	if (ask_head_new(&h, p) == 0) {
		call.base = h.base;
		call.headers = (const char *const *)h.header;
		urc = upstream_run(&call);
	}
	ask_head_free(&h);
	if (urc == UPSTREAM_OK && l.heard.status == 200)
		rc = see_list(k, p, &l.text);
	else if (urc != UPSTREAM_GONE)
		rc = LIST_FAILED;
	if (rc == LIST_FAILED && seldom("list", p->name))
		tell_list(p, urc, call.path, &l.heard);
	buf_free(&l.text);
	return (urc == UPSTREAM_GONE || rc == -1 ? -1 : 0);
}

/* What ${p} is configured to serve by name; 1 if there are patterns too. */
static int
see_names(struct making *k, const struct conf_provider *p, int *patterns)
{
	static const struct model_card nothing;
	char **m;

	*patterns = p->models == NULL;
	for (m = p->models; m != NULL && *m != NULL; m++)
		if (strchr(*m, '*') != NULL)
			*patterns = 1;
		else if (add(k, p, *m, &nothing))
			return (-1);
	return (0);
}

int
catalog_read(
    const struct conf *c, struct arena *mem, int gone_fd, struct catalog *all)
{
	struct making k = {c, mem, all};
	const struct conf_provider *p;
	int patterns;

	*all = (struct catalog){
	    .cards = arena_alloc(mem, CATALOG_MAX * sizeof(*all->cards))};
	if (all->cards == NULL)
		return (-1);
	for (p = c->providers; p < c->providers + c->nproviders; p++)
		if (see_names(&k, p, &patterns) ||
		    (patterns && ask(&k, p, gone_fd)))
			return (-1);
	return (0);
}
