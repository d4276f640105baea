#include <sys/stat.h>

#include <poll.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

#include "jail/call.h"
#include "jail/files.h"
#include "jail/manifest.h"
#include "jail/plain.h"
#include "jail/program.h"
#include "jail/serve.h"
#include "jail/supervisor.h"
#include "jail/title.h"
#include "jail/walk.h"
#include "jail/ws.h"

#define ANSWER_MAX (64U << 20)
#define NS_PER_S 1000000000LL

/* One request. */
struct ask {
	struct jail *J;
	int conn;
	uint64_t deadline, ends; /* Of the call; of the session. */
	struct msg m;
	struct manifest M;
	uint64_t began; /* clock_ms() */
	enum program_stage stage;
	struct edited did;
	struct buf answer; /* Frames, DONE the last. */
};

static int64_t
coarse_now(void)
{
	struct timespec t;

	if (clock_gettime(CLOCK_REALTIME_COARSE, &t))
		return (0);
	return ((int64_t)t.tv_sec * NS_PER_S + t.tv_nsec);
}

/*
 * Files carry the time of a clock that ticks every few milliseconds.  Could one
 * be changed now and keep its time?  Not one that we have put: it has a finer
 * time (files.c).  Where more are there than were looked at, only their time
 * will tell those from new ones, and all have to be older than now.
 */
static int
too_early(const struct walk *w, int64_t now)
{
	size_t i;

	for (i = 0; i < w->n; i++)
		if (w->e[i].mtime == now ||
		    (w->truncated && w->e[i].mtime > now &&
			w->e[i].mtime <= now + NS_PER_S))
			return (1);
	return (0);
}

/* Wait out the tick of the latest change. */
static int64_t
settle(const struct walk *w)
{
	static const struct timespec moment = {.tv_nsec = 1000000};
	int64_t now = coarse_now();
	int tries;

	for (tries = 0; too_early(w, now) && tries < 20; tries++) {
		(void)nanosleep(&moment, NULL);
		now = coarse_now();
	}
	return (now);
}

static int
put_file(
    void *cookie, const struct walk_entry *was, const struct walk_entry *is)
{
	struct buf shown = BUF_INIT(4 * WS_PATH_SIZE), m = shown;
	struct buf *answer = cookie;
	int rc = -1;

	(void)was;
	if (is == NULL)
		return (0);
	if (ws_escape(&shown, is->path) == 0 &&
	    msg_text(&m, MSG_PATH, shown.p, shown.len) == 0 &&
	    msg_num(&m, MSG_SIZE, is->bytes) == 0)
		rc = frame_put(answer, FRAME_FILE, m.p, m.len);
	buf_free(&shown);
	buf_free(&m);
	return (rc);
}

/* Append FRAME_DONE with the numbers in ${m}. */
static void
done(struct ask *a, enum reply status, struct buf *m)
{

	(void)msg_num(m, MSG_STATUS, status);
	if (!buf_ok(m))
		a->answer.spoiled = 1;
	else
		(void)frame_put(&a->answer, FRAME_DONE, m->p, m->len);
	buf_free(m);
}

static void
done_plain(struct ask *a, enum reply status)
{
	struct buf m = BUF_INIT(64);

	done(a, status, &m);
}

/* The tool calls that ${C} has heard of; none if something is wrong. */
static void
put_asked(struct ask *a, const struct calls *C)
{
	size_t at = 0, len;
	const char *p;

	while (C->broken == NULL && (p = calls_next(C, &at, &len)) != NULL)
		(void)frame_put(&a->answer, FRAME_CALL, p, len);
}

static void
put_edited(struct buf *m, const struct edited *did)
{

	(void)msg_num(m, MSG_EDITED, did->kind);
	(void)msg_num(m, MSG_WHY, did->why);
	(void)msg_num(m, MSG_FIRST, did->start);
	(void)msg_num(m, MSG_LINES, did->lines);
	(void)msg_num(m, MSG_TOTAL, did->total);
	(void)msg_num(m, MSG_NEW_FIRST, did->new_start);
	(void)msg_num(m, MSG_NEW_LINES, did->new_lines);
	(void)msg_num(m, MSG_UPDATE, (uint64_t)did->update);
	if (did->diff.len > 0)
		(void)msg_text(m, MSG_DIFF, did->diff.p, did->diff.len);
}

/* What of an output stream has not been told yet. */
static void
put_output(
    struct ask *a, enum frame_tag tag, enum frame_tag end, const struct out *o)
{

	if (o->told < o->kept.len)
		(void)frame_put(&a->answer, tag, o->kept.p + o->told,
		    o->kept.len - o->told);
	if (o->last.len > 0)
		(void)frame_put(&a->answer, end, o->last.p, o->last.len);
}

