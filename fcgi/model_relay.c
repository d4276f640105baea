#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/conf.h"
#include "base/jput.h"
#include "base/jget.h"

#include "data/caller.h"
#include "run/ask.h"
#include "run/hold.h"
#include "speech/answer.h"
#include "speech/fill.h"
#include "speech/passing.h"
#include "speech/used.h"
#include "speech/wire.h"
#include "speech/wire_error.h"

#include "fcgi/io.h"
#include "fcgi/model.h"
#include "fcgi/model_headers.h"
#include "fcgi/model_inline.h"
#include "fcgi/req.h"

#define WHOLE_MAX (64UL << 20)  /* A JSON answer up to here is judged, */
#define OTHER_MAX 1048576       /* or one of another path. */
#define ANSWER_MAX (1ULL << 30) /* Of anything that is passed on. */
#define OUT_MAX (128UL << 20)   /* Of what one read makes. */
#define MORE_MAX 4096           /* Of a model's name. */
#define MEM_MIN (16UL << 20)    /* Besides files. */

/* An answer on its way back. */
struct relay {
	struct model_req *m;
	struct relay_to to;
	struct ask_heard heard;
	char type[128], retry_after[32];
	struct hold *watch; /* Over files it names; NULL: not looked for. */
	struct used *used;  /* Over its tokens; NULL likewise. */
	struct passing *passing; /* A model's stream; else NULL. */
	struct buf out;          /* What that makes to be sent. */
	int flowing;             /* Passed on as it comes... */
	struct buf held;         /* ...until then kept here. */
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

	y->heard.status = status;
	copy_header(y->type, sizeof(y->type), head, "content-type");
	copy_header(
	    y->retry_after, sizeof(y->retry_after), head, "retry-after");
	if (status == 200 && y->to.path == NULL)
		watch(y);
	if (status == 200 && y->to.path == NULL && is_stream(y)) {
		y->passing = passing_new(y->m->provider, y->m->peek.model);
		return (y->passing != NULL ? 0 : -1);
	}
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

	if (y->heard.status != 200 && y->held.len + len > ASK_ERROR_MAX)
		return (0);
	if (y->held.len + len <= (y->to.path == NULL ? WHOLE_MAX : OTHER_MAX))
		return (buf_put(&y->held, p, len));
	if (!is_json(y))
		return (-1);
	if (begin(y, -1) || pass(y, y->held.p, y->held.len))
		return (-1);
	buf_free(&y->held);
	return (pass(y, p, len));
}

/* Send on the events that have come, with the first of them the head. */
static int
send_events(struct relay *y)
{
	int rc = 0;

	if (!buf_ok(&y->out))
		return (-1);
	if (y->out.len > 0)
		rc = (!y->flowing && begin(y, -1)) ||
		    pass(y, y->out.p, y->out.len);
	buf_drop(&y->out, y->out.len);
	return (rc ? -1 : 0);
}

/* Until something was sent, an error can still be told with a status. */
static int
pass_events(struct relay *y, const void *p, size_t len)
{
	enum passing_rc rc = passing_feed(y->passing, p, len, &y->out);

	if ((rc == PASSING_TOLD && !y->flowing) || rc == PASSING_FAILED)
		return (-1);
	return (send_events(y));
}

static int
on_body(void *cookie, const void *p, size_t len)
{
	struct relay *y = cookie;

	ask_hear(&y->heard, p, len);
	if (y->watch != NULL)
		hold_see(y->watch, p, len);
	if (y->used != NULL)
		used_see(y->used, p, len);
	if (y->passing != NULL)
		return (pass_events(y, p, len));
	return (y->flowing ? pass(y, p, len) : hold(y, p, len));
}

/* Does the whole answer say what this wire's answers say?  If not, fill in why
 * for the caller. */
static int
check_answer(struct relay *y, struct jspan *root)
{
	struct model_req *m = y->m;
	struct jspan_info info;
	struct wire_error e;
	struct jspan v;

	if (y->held.len > 0 && y->held.p[0] == '<')
		return (refuse(&m->why, P_UPSTREAM, NULL, "%s", ANSWER_PAGE));
	if (y->held.len == 0 ||
	    jspan_check(y->held.p, y->held.len, JSPAN_DEPTH_MAX, &info) !=
		JSPAN_OK)
		return (wire_refuse(m->provider, 502, NULL, NULL, 0, &m->why));
	if (y->to.path == NULL && wire_error(info.root, 0, &e))
		return (wire_refuse(m->provider, e.status, y->retry_after,
		    e.at.p, e.at.len, &m->why));
	if (y->to.answer != NULL && jspan_get(info.root, y->to.answer, &v) == 0)
		return (wire_refuse(m->provider, 502, NULL, NULL, 0, &m->why));
	*root = info.root;
	return (0);
}

