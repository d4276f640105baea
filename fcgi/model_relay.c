#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/conf.h"
#include "base/jput.h"
#include "base/jget.h"

#include "data/caller.h"
#include "run/ask.h"
#include "run/hold.h"
#include "speech/used.h"
#include "speech/wire.h"

#include "fcgi/io.h"
#include "fcgi/model.h"
#include "fcgi/model_headers.h"
#include "fcgi/model_inline.h"
#include "fcgi/req.h"

#define WHOLE_MAX 1048576       /* A JSON answer up to here is judged. */
#define ANSWER_MAX (1ULL << 30) /* Of anything that is passed on. */
#define MORE_MAX 4096           /* Of a model's name. */
#define MEM_MIN (16UL << 20)    /* Besides files. */

/* An answer on its way back. */
struct relay {
	struct model_req *m;
	struct relay_to to;
	int status;
	char type[128], retry_after[32];
	struct hold *watch; /* Over files it names; NULL: not looked for. */
	struct used *used;  /* Over its tokens; NULL likewise. */
	int flowing;        /* Passed on as it comes... */
	struct buf held;    /* ...until then kept here. */
};

/* ---- The request */

/* The body with the provider's name for the model, and with our files. */
static int
make_body(struct model_req *m, struct buf *b)
{
	struct edits e = {0};
	struct buf name = BUF_INIT(MORE_MAX);
	int rc = model_unecho(m, &e) ? -1 : model_inline(m, &e);

	if (rc == 0 && !jspan_is(m->peek.model_at, m->model))
		rc = jput_str(&name, m->model)
		    ? refuse(&m->why, P_SERVER, NULL, "out of memory")
		    : edits_add(m, &e, m->peek.model_at, name.p, name.len);
	buf_free(&name);
	if (rc != 0)
		return (rc);
	edits_sort(&e);
	b->max = m->text.len + e.added + 1;
	return (jspan_splice(b, m->text, e.list, e.n)
		? refuse(&m->why, P_SERVER, NULL, "out of memory")
		: 0);
}

/* ---- The answer */

static void
copy_header(
    char *to, size_t size, const struct upstream_head *head, const char *name)
{
	const char *s = upstream_header(head, name);

	to[0] = '\0';
	if (s != NULL && strlen(s) < size)
		memcpy(to, s, strlen(s) + 1);
}

static int
is_stream(const struct relay *y)
{

	return (strncmp(y->type, "text/event-stream", 17) == 0);
}

static int
is_json(const struct relay *y)
{

	return (strncmp(y->type, "application/json", 16) == 0);
}

/* A type that no browser takes for a page of ours. */
static int
is_harmless(const struct relay *y)
{

	return (strncmp(y->type, "audio/", 6) == 0 ||
	    (strncmp(y->type, "image/", 6) == 0 &&
		strncmp(y->type, "image/svg", 9) != 0));
}

/* What is JSON is called so, whatever the provider calls it. */
static int
begin(struct relay *y, int64_t length)
{
	const char *type = "application/json";

	y->flowing = 1;
	if (is_stream(y))
		reply_header(y->m->r, "X-Accel-Buffering", "no");
	if (y->to.any_type && !is_json(y))
		type = "application/octet-stream";
	if (is_stream(y) || is_json(y) || (y->to.any_type && is_harmless(y)))
		type = y->type;
	return (reply_begin(y->m->r, 200, type, length));
}

/* A model's answer is looked at on its way. */
static void
watch(struct relay *y)
{
	const struct conf_provider *p = y->m->provider;

	y->used = used_new(wire_of((enum conf_wire)p->wire), is_stream(y));
	if (y->m->peek.declared != DECLARED_NONE)
		y->watch = hold_new(p, is_stream(y));
}

static int
on_head(void *cookie, int status, const struct upstream_head *head)
{
	struct relay *y = cookie;

	y->status = status;
	copy_header(y->type, sizeof(y->type), head, "content-type");
	copy_header(
	    y->retry_after, sizeof(y->retry_after), head, "retry-after");
	if (status == 200 && y->to.path == NULL)
		watch(y);
	if (status == 200 && (is_stream(y) || (y->to.any_type && !is_json(y))))
		return (begin(y, -1));
	return (0);
}

static int
pass(struct relay *y, const void *p, size_t len)
{
	struct req *r = y->m->r;

	if (reply_body(r, p, len) == 0 && io_flush(r->io) == 0)
		return (0);
	r->gone = 1;
	return (-1);
}

/* Keep an answer that may prove to be none; let a long one flow. */
static int
hold(struct relay *y, const void *p, size_t len)
{

	if (y->status != 200 && y->held.len + len > ASK_ERROR_MAX)
		return (0);
	if (y->held.len + len <= WHOLE_MAX)
		return (buf_put(&y->held, p, len));
	if (!is_json(y))
		return (-1);
	if (begin(y, -1) || pass(y, y->held.p, y->held.len))
		return (-1);
	buf_free(&y->held);
	return (pass(y, p, len));
}

