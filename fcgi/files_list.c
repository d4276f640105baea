#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/jlines.h"
#include "base/log.h"
#include "data/file.h"
#include "speech/dialect.h"
#include "speech/page.h"

#include "fcgi/list_ask.h"
#include "fcgi/req.h"
#include "fcgi/routes.h"

/*
 * A list up to this long is sent with its length; a longer one as it is read,
 * so that memory does not grow with the page.
 */
#define HOLD (256U * 1024)

/* Memory for one batch of rows, whose names and types are bounded. */
#define BATCH_MEMORY (4U * 1024 * 1024)

#define JSON_TYPE "application/json"

/* Where the text of a list goes. */
struct sink {
	struct req *r;
	struct buf buf;
	int begun;      /* The header is out, without a length. */
	uint64_t total; /* What a HEAD is told. */
};

/* The list so far. */
struct page {
	struct sink out;
	const struct list_ask *ask;
	size_t left; /* Rows still wanted. */
	size_t rows; /* Rows written. */
	int has_more;
	char first_id[FILE_PRINTMAX];
	struct file_pos last;
};

static int
no_memory(void)
{

	log_err("list: out of memory");
	return (-1);
}

/* Send what ${s} holds.  Return -1 once the client has gone. */
static int
sink_flush(struct sink *s)
{

	if (!s->begun && reply_begin(s->r, 200, JSON_TYPE, -1))
		return (-1);
	s->begun = 1;
	if (reply_body(s->r, s->buf.p, s->buf.len))
		return (-1);
	buf_drop(&s->buf, s->buf.len);
	return (0);
}

static int
sink_put(struct sink *s, const char *p, size_t len)
{

	s->total += len;
	if (s->r->head)
		return (0);
	if (s->buf.len + len > HOLD && sink_flush(s))
		return (-1);
	return (buf_put(&s->buf, p, len));
}

/* ${o} as text, without its first ${skip} bytes.  Consumes ${o}. */
static int
sink_json(struct sink *s, json_object *o, size_t skip)
{
	struct buf b = BUF_INIT(0);
	const char *text;
	size_t len;
	int rc = -1;

	if (o != NULL &&
	    (text = json_object_to_json_string_length(o,
		 JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE,
		 &len)) != NULL) {
		b.max = 3 * len;
		rc = jlines_put(&b, text + skip, len - skip) ||
			sink_put(s, b.p, b.len)
		    ? -1
		    : 0;
	}
	buf_free(&b);
	json_object_put(o);
	return (rc);
}

static int
sink_end(struct sink *s)
{

	if (s->begun)
		return (sink_flush(s));
	if (reply_begin(s->r, 200, JSON_TYPE, (int64_t)s->total))
		return (-1);
	return (reply_body(s->r, s->buf.p, s->buf.len));
}

static void
stand_at(struct page *p, const struct file *f)
{

	p->last.created = f->created;
	(void)snprintf(p->last.id, sizeof(p->last.id), "%s", f->id);
}

/* Write the object of ${f}, the next of the list. */
static int
page_row(struct page *p, const struct file *f)
{
	struct req *r = p->out.r;

	if (p->rows == 0)
		(void)file_id_print(f->id, p->first_id);
	else if (sink_put(&p->out, ",", 1))
		return (-1);
	p->rows++;
	stand_at(p, f);
	return (sink_json(&p->out, r->dialect->file(r->srv->conf, f), 0));
}

/* Write what follows the rows, and send what has not been sent. */
static int
page_end(struct page *p)
{
	const struct dialect *d = p->out.r->dialect;
	char last_id[FILE_PRINTMAX], token[PAGE_TOKENMAX];
	struct list_end end = {.has_more = p->has_more};

	if (p->rows > 0) {
		end.first_id = p->first_id;
		end.last_id = file_id_print(p->last.id, last_id);
	}
	/* After a page that was read backwards there is always a next. */
	if (p->has_more || (p->ask->backward && p->rows > 0)) {
		page_write(&p->last, p->ask->ascending, token);
		end.next_page = token;
	}
	if (sink_put(&p->out, "],", 2) ||
	    sink_json(&p->out, d->list_end(&end), 1))
		return (-1);
	return (sink_end(&p->out));
}

/*
 * Answer for a list that could not be read.  Once part of it is out the only
 * honest end is the broken connection that dispatch makes of -1.
 */
static int
page_fail(struct page *p, enum data_rc rc)
{
	struct req *r = p->out.r;

	if (!p->out.begun)
		return (reply_data(r, rc));
	log_err("list: broken off after %zu rows", p->rows);
	return (-1);
}

/*
 * Write the next batch of at most FILE_PAGE rows.  One row more than wanted is
 * asked for, which tells whether there are more.  Set ${done} after the last.
 */
static int
forward_batch(struct page *p, struct file_query *q, struct file *f,
    struct arena *mem, int *done)
{
	enum data_rc rc;
	size_t i, n;

	q->limit = p->left < FILE_PAGE ? p->left + 1 : FILE_PAGE;
	if ((rc = file_list(p->out.r->srv->db, mem, q, f, &n)) != DATA_OK) {
		*done = 1;
		return (page_fail(p, rc));
	}
	p->has_more = n > p->left;
	for (i = 0; i < n && p->left > 0; i++, p->left--) {
		if (page_row(p, &f[i]))
			return (-1);
	}
	if (n < q->limit || p->has_more) {
		*done = 1;
		return (page_end(p));
	}
	q->from = &p->last;
	return (0);
}

