#include <stdint.h>

#include "base/clock.h"
#include "base/conf.h"
#include "base/gate.h"

#include "fcgi/body.h"
#include "fcgi/io.h"
#include "fcgi/req.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define PLACE_S 30       /* For a place: files come many at once. */
#define QUICK_MS 5000    /* One in a hurry may wait so long in all... */
#define QUICK_PAUSE 2000 /* ...and at a time. */

int
req_body_begin(struct req *r)
{
	struct req_body *b = &r->body;
	enum gate_rc rc;

	if (r->srv->gate == NULL || b->held != GATE_NOTHING)
		return (0);
	b->who = r->caller.owner.user;
	rc = gate_enter(r->srv->gate, b->who, 1, PLACE_S);
	if (rc == GATE_PLACE) {
		b->held = rc;
		return (0);
	}
	if (rc == GATE_SHARE)
		(void)reply_problem(r, P_RATE, NULL,
		    "Too many uploads of yours are under way, try again");
	else
		(void)req_body_failed(r, IO_BUSY);
	return (-1);
}

void
req_body_end(struct req *r)
{

	if (r->body.held != GATE_NOTHING)
		gate_leave(r->srv->gate, r->body.who, 1, r->body.held);
	r->body.held = GATE_NOTHING;
}

/* As req_body_begin(), but with neither a wait nor an answer. */
static int
slip_in(struct req *r)
{
	struct req_body *b = &r->body;
	enum gate_rc rc;

	if (r->srv->gate == NULL || b->held != GATE_NOTHING)
		return (0);
	b->who = r->caller.owner.user;
	if ((rc = gate_slip_in(r->srv->gate, b->who)) == GATE_FULL)
		return (-1);
	b->held = rc;
	return (0);
}

/* Must the body be over soon? */
static int
hurried(const struct req_body *b)
{

	return (b->hurry || b->held == GATE_QUICK);
}

/* What came in the last window, were the next ${n} slices of it empty. */
static uint64_t
recent(const struct req_body *b, uint64_t n)
{
	uint64_t sum = 0;

	for (uint64_t i = n; i < NELEM(b->slice); i++)
		sum += b->slice[(b->slices + 1 + i) % NELEM(b->slice)];
	return (sum);
}

/*
 * Note ${ms} more of waiting.  Return -1 once the last window of it brought too
 * little.  The window slides by a tenth of its length.
 */
static int
waited(struct req *r, uint64_t ms)
{
	const struct conf *c = r->srv->conf;
	struct req_body *b = &r->body;
	const uint64_t slice =
	    c->files_upload_window_s * 1000 / NELEM(b->slice);

	b->waited_ms += ms;
	b->slice_ms += ms;
	while (b->slice_ms >= slice) {
		b->slice_ms -= slice;
		if (b->slices + 1 >= NELEM(b->slice) &&
		    recent(b, 0) < c->files_min_rate * c->files_upload_window_s)
			return (-1);
		b->slices++;
		b->slice[b->slices % NELEM(b->slice)] = 0;
	}
	return (hurried(b) && b->waited_ms >= QUICK_MS ? -1 : 0);
}

/* How long nothing may come before the rate is too low: at most the window. */
static uint64_t
patience(const struct req *r)
{
	const struct conf *c = r->srv->conf;
	const struct req_body *b = &r->body;
	const uint64_t slice =
	    c->files_upload_window_s * 1000 / NELEM(b->slice);
	uint64_t n;

	if (hurried(b))
		return (QUICK_PAUSE);
	for (n = 0; n < NELEM(b->slice); n++) {
		if (b->slices + 1 + n >= NELEM(b->slice) &&
		    recent(b, n) < c->files_min_rate * c->files_upload_window_s)
			break;
	}
	if (n == NELEM(b->slice))
		return (c->files_upload_window_s * 1000);
	return ((n + 1) * slice - b->slice_ms);
}

enum io_rc
req_body_read(struct req *r, void *buf, size_t len, size_t *got)
{
	struct req_body *b = &r->body;
	uint64_t since;
	enum io_rc rc;

	*got = 0;
	if (slip_in(r))
		return (IO_BUSY);
	io_patience(r->io, patience(r));
	since = clock_ms();
	if ((rc = io_read(r->io, buf, len, got)) != IO_OK)
		return (rc);
	b->slice[b->slices % NELEM(b->slice)] += *got;
	r->bytes_in += *got;
	return (waited(r, clock_ms() - since) ? IO_SLOW : IO_OK);
}

int
req_body_failed(struct req *r, enum io_rc rc)
{

	switch (rc) {
	case IO_SLOW:
		return (reply_problem(
		    r, P_SLOW_BODY, NULL, "The request body came too slowly"));
	case IO_BUSY:
		return (reply_problem(r, P_BUSY, NULL,
		    "Too many requests are being received, try again"));
	default:
		if (io_gone(r->io))
			r->gone = 1;
		return (reply_problem(r, P_INCOMPLETE_BODY, NULL,
		    "The request body ended too early"));
	}
}