static int
on_body(void *cookie, const void *p, size_t len)
{
	struct relay *y = cookie;

	if (y->watch != NULL)
		hold_see(y->watch, p, len);
	if (y->used != NULL)
		used_see(y->used, p, len);
	return (y->flowing ? pass(y, p, len) : hold(y, p, len));
}

/* Does the whole answer say what this wire's answers say? */
static int
is_answer(const struct relay *y)
{
	struct jspan_info info;
	struct jspan v;

	return (y->held.len > 0 &&
	    jspan_check(y->held.p, y->held.len, JSPAN_DEPTH_MAX, &info) ==
		JSPAN_OK &&
	    (y->to.answer == NULL ||
		jspan_get(info.root, y->to.answer, &v) > 0));
}

/* Has the provider no such path?  A model it has not says so of itself. */
static int
is_absent(const struct relay *y)
{

	return ((y->status == 404 || y->status == 405 || y->status == 501) &&
	    (y->held.len == 0 ||
		memmem(y->held.p, y->held.len, "\"error\"", 7) == NULL));
}

static int
give_back(struct relay *y, enum upstream_rc rc)
{
	struct model_req *m = y->m;

	if (m->r->gone || rc == UPSTREAM_GONE) {
		m->r->gone = 1;
		return (-1);
	}
	if (y->flowing) /* Whole; or broken off, and so is ours then. */
		return (rc == UPSTREAM_OK ? 0 : -1);
	if (rc == UPSTREAM_OK && y->to.absent != NULL && is_absent(y)) {
		*y->to.absent = 1;
		return (0);
	}
	if (rc != UPSTREAM_OK)
		(void)ask_failed(rc, &m->why);
	else if (y->status != 200)
		(void)wire_refuse(m->provider, y->status, y->retry_after,
		    y->held.p, y->held.len, &m->why);
	else if (!is_answer(y))
		(void)wire_refuse(m->provider, 502, NULL, NULL, 0, &m->why);
	else if (begin(y, (int64_t)y->held.len))
		return (-1);
	else
		return (pass(y, y->held.p, y->held.len));
	return (model_refuse(m));
}

/* The files that the reply has named, and the tokens that it took, once all of
 * it is on its way. */
static void
record(struct relay *y)
{
	struct model_req *m = y->m;
	const struct run_env env = {.conf = m->r->srv->conf,
	    .db = m->r->srv->db,
	    .store = m->r->srv->store,
	    .caller = &m->r->caller,
	    .mem = m->mem,
	    .gone_fd = -1};

	if (y->watch != NULL)
		hold_record(y->watch, &env);
	hold_free(y->watch);
	if (y->used != NULL)
		used_end(y->used, &m->tally.usage);
	used_free(y->used);
}

static int
exchange(struct model_req *m, const struct relay_to *to,
    const struct ask_head *h, const struct buf *body)
{
	const struct wire *w = wire_of((enum conf_wire)m->provider->wire);
	struct relay y = {
	    .m = m, .to = {.answer = w->answer}, .held = BUF_INIT(WHOLE_MAX)};
	const struct upstream_call call = {.label = m->provider->name,
	    .method = "POST",
	    .base = h->base,
	    .path = to != NULL ? to->path : w->path,
	    .headers = (const char *const *)h->header,
	    .body = body->p,
	    .len = body->len,
	    .gone_fd = io_fd(m->r->io),
	    .total_ms = m->provider->timeout_s * 1000,
	    .max = ANSWER_MAX,
	    .on_head = on_head,
	    .on_body = on_body,
	    .cookie = &y};
	int rc;

	if (to != NULL)
		y.to = *to;
	rc = give_back(&y, upstream_run(&call));
	buf_free(&y.held);
	record(&y);
	return (rc);
}

static int
relay(struct model_req *m, const struct relay_to *to)
{
	struct buf body = BUF_INIT(0);
	struct ask_head h;
	int rc;

	if ((rc = make_body(m, &body)) != 0) {
		buf_free(&body);
		m->r->gone |= rc > 0;
		return (rc > 0 ? -1 : model_refuse(m));
	}
	rc = -1;
	if (ask_head_new(&h, m->provider) == 0 &&
	    ask_head_more(&h, model_headers(m, m->mem, 0)) == 0)
		rc = exchange(m, to, &h, &body);
	ask_head_free(&h);
	buf_free(&body);
	return (rc);
}

int
model_relay(struct model_req *m, const struct relay_to *to)
{
	int rc = -1;

	/* Each file is there as bytes, as base64, and in its place. */
	m->mem = arena_new(MEM_MIN + 4 * (size_t)m->provider->request_max);
	if (m->mem != NULL)
		rc = relay(m, to);
	arena_free(m->mem);
	m->mem = NULL;
	return (rc);
}
