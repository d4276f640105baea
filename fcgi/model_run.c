#include "base/arena.h"
#include "base/buf.h"
#include "base/conf.h"

#include "data/caller.h"
#include "run/turn.h"
#include "speech/talk.h"
#include "speech/wire.h"

#include "fcgi/io.h"
#include "fcgi/model.h"
#include "fcgi/model_headers.h"
#include "fcgi/model_stream.h"
#include "fcgi/req.h"
#include "fcgi/req_path.h"

#define TALK_MEM (64UL << 20) /* Of a talk, besides its request. */
#define TALK_TIMES 4          /* What a request's text may grow to. */
#define ANSWER_MAX (128UL << 20)

void
model_vocabulary(const struct model_req *m, struct talk *t)
{

	if (m->peek.declared == DECLARED_NONE)
		return;
	t->ours = our_vocabulary(m->peek.declared, m->peek.type);
	t->quiet = m->peek.declared == DECLARED_EXPLICIT && !m->peek.native;
}

/* Send what the writer gathered. */
static int
send_answer(struct model_req *m, struct writer *w)
{
	struct buf b = BUF_INIT(ANSWER_MAX);
	int rc = -1;

	if (w->finish(w, &b) == 0)
		rc = reply_text(m->r, 200, b.p, b.len);
	buf_free(&b);
	return (rc);
}

/* The turn; the client is answered by whoever has the writer. */
static enum run_rc
run_turn(struct model_req *m, struct talk *t, struct writer *w,
    struct model_stream *stream)
{
	struct run_env env = {.conf = m->r->srv->conf,
	    .db = m->r->srv->db,
	    .store = m->r->srv->store,
	    .tally = &m->tally,
	    .leases = m->r->srv->leases,
	    .seats = m->r->srv->seats,
	    .slot = m->r->srv->slot,
	    .caller = &m->r->caller,
	    .mem = t->mem,
	    .headers = model_headers(m, t->mem, 1),
	    .gone_fd = io_fd(m->r->io),
	    .on_wait = stream != NULL ? model_stream_wait : NULL,
	    .wait_cookie = stream};
	struct turn_job job = {.env = &env,
	    .provider = m->provider,
	    .model = m->model,
	    .talk = t,
	    .writer = w};

	if (model_narrow(m, t, &env)) {
		(void)refuse(&m->why, P_SERVER, NULL, "out of memory");
		return (RUN_REFUSED);
	}
	if (t->ours != 0)
		reply_header(m->r, "X-Code-Execution-Ran", "local");
	return (turn_run(&job, &m->why));
}

/* Answer once the turn is over. */
static int
run_whole(struct model_req *m, struct talk *t)
{
	struct writer *w;
	int rc = -1;

	if ((w = m->dialect->gather(t)) == NULL)
		return (-1);
	switch (run_turn(m, t, w, NULL)) {
	case RUN_OK:
		model_keep(m, w);
		rc = send_answer(m, w);
		break;
	case RUN_GONE:
		m->r->gone = 1;
		break;
	case RUN_REFUSED:
		rc = model_refuse(m);
		break;
	}
	w->free(w);
	return (rc);
}

/* Answer as it comes. */
static int
run_streamed(struct model_req *m, struct talk *t)
{
	struct model_stream s;
	int rc = -1;

	t->stream = 1;
	if (model_stream_begin(&s, m->r, m->dialect, t) == 0)
		switch (run_turn(m, t, &s.w, &s)) {
		case RUN_OK:
			model_keep(m, s.inner);
			rc = model_stream_finish(&s);
			break;
		case RUN_GONE:
			m->r->gone = 1;
			break;
		case RUN_REFUSED:
			rc = m->r->status == 0 ? model_refuse(m)
					       : model_stream_fail(&s, &m->why);
			break;
		}
	model_stream_end(&s);
	return (rc);
}

int
model_run(struct model_req *m)
{
	const char *base = req_base(m->r);
	struct arena *mem;
	struct talk *t;
	int rc = -1;

	if (model_continue(m, 0) || model_refer(m, 0))
		return (model_refuse(m));
	if (base == NULL ||
	    (mem = arena_new(TALK_MEM + TALK_TIMES * m->text.len)) == NULL)
		return (-1);
	if ((t = talk_new(mem)) != NULL) {
		t->model = m->peek.model;
		t->now = m->r->caller.now / 1000;
		t->base = base;
		t->before = m->before;
		model_vocabulary(m, t);
		if (m->dialect->read(m->root, t, &m->why))
			rc = model_refuse(m);
		else
			rc = m->peek.stream ? run_streamed(m, t)
					    : run_whole(m, t);
	}
	arena_free(mem);
	return (rc);
}