/* What ${c} printed, and its end. */
static void
put_call(struct ask *a, const struct call *c, uint64_t ms, int truncated)
{
	struct buf m = BUF_INIT(FRAME_MAX);

	put_output(a, FRAME_OUT, FRAME_OUT_END, &c->out);
	put_output(a, FRAME_ERR, FRAME_ERR_END, &c->err);
	if (c->calls != NULL)
		put_asked(a, c->calls);
	(void)msg_num(&m, MSG_CODE, (uint64_t)c->code);
	(void)msg_num(&m, MSG_END, c->end);
	(void)msg_num(&m, MSG_SIGNAL, (uint64_t)c->signal);
	(void)msg_num(&m, MSG_STAGE, a->stage);
	(void)msg_num(&m, MSG_MS, ms);
	(void)msg_num(&m, MSG_OUT_DROPPED, c->out.dropped);
	(void)msg_num(&m, MSG_ERR_DROPPED, c->err.dropped);
	(void)msg_num(&m, MSG_TRUNCATED, (uint64_t)truncated);
	put_edited(&m, &a->did);
	if (c->note.len > 0)
		(void)msg_text(&m, MSG_NOTE, c->note.p, c->note.len);
	if (c->calls != NULL && c->calls->broken != NULL)
		(void)msg_text(
		    &m, MSG_BROKEN, c->calls->broken, strlen(c->calls->broken));
	done(a, REPLY_OK, &m);
}

static enum reply
run_text(struct ask *a, struct call *c)
{
	const char *text = msg_get(&a->m, MSG_TEXT);

	if (text == NULL)
		return (REPLY_BAD);
	if (msg_get_num(&a->m, MSG_OP, 0) == OP_BASH)
		call_bash(c, text, strlen(text));
	else
		call_python(c, text, strlen(text));
	return (REPLY_OK);
}

static enum reply
run_program(struct ask *a, struct call *c)
{

	return (program_run(c, &a->m, a->ends, &a->stage));
}

static enum reply
run_edit(struct ask *a, struct call *c)
{

	c->end = CALL_ENDED;
	c->code = editor_run(
	    &a->J->editor, a->J->root, &a->m, &c->out, &c->err, &a->did);
	return (REPLY_OK);
}

/* What ${c} has changed since ${before} was taken, and how it went. */
static void
put_changes(
    struct ask *a, struct call *c, const struct walk *before, int64_t since)
{
	const uint64_t ms = clock_ms() - a->began;
	struct walk after;

	if (walk_take(a->J->root, WALK_DEPTH, 0, &after)) {
		done_plain(a, REPLY_FAIL);
		return;
	}
	if (a->M.wanted
		? manifest_put(&a->M, before, &after, since, &a->answer)
		: walk_diff(before, &after, since, put_file, &a->answer))
		done_plain(a, REPLY_FAIL);
	else
		put_call(a, c, ms,
		    before->truncated || after.truncated || a->M.truncated);
	walk_free(&after);
}

/* Run something between two looks at the workspace. */
static void
look_and_run(struct ask *a, struct call *c,
    enum reply (*run)(struct ask *, struct call *))
{
	struct walk before;
	int64_t since;
	enum reply rc;

	if (walk_take(a->J->root, WALK_DEPTH, 0, &before)) {
		done_plain(a, REPLY_FAIL);
		return;
	}
	since = settle(&before);
	a->began = clock_ms();
	rc = run(a, c);
	out_end(&c->out);
	out_end(&c->err);
	if (clock_ms() >= a->ends)
		/* The session is over: it ends without an answer. */
		a->answer.spoiled = 1;
	else if (rc != REPLY_OK || c->end == CALL_LEFT)
		done_plain(a, rc != REPLY_OK ? rc : REPLY_FAIL);
	else
		put_changes(a, c, &before, since);
	walk_free(&before);
}

static void
execute(struct ask *a, enum reply (*run)(struct ask *, struct call *))
{
	struct call c = {.J = a->J,
	    .conn = a->conn,
	    .deadline = a->deadline,
	    .limit_s = msg_get_num(&a->m, MSG_LIMIT, 0),
	    .lim = a->J->lim,
	    .out = OUT_INIT,
	    .err = OUT_INIT,
	    .note = BUF_INIT(2048),
	    .ask = BUF_INIT(FRAME_MAX),
	    .settle_ms = msg_get_num(&a->m, MSG_SETTLE, 0)};
	struct calls calls = CALLS_INIT;
	enum reply rc;

	if (c.settle_ms > 0)
		c.calls = &calls;
	if (msg_get_num(&a->m, MSG_STREAM, 0))
		c.wire = &a->answer;

	/* A program may have locked itself out; that ends with it. */
	(void)fchmod(a->J->root, 0700);
	rc = manifest_begin(
	    &a->M, a->J->root, a->J->lim.workspace, msg_get(&a->m, MSG_INPUTS));
	if (rc == REPLY_OK)
		look_and_run(a, &c, run);
	else
		done_plain(a, rc);
	manifest_free(&a->M);
	out_free(&c.out);
	out_free(&c.err);
	buf_free(&c.note);
	calls_free(&calls);
}

