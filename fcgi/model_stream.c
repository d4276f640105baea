#include <string.h>

#include "base/clock.h"
#include "base/jlines.h"
#include "base/utf8.h"

#include "fcgi/io.h"
#include "fcgi/model.h"
#include "fcgi/model_stream.h"
#include "fcgi/req.h"

#define OUT_MAX (64U << 20) /* Of what one event makes. */
#define MESSAGE_MAX 4096

/* Proxies cut connections that are silent for too long, and no client need be
 * left without a word for longer than 15 seconds (executor contract 3.3). */
#define QUIET_MS 13000

static int
send_out(struct model_stream *s)
{
	struct req *r = s->r;

	if (s->out.len == 0)
		return (0);
	if (jlines_mend(&s->out))
		return (-1);
	if (r->status == 0) {
		reply_header(r, "Cache-Control", "no-cache");
		reply_header(r, "X-Accel-Buffering", "no");
		if (reply_begin(r, 200, "text/event-stream; charset=utf-8", -1))
			return (-1);
	}
	if (reply_body(r, s->out.p, s->out.len))
		return (-1);
	if (io_flush(r->io)) {
		r->gone = 1;
		return (-1);
	}
	s->out.len = 0;
	s->last = clock_ms();
	return (0);
}

static int
on_event(struct writer *w, const struct event *ev)
{
	struct model_stream *s = (struct model_stream *)w;

	return (s->inner->event(s->inner, ev));
}

static int
on_flush(struct writer *w)
{

	return (send_out((struct model_stream *)w));
}

int
model_stream_begin(struct model_stream *s, struct req *r,
    const struct model_dialect *d, const struct talk *t)
{

	*s = (struct model_stream){.w = {.event = on_event, .flush = on_flush},
	    .r = r,
	    .out = BUF_INIT(OUT_MAX),
	    .last = clock_ms()};
	s->inner = d->stream(t, &s->out);
	return (s->inner != NULL ? 0 : -1);
}

void
model_stream_end(struct model_stream *s)
{

	if (s->inner != NULL)
		s->inner->free(s->inner);
	buf_free(&s->out);
}

int
model_stream_wait(void *cookie)
{
	struct model_stream *s = cookie;

	if (clock_ms() < s->last + QUIET_MS)
		return (0);
	return (s->inner->alive(s->inner) || send_out(s) ? -1 : 0);
}

int
model_stream_finish(struct model_stream *s)
{

	if (s->inner->finish(s->inner, &s->out))
		return (-1);
	return (send_out(s));
}

int
model_stream_fail(struct model_stream *s, const struct refusal *why)
{
	const struct problem_row row = model_problem(why);
	struct buf clean = BUF_INIT(MESSAGE_MAX);
	int rc = -1;

	/* What is half written is dropped: nothing of it has been sent. */
	s->out.len = 0;
	s->out.spoiled = 0;
	if (utf8_scrub(&clean, why->message, strlen(why->message)) == 0 &&
	    s->inner->fail(
		s->inner, &row, clean.p != NULL ? clean.p : "", s->r->id) == 0)
		rc = send_out(s);
	buf_free(&clean);
	return (rc);
}
