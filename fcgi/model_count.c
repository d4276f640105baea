#include <inttypes.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/conf.h"

#include "speech/estimate.h"
#include "speech/messages.h"
#include "speech/responses.h"
#include "speech/talk.h"

#include "fcgi/model.h"
#include "fcgi/req.h"
#include "fcgi/routes.h"

#define TALK_MEM (64UL << 20)
#define TALK_TIMES 4

/* The two routes that count a prompt's tokens. */
struct count {
	const struct model_dialect *dialect;
	int (*read)(struct jspan, struct talk *, struct refusal *);
	struct relay_to to;
	const char *begin; /* Of the answer, up to the number. */
};

static int
send_count(struct req *r, const char *begin, uint64_t n)
{
	struct buf b = BUF_INIT(256);
	int rc = -1;

	if (buf_printf(&b, "%s%" PRIu64 "}", begin, n) == 0)
		rc = reply_text(r, 200, b.p, b.len);
	buf_free(&b);
	return (rc);
}

/* Read the request as the model route would, and estimate. */
static int
estimate(struct model_req *m, const struct count *c)
{
	struct arena *mem = arena_new(TALK_MEM + TALK_TIMES * m->text.len);
	struct talk *t = mem != NULL ? talk_new(mem) : NULL;
	int rc = -1;

	if (t != NULL) {
		t->model = m->peek.model;
		t->max_tokens = 1; /* Nobody asks for an answer. */
		model_vocabulary(m, t);
		if (c->read(m->root, t, &m->why))
			rc = model_refuse(m);
		else
			rc = send_count(m->r, c->begin, estimate_tokens(t));
	}
	arena_free(mem);
	return (rc);
}

/* A provider of the same wire counts best, if it counts at all. */
static int
count(struct req *r, const struct count *c)
{
	struct model_req m = {.r = r, .dialect = c->dialect};
	struct relay_to to = c->to;
	int absent = 0, rc, relayed;

	if (model_open(&m))
		return (0);
	relayed = m.dialect->wire == (enum conf_wire)m.provider->wire &&
	    (m.peek.declared == DECLARED_NONE || m.provider->native_code);
	if (model_continue(&m, 1) || model_refer(&m, relayed))
		return (model_refuse(&m));
	if (relayed) {
		to.absent = &absent;
		rc = model_relay(&m, &to);
		if (!absent)
			return (rc);
	}
	return (estimate(&m, c));
}

/*
 * POST /v1/messages/count_tokens
 *
 * 200: how many tokens the request is.  Nothing is run, no file is copied.
 */
int
messages_count(struct req *r)
{
	static const struct count c = {&model_messages, messages_read,
	    {.path = "/messages/count_tokens", .answer = "input_tokens"},
	    "{\"input_tokens\":"};

	return (count(r, &c));
}

/*
 * POST /v1/responses/input_tokens
 *
 * 200: the same for this dialect.
 */
int
responses_count(struct req *r)
{
	static const struct count c = {&model_responses, responses_read,
	    {.path = "/responses/input_tokens", .answer = "input_tokens"},
	    "{\"object\":\"response.input_tokens\",\"input_tokens\":"};

	return (count(r, &c));
}
