#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "io/db_pool.h"

struct db_pool {
	pthread_mutex_t lock;
	pthread_cond_t freed;
	size_t turns; /* Still to be had. */
	int retired;
	size_t nidle;
	void *idle[]; /* Last in, first out: the warmest goes first. */
};

struct db_pool *
db_pool_new(size_t max)
{
	struct db_pool *P;
	pthread_condattr_t attr;

	if ((P = calloc(1, sizeof(*P) + max * sizeof(P->idle[0]))) == NULL)
		goto err0;
	P->turns = max;
	if (pthread_condattr_init(&attr))
		goto err1;
	if (pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) ||
	    pthread_cond_init(&P->freed, &attr))
		goto err2;
	if (pthread_mutex_init(&P->lock, NULL))
		goto err3;
	(void)pthread_condattr_destroy(&attr);

	/* Success! */
	return (P);

err3:
	(void)pthread_cond_destroy(&P->freed);
err2:
	(void)pthread_condattr_destroy(&attr);
err1:
	free(P);
err0:
	/* Failure! */
	return (NULL);
}

int
db_pool_take(struct db_pool *P, uint64_t ms, void **thing)
{
	struct timespec until;
	int rc = 0;

	(void)pthread_mutex_lock(&P->lock);
	if (P->turns == 0) {
		(void)clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_sec += (time_t)(ms / 1000);
		until.tv_nsec += (long)(ms % 1000) * 1000000;
		if (until.tv_nsec >= 1000000000) {
			until.tv_sec++;
			until.tv_nsec -= 1000000000;
		}
		while (P->turns == 0 && rc != ETIMEDOUT)
			rc =
			    pthread_cond_timedwait(&P->freed, &P->lock, &until);
	}
	if (P->turns > 0) {
		P->turns--;
		*thing = (P->nidle > 0) ? P->idle[--P->nidle] : NULL;
		rc = 0;
	}
	(void)pthread_mutex_unlock(&P->lock);
	return (rc == 0 ? 0 : -1);
}

int
db_pool_put(struct db_pool *P, void *thing)
{
	int rc = 0;

	(void)pthread_mutex_lock(&P->lock);
	if (thing != NULL) {
		if (P->retired)
			rc = -1;
		else
			P->idle[P->nidle++] = thing;
	}
	P->turns++;
	(void)pthread_mutex_unlock(&P->lock);
	(void)pthread_cond_signal(&P->freed);
	return (rc);
}

void
db_pool_retire(struct db_pool *P)
{

	(void)pthread_mutex_lock(&P->lock);
	P->retired = 1;
	(void)pthread_mutex_unlock(&P->lock);
}

void *
db_pool_idle(struct db_pool *P)
{
	void *thing;

	(void)pthread_mutex_lock(&P->lock);
	thing = (P->nidle > 0) ? P->idle[--P->nidle] : NULL;
	(void)pthread_mutex_unlock(&P->lock);
	return (thing);
}

void
db_pool_free(struct db_pool *P)
{

	if (P == NULL)
		return;
	(void)pthread_mutex_destroy(&P->lock);
	(void)pthread_cond_destroy(&P->freed);
	free(P);
}
