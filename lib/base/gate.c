#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "base/gate.h"

/* What one has of the gate; each thread is in one such row at most. */
struct share {
	uint64_t who;
	size_t held, waiting;
};

/* A thread that waits. */
struct waiter {
	struct waiter *next;
	pthread_cond_t served;
	uint64_t who;
	size_t n;
	int has; /* What it has waited for. */
};

struct gate {
	pthread_mutex_t lock;
	struct gate_size size;
	size_t places, quick;        /* Free. */
	size_t queue;                /* Free; waiting holds a thread as well. */
	struct waiter *first, *last; /* Who came first is the first. */
	size_t n;                    /* Those who have something. */
	struct share shares[];       /* One a thread. */
};

struct gate *
gate_new(const struct gate_size *size)
{
	struct gate *g;

	if ((g = calloc(
		 1, sizeof(*g) + size->threads * sizeof(g->shares[0]))) == NULL)
		return (NULL);
	(void)pthread_mutex_init(&g->lock, NULL);
	g->size = *size;
	if (g->size.places == 0)
		g->size.places = 1;
	g->places = g->size.places;
	g->quick = size->quick;
	g->queue = size->queue;
	return (g);
}

void
gate_free(struct gate *g)
{

	if (g == NULL)
		return;
	(void)pthread_mutex_destroy(&g->lock);
	free(g);
}

/* The row of ${who}, made if need be.  Good until the lock is given up. */
static struct share *
share_of(struct gate *g, uint64_t who)
{
	size_t i;

	for (i = 0; i < g->n && g->shares[i].who != who; i++)
		;
	if (i == g->n)
		g->shares[g->n++] = (struct share){.who = who};
	return (&g->shares[i]);
}

/* Forget ${s} if it holds nothing. */
static void
tidy(struct gate *g, struct share *s)
{

	if (s->held == 0 && s->waiting == 0)
		*s = g->shares[--g->n];
}

/* May one who has ${mine} of what ${left} are left of have ${n} more? */
static int
fair(size_t mine, size_t left, size_t n)
{

	return (n <= left && mine + n <= 2 * left);
}

/* Take ${n} places for ${who}, if they are free for them. */
static enum gate_rc
take(struct gate *g, uint64_t who, size_t n)
{
	struct share *s = share_of(g, who);
	enum gate_rc rc = GATE_PLACE;

	if (fair(s->held, g->places, n)) {
		s->held += n;
		g->places -= n;
	} else {
		rc = n <= g->places ? GATE_SHARE : GATE_FULL;
	}
	tidy(g, s);
	return (rc);
}

static void
take_out(struct gate *g, struct waiter *w)
{
	struct waiter **at, *before = NULL;

	for (at = &g->first; *at != w; at = &(*at)->next)
		before = *at;
	*at = w->next;
	if (g->last == w)
		g->last = before;
}

/*
 * Serve those who wait, in turn.  One that has its share is passed over; one
 * for whom too few places are left keeps those behind waiting, or it would
 * wait for ever.
 */
static void
serve(struct gate *g)
{
	struct waiter *w, *next;
	enum gate_rc rc;

	for (w = g->first; w != NULL; w = next) {
		next = w->next;
		if ((rc = take(g, w->who, w->n)) == GATE_FULL)
			return;
		if (rc != GATE_PLACE)
			continue;
		w->has = 1;
		take_out(g, w);
		(void)pthread_cond_signal(&w->served);
	}
}

static void
join(struct gate *g, struct waiter *w)
{

	if (g->first == NULL)
		g->first = w;
	else
		g->last->next = w;
	g->last = w;
}

/* Until ${w}, who stands in the queue, is served or out of patience. */
static void
await(struct gate *g, struct waiter *w, uint64_t wait_s)
{
	struct timespec until;
	int late = 0;

	(void)clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += (time_t)wait_s;
	while (!w->has && late != ETIMEDOUT)
		late = pthread_cond_clockwait(
		    &w->served, &g->lock, CLOCK_MONOTONIC, &until);
}

/* Why can ${n} places not be had now? */
static enum gate_rc
why_not(struct gate *g, size_t n)
{

	return (n <= g->places ? GATE_SHARE : GATE_FULL);
}

/* Wait in turn for ${n} places for ${who}, if that is allowed. */
static enum gate_rc
wait_for(struct gate *g, uint64_t who, size_t n, uint64_t wait_s)
{
	struct waiter w = {
	    .who = who, .n = n, .served = PTHREAD_COND_INITIALIZER};
	struct share *s = share_of(g, who);

	if (wait_s == 0 || !fair(s->waiting, g->queue, 1)) {
		tidy(g, s);
		return (why_not(g, n));
	}
	s->waiting++;
	g->queue--;
	join(g, &w);
	serve(g);
	await(g, &w, wait_s);
	s = share_of(g, who);
	s->waiting--;
	g->queue++;
	tidy(g, s);
	(void)pthread_cond_destroy(&w.served);
	if (w.has)
		return (GATE_PLACE);
	take_out(g, &w);
	serve(g); /* Those that it kept waiting. */
	return (why_not(g, n));
}

/* Is somebody waiting whom one more for ${who} would overtake? */
static int
overtakes(const struct gate *g, uint64_t who)
{
	const struct waiter *w;

	for (w = g->first; w != NULL; w = w->next) {
		if (w->who == who || w->n > g->places)
			return (1);
	}
	return (0);
}

enum gate_rc
gate_enter(struct gate *g, uint64_t who, size_t n, uint64_t wait_s)
{
	enum gate_rc rc = GATE_FULL;

	if (n > g->size.places)
		n = g->size.places;
	pthread_mutex_lock(&g->lock);
	if (overtakes(g, who) || (rc = take(g, who, n)) != GATE_PLACE)
		rc = wait_for(g, who, n, wait_s);
	pthread_mutex_unlock(&g->lock);
	return (rc);
}

enum gate_rc
gate_slip_in(struct gate *g, uint64_t who)
{
	enum gate_rc rc;

	pthread_mutex_lock(&g->lock);
	if ((rc = take(g, who, 1)) != GATE_PLACE) {
		rc = g->quick > 0 ? GATE_QUICK : GATE_FULL;
		g->quick -= rc == GATE_QUICK;
	}
	pthread_mutex_unlock(&g->lock);
	return (rc);
}

void
gate_leave(struct gate *g, uint64_t who, size_t n, enum gate_rc held)
{
	struct share *s;

	if (n > g->size.places)
		n = g->size.places;
	pthread_mutex_lock(&g->lock);
	if (held == GATE_PLACE) {
		s = share_of(g, who);
		s->held -= n;
		tidy(g, s);
		g->places += n;
		serve(g);
	} else if (held == GATE_QUICK) {
		g->quick++;
	}
	pthread_mutex_unlock(&g->lock);
}
