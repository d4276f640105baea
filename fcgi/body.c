#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/conf.h"

#include "fcgi/body.h"
#include "fcgi/io.h"
#include "fcgi/req.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define PLACE_S 5        /* Seconds to wait for a place. */
#define QUICK_MS 5000    /* A reader without one may wait so long in all... */
#define QUICK_PAUSE 2000 /* ...and at a time. */

/* What of the gate a reader holds. */
enum { HELD_NOTHING, HELD_PLACE, HELD_QUICK };

struct gate {
	pthread_mutex_t lock;
	pthread_cond_t left;   /* A place has become free. */
	size_t places, quick;  /* Free. */
	size_t queue, waiting; /* Waiting holds a thread as well. */
};

struct gate *
gate_new(size_t threads)
{
	struct gate *g;

	if ((g = calloc(1, sizeof(*g))) == NULL)
		return (NULL);
	(void)pthread_mutex_init(&g->lock, NULL);
	(void)pthread_cond_init(&g->left, NULL);
	if ((g->places = threads * 3 / 4) == 0)
		g->places = 1;
	g->quick = threads / 16;
	g->queue = threads / 8;
	return (g);
}

void
gate_free(struct gate *g)
{

	if (g == NULL)
		return;
	(void)pthread_cond_destroy(&g->left);
	(void)pthread_mutex_destroy(&g->lock);
	free(g);
}

/* Take a place, after a wait if need be.  Return HELD_PLACE or HELD_NOTHING. */
static int
enter(struct gate *g)
{
	struct timespec until;
	int rc = 0;

	(void)clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += PLACE_S;
	pthread_mutex_lock(&g->lock);
	if (g->places == 0 && g->waiting < g->queue) {
		g->waiting++;
		while (g->places == 0 && rc == 0)
			rc = pthread_cond_clockwait(
			    &g->left, &g->lock, CLOCK_MONOTONIC, &until);
		g->waiting--;
	}
	if ((rc = g->places > 0))
		g->places--;
	pthread_mutex_unlock(&g->lock);
	return (rc ? HELD_PLACE : HELD_NOTHING);
}

/* Take a place, or else leave to be quick, without a wait. */
static int
slip_in(struct gate *g)
{
	int held = HELD_NOTHING;

	pthread_mutex_lock(&g->lock);
	if (g->places > 0) {
		g->places--;
		held = HELD_PLACE;
	} else if (g->quick > 0) {
		g->quick--;
		held = HELD_QUICK;
	}
	pthread_mutex_unlock(&g->lock);
	return (held);
}

static void
leave(struct gate *g, int held)
{

	pthread_mutex_lock(&g->lock);
	if (held == HELD_PLACE) {
		g->places++;
		pthread_cond_signal(&g->left);
	} else {
		g->quick++;
	}
	pthread_mutex_unlock(&g->lock);
}

int
req_body_begin(struct req *r)
{

	if (r->srv->gate == NULL || r->body.held ||
	    (r->body.held = enter(r->srv->gate)) != HELD_NOTHING)
		return (0);
	(void)req_body_failed(r, IO_BUSY);
	return (-1);
}

void
req_body_end(struct req *r)
{

	if (r->body.held != HELD_NOTHING)
		leave(r->srv->gate, r->body.held);
	r->body.held = HELD_NOTHING;
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
	return (b->held == HELD_QUICK && b->waited_ms >= QUICK_MS ? -1 : 0);
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

	if (b->held == HELD_QUICK)
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
	if (b->held == HELD_NOTHING && r->srv->gate != NULL &&
	    (b->held = slip_in(r->srv->gate)) == HELD_NOTHING)
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