static void
op_text(struct ask *a)
{

	execute(a, run_text);
}

static void
op_run(struct ask *a)
{

	execute(a, run_program);
}

/* What we write ourselves is held to the space by nobody else. */
static void
bound(const struct jail *J)
{

	if (J->rules != -1)
		plain_bound(&J->land, J->lim.workspace);
}

static void
op_edit(struct ask *a)
{

	bound(a->J);
	execute(a, run_edit);
}

static void
op_put(struct ask *a)
{
	struct buf shown = BUF_INIT(4 * WS_PATH_SIZE), m = shown;
	uint64_t bytes = 0;
	enum reply rc;

	bound(a->J);
	rc = files_put(a->J->root, a->conn, a->deadline, &bytes, &shown);
	if (rc == REPLY_OK) {
		(void)msg_text(&m, MSG_PATH, shown.p, shown.len);
		(void)msg_num(&m, MSG_SIZE, bytes);
	}
	done(a, rc, &m);
	buf_free(&shown);
}

static void
op_get(struct ask *a)
{
	const char *path = msg_get(&a->m, MSG_PATH);

	done_plain(
	    a, path == NULL ? REPLY_BAD : files_get(a->J->root, a->conn, path));
}

static void
op_list(struct ask *a)
{
	const char *path = msg_get(&a->m, MSG_PATH);
	struct buf m = BUF_INIT(64);
	enum reply rc = REPLY_BAD;
	int truncated = 0;

	if (path != NULL)
		rc = files_list(a->J->root, path, &a->answer, &truncated);
	(void)msg_num(&m, MSG_TRUNCATED, (uint64_t)truncated);
	done(a, rc, &m);
}

/* Once only: afterwards the session's times are its caller's. */
static void
op_claim(struct ask *a)
{
	struct jail *J = a->J;

	if (!J->ready) {
		done_plain(a, REPLY_BAD);
		return;
	}
	J->ready = 0;
	title_session("session", SUPERVISOR_LOCK);
	J->began = clock_ms();
	J->lim.idle_s = msg_get_num(&a->m, MSG_IDLE, J->lim.idle_s);
	J->lim.lifetime_s = msg_get_num(&a->m, MSG_LIFETIME, J->lim.lifetime_s);
	done_plain(a, REPLY_OK);
}

/* Its turn has come, so nothing runs. */
static void
op_retire(struct ask *a)
{

	a->J->over = 1;
	done_plain(a, REPLY_OK);
}

static void (*const ops[OP_END])(struct ask *) = {
    [OP_BASH] = op_text,
    [OP_PYTHON] = op_text,
    [OP_RUN] = op_run,
    [OP_EDIT] = op_edit,
    [OP_PUT] = op_put,
    [OP_GET] = op_get,
    [OP_LIST] = op_list,
    [OP_CLAIM] = op_claim,
    [OP_RETIRE] = op_retire,
};

/* The worker has given up waiting for its turn. */
static int
left(int conn)
{
	struct pollfd p = {.fd = conn, .events = POLLRDHUP};

	return (poll(&p, 1, 0) != 0);
}

/* Do what ${a} asks, its message being in ${body}. */
static void
answer(struct ask *a, const struct buf *body)
{
	uint64_t op;

	if (msg_parse(body->p, body->len, &a->m) ||
	    (op = msg_get_num(&a->m, MSG_OP, 0)) >= OP_END || ops[op] == NULL) {
		done_plain(a, REPLY_BAD);
	} else if (left(a->conn)) {
		return;
	} else if (clock_ms() >= msg_get_num(&a->m, MSG_DEADLINE, 0)) {
		done_plain(a, REPLY_LATE);
	} else {
		if (msg_get_num(&a->m, MSG_DEADLINE, 0) < a->deadline)
			a->deadline = msg_get_num(&a->m, MSG_DEADLINE, 0);
		if (frame_send(a->conn, FRAME_BEGUN, NULL, 0))
			return;
		ops[op](a);
	}
	if (buf_ok(&a->answer))
		(void)frame_flush(a->conn, &a->answer);
}

void
serve(struct jail *J, int conn, uint64_t ends)
{
	struct ask a = {.J = J,
	    .conn = conn,
	    .deadline = ends,
	    .ends = ends,
	    .did = EDITED_INIT,
	    .answer = BUF_INIT(ANSWER_MAX)};
	struct buf body = BUF_INIT(FRAME_MAX);
	enum frame_tag tag;

	if (frame_recv(conn, &tag, &body) == FRAME_OK && tag == FRAME_ASK)
		answer(&a, &body);
	buf_free(&body);
	buf_free(&a.did.diff);
	buf_free(&a.answer);
}
