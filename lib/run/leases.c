#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"

#include "data/container.h"

#include "run/leases.h"

#define EVERY_S (CONTAINER_LEASE_MS / 3000)

struct leases {
	struct db *db;
	pthread_mutex_t lock;
	pthread_cond_t wake; /* The end has come. */
	pthread_t thread;
	struct lease *first;
	int running, ending;
};

/* Wait ${EVERY_S}, or until the end. */
static void
wait_a_turn(struct leases *L)
{
	struct timespec until;

	(void)clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += EVERY_S;
	while (!L->ending &&
	    pthread_cond_timedwait(&L->wake, &L->lock, &until) != ETIMEDOUT)
		continue;
}

/*
 * Renew all that are held now.  The lock is not held while the database is
 * asked, so each is found again by its token, from the smallest upwards: one
 * that comes or goes meanwhile does no harm.
 */
static void
renew_all(struct leases *L)
{
	const struct lease *l, *next;
	uint64_t done = 0, row, token;

	for (;;) {
		next = NULL;
		for (l = L->first; l != NULL; l = l->next)
			if (l->token > done &&
			    (next == NULL || l->token < next->token))
				next = l;
		if (next == NULL || L->ending)
			return;
		row = next->row;
		done = token = next->token;
		(void)pthread_mutex_unlock(&L->lock);
		(void)container_renew(L->db, row, token);
		(void)pthread_mutex_lock(&L->lock);
	}
}

static void *
keep(void *cookie)
{
	struct leases *L = cookie;

	(void)pthread_mutex_lock(&L->lock);
	while (!L->ending) {
		wait_a_turn(L);
		renew_all(L);
	}
	(void)pthread_mutex_unlock(&L->lock);
	return (NULL);
}

struct leases *
leases_new(struct db *db)
{
	pthread_condattr_t attr;
	struct leases *L;

	if ((L = calloc(1, sizeof(*L))) == NULL)
		goto err0;
	L->db = db;
	if (pthread_mutex_init(&L->lock, NULL))
		goto err1;
	if (pthread_condattr_init(&attr))
		goto err2;
	(void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	if (pthread_cond_init(&L->wake, &attr))
		goto err3;
	(void)pthread_condattr_destroy(&attr);

	/* Success! */
	return (L);

err3:
	(void)pthread_condattr_destroy(&attr);
err2:
	(void)pthread_mutex_destroy(&L->lock);
err1:
	free(L);
err0:
	/* Failure! */
	log_err("leases: out of memory");
	return (NULL);
}

void
leases_hold(struct leases *L, struct lease *l)
{
	int rc;

	if (L == NULL)
		return;
	(void)pthread_mutex_lock(&L->lock);
	l->prev = NULL;
	if ((l->next = L->first) != NULL)
		l->next->prev = l;
	L->first = l;
	if (!L->running) {
		/* It inherits that signals are for the main thread. */
		if ((rc = pthread_create(&L->thread, NULL, keep, L)) != 0)
			log_err("leases: no thread: %s", strerror(rc));
		else
			L->running = 1;
	}
	(void)pthread_mutex_unlock(&L->lock);
}

void
leases_let(struct leases *L, struct lease *l)
{

	if (L == NULL)
		return;
	(void)pthread_mutex_lock(&L->lock);
	if (l->next != NULL)
		l->next->prev = l->prev;
	if (l->prev != NULL)
		l->prev->next = l->next;
	else if (L->first == l)
		L->first = l->next;
	l->next = l->prev = NULL;
	(void)pthread_mutex_unlock(&L->lock);
}

void
leases_free(struct leases *L)
{

	if (L == NULL)
		return;
	(void)pthread_mutex_lock(&L->lock);
	L->ending = 1;
	(void)pthread_cond_signal(&L->wake);
	(void)pthread_mutex_unlock(&L->lock);
	if (L->running)
		(void)pthread_join(L->thread, NULL);
	(void)pthread_cond_destroy(&L->wake);
	(void)pthread_mutex_destroy(&L->lock);
	free(L);
}
