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
#define PLACE_S 5 /* Seconds to wait for a place. */

struct gate {
	pthread_mutex_t lock;
	pthread_cond_t left; /* A place has become free. */
	size_t places, free;
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
	g->free = g->places;
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

/* Take a place, after a wait if need be.  Return 0, or -1 if there is none. */
static int
enter(struct gate *g)
{
	struct timespec until;
	int rc = 0;

	(void)clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += PLACE_S;
	pthread_mutex_lock(&g->lock);
	if (g->free == 0 && g->waiting >= g->queue) {
		rc = -1;
	} else {
		g->waiting++;
		while (g->free == 0 && rc == 0)
			rc = pthread_cond_clockwait(
			    &g->left, &g->lock, CLOCK_MONOTONIC, &until);
		g->waiting--;
		if (g->free > 0) {
			g->free--;
			rc = 0;
		}
	}
	pthread_mutex_unlock(&g->lock);
	return (rc ? -1 : 0);
}

static void
leave(struct gate *g)
{

	pthread_mutex_lock(&g->lock);
	g->free++;
	pthread_cond_signal(&g->left);
	pthread_mutex_unlock(&g->lock);
}

static int
hold(struct req *r)
{

	if (r->srv->gate == NULL || r->body.held)
		return (0);
	if (enter(r->srv->gate))
		return (-1);
	r->body.held = 1;
	return (0);
}

int
req_body_begin(struct req *r)
{

	if (hold(r) == 0)
		return (0);
	(void)req_body_failed(r, IO_BUSY);
	return (-1);
}

void
req_body_end(struct req *r)
{

	if (!r->body.held)
		return;
	r->body.held = 0;
	leave(r->srv->gate);
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
	uint64_t sum;

	b->silent_ms += ms;
	b->slice_ms += ms;
	while (b->slice_ms >= slice) {
		b->slice_ms -= slice;
		sum = 0;
		for (size_t i = 0; i < NELEM(b->slice); i++)
			sum += b->slice[i];
		b->slices++;
		if (b->slices >= NELEM(b->slice) &&
		    sum < c->files_min_rate * c->files_upload_window_s)
			return (-1);
		b->slice[b->slices % NELEM(b->slice)] = 0;
	}
	return (b->silent_ms < c->files_upload_window_s * 1000 ? 0 : -1);
}

/* Wait for the sender.  IO_OK when io_read() has something to say. */
static enum io_rc
await(struct req *r)
{
	const uint64_t step = r->srv->conf->files_upload_window_s * 100;
	uint64_t now, since;
	enum io_rc rc;

	if (io_wait(r->io, 0) == IO_OK)
		return (IO_OK);
	if (hold(r))
		return (IO_BUSY);
	since = clock_ms();
	do {
		rc = io_wait(r->io, (int)step);
		now = clock_ms();
		if (waited(r, now - since))
			return (IO_SLOW);
		since = now;
	} while (rc != IO_OK);
	return (IO_OK);
}

enum io_rc
req_body_read(struct req *r, void *buf, size_t len, size_t *got)
{
	struct req_body *b = &r->body;
	enum io_rc rc;

	*got = 0;
	if ((rc = await(r)) != IO_OK)
		return (rc);
	if ((rc = io_read(r->io, buf, len, got)) != IO_OK)
		return (rc);
	b->silent_ms = 0;
	b->slice[b->slices % NELEM(b->slice)] += *got;
	r->bytes_in += *got;
	return (IO_OK);
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
