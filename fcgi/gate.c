#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "fcgi/gate.h"

#define PLACE_S 5 /* Seconds to wait for a place. */

/* What one user has of the gate; each thread is in one such row at most. */
struct share {
	uint64_t who;
	size_t held, waiting;
};

struct gate {
	pthread_mutex_t lock;
	pthread_cond_t left;   /* A place has become free. */
	size_t places, quick;  /* Free. */
	size_t queue;          /* Free; waiting holds a thread as well. */
	size_t n;              /* Users who have something. */
	struct share shares[]; /* One a thread. */
};

struct gate *
gate_new(size_t threads)
{
	struct gate *g;

	if ((g = calloc(1, sizeof(*g) + threads * sizeof(g->shares[0]))) ==
	    NULL)
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

/* May someone who has ${mine} of what ${left} are left of have one more? */
static int
fair(size_t mine, size_t left)
{

	return (left > 0 && mine < 2 * left);
}

/* Take a place for ${who}, if one is free for him. */
static enum gate_rc
take(struct gate *g, uint64_t who)
{
	struct share *s = share_of(g, who);
	enum gate_rc rc = GATE_PLACE;

	if (fair(s->held, g->places)) {
		s->held++;
		g->places--;
	} else {
		rc = g->places > 0 ? GATE_SHARE : GATE_FULL;
	}
	tidy(g, s);
	return (rc);
}

/* Wait until a place is free for ${who}, if he may; return what take() does. */
static enum gate_rc
await(struct gate *g, uint64_t who, enum gate_rc rc)
{
	struct share *s = share_of(g, who);
	struct timespec until;
	int late = 0;

	if (!fair(s->waiting, g->queue)) {
		tidy(g, s);
		return (rc);
	}
	s->waiting++;
	g->queue--;
	(void)clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += PLACE_S;
	while (rc != GATE_PLACE && late == 0) {
		late = pthread_cond_clockwait(
		    &g->left, &g->lock, CLOCK_MONOTONIC, &until);
		rc = take(g, who);
	}
	s = share_of(g, who);
	s->waiting--;
	g->queue++;
	tidy(g, s);
	return (rc);
}

enum gate_rc
gate_enter(struct gate *g, uint64_t who)
{
	enum gate_rc rc;

	pthread_mutex_lock(&g->lock);
	if ((rc = take(g, who)) != GATE_PLACE)
		rc = await(g, who, rc);
	pthread_mutex_unlock(&g->lock);
	return (rc);
}

enum gate_rc
gate_slip_in(struct gate *g, uint64_t who)
{
	enum gate_rc rc;

	pthread_mutex_lock(&g->lock);
	if ((rc = take(g, who)) != GATE_PLACE) {
		rc = g->quick > 0 ? GATE_QUICK : GATE_FULL;
		g->quick -= rc == GATE_QUICK;
	}
	pthread_mutex_unlock(&g->lock);
	return (rc);
}

void
gate_leave(struct gate *g, uint64_t who, enum gate_rc held)
{
	struct share *s;

	pthread_mutex_lock(&g->lock);
	if (held == GATE_PLACE) {
		s = share_of(g, who);
		s->held--;
		tidy(g, s);
		g->places++;
		/* To all: whom it is free for, only each of them can tell. */
		pthread_cond_broadcast(&g->left);
	} else if (held == GATE_QUICK) {
		g->quick++;
	}
	pthread_mutex_unlock(&g->lock);
}
