#include "base/arena.h"
#include "base/buf.h"
#include "base/conf.h"

#include "data/caller.h"
#include "run/turn.h"
#include "speech/talk.h"
#include "speech/wire.h"

#include "fcgi/io.h"
#include "fcgi/model.h"
#include "fcgi/req.h"

#define TALK_MEM (64UL << 20) /* Of a talk, besides its request. */
#define TALK_TIMES 4          /* What a request's text may grow to. */
#define ANSWER_MAX (128UL << 20)

/* What is not built yet, in the caller's words. */
static int
check_built(struct model_req *m)
{
	const struct wire *w = wire_of((enum conf_wire)m->provider->wire);

	if (m->dialect->read == NULL || w->write == NULL)
		return (refuse(&m->why, P_BAD_REQUEST, "model",
		    "The model '%.200s' is served over %s; %s cannot be "
		    "answered from there yet",
		    m->peek.model, w->name, m->dialect->route));
	if (m->peek.stream)
		return (refuse(&m->why, P_BAD_REQUEST, "stream",
		    "stream: a streamed answer is not available for this "
		    "model yet; send false"));
	return (0);
}

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

	if (w->finish(w, &b) == 0 &&
	    reply_begin(m->r, 200, "application/json", (int64_t)b.len) == 0)
		rc = reply_body(m->r, b.p, b.len);
	buf_free(&b);
	return (rc);
}

static int
run_turn(struct model_req *m, struct talk *t, struct writer *w)
{
	struct run_env env = {.conf = m->r->srv->conf,
	    .db = m->r->srv->db,
	    .store = m->r->srv->store,
	    .caller = &m->r->caller,
	    .mem = t->mem,
	    .gone_fd = io_fd(m->r->io)};
	struct turn_job job = {.env = &env,
	    .provider = m->provider,
	    .model = m->model,
	    .talk = t,
	    .writer = w};

	if (model_narrow(m, t, &env))
		return (-1);
	if (t->ours != 0)
		reply_header(m->r, "X-Code-Execution-Ran", "local");
	switch (turn_run(&job, &m->why)) {
	case RUN_OK:
		return (send_answer(m, w));
	case RUN_GONE:
		m->r->gone = 1;
		return (-1);
	case RUN_REFUSED:
		break;
	}
	return (model_refuse(m));
}

int
model_run(struct model_req *m)
{
	struct arena *mem;
	struct talk *t;
	struct writer *w = NULL;
	int rc = -1;

	if (check_built(m))
		return (model_refuse(m));
	if ((mem = arena_new(TALK_MEM + TALK_TIMES * m->text.len)) == NULL)
		return (-1);
	if ((t = talk_new(mem)) != NULL) {
		t->model = m->peek.model;
		model_vocabulary(m, t);
		if (m->dialect->read(m->root, t, &m->why))
			rc = model_refuse(m);
		else if ((w = m->dialect->gather(t)) != NULL)
			rc = run_turn(m, t, w);
	}
	if (w != NULL)
		w->free(w);
	arena_free(mem);
	return (rc);
}