static int
forward(struct page *p, struct file_query *q)
{
	struct file *f;
	struct arena *mem;
	int rc = -1, done = 0;

	if ((f = calloc(FILE_PAGE, sizeof(*f))) == NULL)
		return (no_memory());
	while (!done) {
		if ((mem = arena_new(BATCH_MEMORY)) == NULL) {
			rc = no_memory();
			break;
		}
		rc = forward_batch(p, q, f, mem, &done);
		arena_free(mem);
		if (rc)
			break;
	}
	free(f);
	return (rc);
}

/*
 * Read into ${f} the ${p}->left rows before the cursor and one more, nearest
 * first; at most ${max}.  Set ${n}.
 */
static enum data_rc
backward_read(struct page *p, struct file_query *q, struct arena *mem,
    struct file *f, size_t *n)
{
	enum data_rc rc;
	size_t want, got;

	*n = 0;
	do {
		want = p->left + 1 - *n;
		q->limit = want < FILE_PAGE ? want : FILE_PAGE;
		if ((rc = file_list(p->out.r->srv->db, mem, q, f + *n, &got)) !=
		    DATA_OK)
			return (rc);
		if (got == 0)
			break;
		*n += got;
		stand_at(p, &f[*n - 1]);
		q->from = &p->last;
	} while (got == q->limit && *n <= p->left);
	return (DATA_OK);
}

/* The rows just before the cursor, still in the list's order. */
static int
backward(struct page *p, struct file_query *q, struct arena *mem)
{
	struct file *f;
	enum data_rc rc;
	size_t n;

	if ((f = arena_alloc(mem, (p->left + 1) * sizeof(*f))) == NULL)
		return (no_memory());
	q->ascending = !q->ascending;
	if ((rc = backward_read(p, q, mem, f, &n)) != DATA_OK)
		return (page_fail(p, rc));
	if ((p->has_more = n > p->left))
		n = p->left;
	while (n > 0) {
		if (page_row(p, &f[--n]))
			return (-1);
	}
	return (page_end(p));
}

/* Is ${f} wanted: live, of the purpose asked for, and not there already? */
static enum data_rc
lookup(struct page *p, const char *name, const struct file *f, size_t n,
    struct file *found)
{
	struct req *r = p->out.r;
	const char *purpose = p->ask->purpose;
	char id[FILE_IDMAX + 1];
	enum data_rc rc;

	if (file_id_parse(name, id))
		return (DATA_NONE);
	if ((rc = file_find(r->srv->db, r->mem, &r->caller.owner, id,
		 r->caller.now, found)) != DATA_OK)
		return (rc == DATA_EXPIRED ? DATA_NONE : rc);
	if (purpose != NULL && strcmp(found->purpose, purpose) != 0)
		return (DATA_NONE);
	while (n > 0) {
		if (f[--n].row == found->row)
			return (DATA_NONE);
	}
	return (DATA_OK);
}

static int
by_place(const void *a, const void *b)
{
	const struct file *f = a, *g = b;

	if (f->created != g->created)
		return (f->created < g->created ? -1 : 1);
	return (strcmp(f->id, g->id));
}

/* The files that ids[] names, in the list's order; the others are left out. */
static int
by_ids(struct page *p)
{
	struct file *f;
	enum data_rc rc;
	size_t i, n = 0;

	if ((f = arena_alloc(p->out.r->mem, LIST_IDS_MAX * sizeof(*f))) == NULL)
		return (no_memory());
	for (i = 0; i < p->ask->nids; i++) {
		rc = lookup(p, p->ask->ids[i], f, n, &f[n]);
		if (rc == DATA_OK)
			n++;
		else if (rc != DATA_NONE)
			return (page_fail(p, rc));
	}
	qsort(f, n, sizeof(*f), by_place);
	for (i = 0; i < n; i++) {
		if (page_row(p, &f[p->ask->ascending ? i : n - 1 - i]))
			return (-1);
	}
	return (page_end(p));
}

static int
list(struct page *p)
{
	struct req *r = p->out.r;
	const struct list_ask *ask = p->ask;
	struct file_query q = {
	    .owner = &r->caller.owner,
	    .purpose = ask->purpose,
	    .from = ask->from_pos ? &ask->pos : NULL,
	    .ascending = ask->ascending,
	    .now = r->caller.now,
	};
	struct arena *mem;
	int rc;

	if (sink_put(&p->out, r->dialect->list_begin,
		strlen(r->dialect->list_begin)))
		return (-1);
	if (ask->nothing)
		return (page_end(p));
	if (ask->ids != NULL)
		return (by_ids(p));
	if (!ask->backward)
		return (forward(p, &q));
	if ((mem = arena_new(2 * BATCH_MEMORY)) == NULL)
		return (no_memory());
	rc = backward(p, &q, mem);
	arena_free(mem);
	return (rc);
}

/*
 * GET /v1/files
 *
 * 200: the caller's live files in either vendor's envelope.
 * 400, 404: what was asked for makes no sense.
 */
int
files_list(struct req *r)
{
	struct list_ask ask;
	struct page p = {
	    .out = {.r = r, .buf = BUF_INIT(HOLD + HOLD / 4)}, .ask = &ask};
	int rc;

	if (list_ask_read(r, &ask))
		return (0);
	p.left = ask.limit;
	rc = list(&p);
	buf_free(&p.out.buf);
	return (rc);
}