/* The answer under the name by which the caller knows the model. */
static int
send_answer(struct relay *y, struct jspan root)
{
	const struct model_req *m = y->m;
	struct buf name = BUF_INIT(MORE_MAX), b = BUF_INIT(2 * WHOLE_MAX);
	int rc = -1;

	if (y->to.path != NULL)
		rc = begin(y, (int64_t)y->held.len) ||
		    pass(y, y->held.p, y->held.len);
	else if (jput_str(&name, m->peek.model) == 0 &&
	    fill_answer(&b, (enum conf_wire)m->provider->wire,
		(struct jspan){y->held.p, y->held.len}, root,
		(struct jspan){name.p, name.len}) == 0)
		rc = begin(y, (int64_t)b.len) || pass(y, b.p, b.len);
	buf_free(&name);
	buf_free(&b);
	return (rc ? -1 : 0);
}

/* A model's stream is over: if it did not come to its end, say so in it. */
static int
end_events(struct relay *y, enum upstream_rc rc)
{
	struct model_req *m = y->m;
	struct problem_row row;
	enum passing_rc state =
	    passing_end(y->passing, rc != UPSTREAM_OK, &y->out);

	if (state == PASSING_MORE)
		(void)ask_failed(
		    rc == UPSTREAM_OK ? UPSTREAM_CUT : rc, &m->why);
	if (state == PASSING_TOLD || state == PASSING_FAILED) {
		passing_why(y->passing, &m->why);
		if (m->why.kind == P_RATE)
			m->why.retry_after = wire_seconds(y->retry_after);
	}
	if (state != PASSING_WHOLE && !y->flowing &&
	    (state != PASSING_MORE || y->out.len == 0))
		return (model_refuse(m));
	if (state == PASSING_MORE || state == PASSING_FAILED) {
		row = model_problem(&m->why);
		if (passing_fail(
			y->passing, &row, m->why.message, m->r->id, &y->out))
			return (-1);
	}
	return (send_events(y));
}

/* Has the provider no such path?  A model it has not says so of itself. */
static int
is_absent(const struct relay *y)
{

	return ((y->heard.status == 404 || y->heard.status == 405 ||
		    y->heard.status == 501) &&
	    (y->held.len == 0 ||
		memmem(y->held.p, y->held.len, "\"error\"", 7) == NULL));
}

static int
give_back(struct relay *y, enum upstream_rc rc)
{
	struct model_req *m = y->m;
	struct jspan root;

	if (m->r->gone || rc == UPSTREAM_GONE) {
		m->r->gone = 1;
		return (-1);
	}
	if (y->passing != NULL)
		return (end_events(y, rc));
	if (y->flowing) /* Whole; or broken off, and so is ours then. */
		return (rc == UPSTREAM_OK ? 0 : -1);
	if (rc == UPSTREAM_OK && y->to.absent != NULL && is_absent(y)) {
		*y->to.absent = 1;
		return (0);
	}
	if (rc != UPSTREAM_OK)
		(void)ask_failed(rc, &m->why);
	else if (y->heard.status != 200)
		(void)wire_refuse(m->provider, y->heard.status, y->retry_after,
		    y->held.p, y->held.len, &m->why);
	else if (check_answer(y, &root) == 0)
		return (send_answer(y, root));
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

/* The log is told what the provider has said in place of an answer. */
static void
tell(struct relay *y, const char *path)
{

	if (y->m->r->gone || y->m->why.message[0] == '\0')
		return;
	if (y->held.len > 0)
		ask_hear(&y->heard, y->held.p, y->held.len);
	ask_log(y->m->provider, path, &y->heard);
}

static int
exchange(struct model_req *m, const struct relay_to *to,
    const struct ask_head *h, const struct buf *body)
{
	const struct wire *w = wire_of((enum conf_wire)m->provider->wire);
	struct relay y = {.m = m,
	    .to = {.answer = w->answer},
	    .held = BUF_INIT(WHOLE_MAX),
	    .out = BUF_INIT(OUT_MAX),
	    .heard = {.since = clock_ms()}};
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
	enum upstream_rc got;
	int rc;

	if (to != NULL)
		y.to = *to;
	got = upstream_run(&call);
	m->tally.upstream_ms = clock_ms() - y.heard.since;
	rc = give_back(&y, got);
	if (got == UPSTREAM_OK || got == UPSTREAM_STOPPED)
		tell(&y, call.path);
	buf_free(&y.held);
	buf_free(&y.out);
	passing_free(y.passing);
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
