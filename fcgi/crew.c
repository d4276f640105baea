#include <sys/resource.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

#include "fcgi/crew.h"

#define STACK (1UL << 20) /* Address space; only what is touched costs. */
#define AGAIN_MS 200      /* Until the machine is asked for a thread again. */
#define TOLD_MS 60000     /* The log is told so often at most. */

int
crew_open(struct crew *c, size_t max, void *(*run)(void *), void *cookie)
{

	memset(c, 0, sizeof(*c));
	if ((c->hands = calloc(max, sizeof(*c->hands))) == NULL)
		return (-1);
	c->max = c->most = max;
	c->run = run;
	for (size_t i = 0; i < max; i++) {
		(void)pthread_cond_init(&c->hands[i].turn.given, NULL);
		c->hands[i].cookie = cookie;
	}
	return (0);
}

void
crew_close(struct crew *c)
{

	free(c->hands);
}

int
crew_wanted(const struct crew *c, const struct turns *T)
{

	return (T->looking == 0 && T->spare > 0 && c->n < c->max && !T->over);
}

/* Join who has ended. */
static void
bury(struct crew *c)
{

	for (size_t i = 0; i < c->max && c->gone > 0; i++) {
		if (c->hands[i].state != HAND_GONE)
			continue;
		(void)pthread_join(c->hands[i].thread, NULL);
		c->hands[i].state = HAND_FREE;
		c->gone--;
	}
}

static int
start(struct crew *c, struct hand *h)
{
	pthread_attr_t attr;
	int rc;

	if ((rc = pthread_attr_init(&attr)) != 0)
		return (rc);
	(void)pthread_attr_setstacksize(&attr, STACK);
	rc = pthread_create(&h->thread, &attr, c->run, h);
	(void)pthread_attr_destroy(&attr);
	return (rc);
}

/* What the limit on a user's processes and threads is, as text. */
static void
print_limit(char *s, size_t len)
{
	struct rlimit rl;

	if (getrlimit(RLIMIT_NPROC, &rl) || rl.rlim_cur == RLIM_INFINITY)
		(void)snprintf(s, len, "no limit");
	else
		(void)snprintf(s, len, "%" PRIuMAX, (uintmax_t)rl.rlim_cur);
}

/* The machine gave no thread, for the reason ${err}, at ${ms}. */
static void
refused(struct crew *c, int err, uint64_t ms)
{
	char limit[32];

	c->most = c->n;
	c->not_before = ms + AGAIN_MS;
	if (c->told_ms != 0 && ms - c->told_ms < TOLD_MS)
		return;
	c->told_ms = ms;
	print_limit(limit, sizeof(limit));
	log_err("front: no thread beside the %zu that this process has: %s;"
		" requests wait for these. Set %s to %zu, or raise the"
		" limit on processes (ulimit -u: %s; systemd: TasksMax)",
	    c->n, strerror(err),
	    c->setting != NULL ? c->setting : "the number of threads",
	    c->n > 0 ? c->n : 1, limit);
}

int
crew_grow(struct crew *c, struct turns *T, size_t fresh, uint64_t ms)
{
	size_t i = 0;
	int rc;

	bury(c);
	if (ms < c->not_before)
		return ((int)(c->not_before - ms));
	c->most = c->max;
	while (T->looking <= fresh && c->n < c->max) {
		while (c->hands[i].state != HAND_FREE)
			i++;
		if (T->over || turns_hire(T, &c->hands[i].turn))
			return (-1);
		if ((rc = start(c, &c->hands[i])) != 0) {
			turns_leave(T, &c->hands[i].turn);
			refused(c, rc, ms);
			return (AGAIN_MS);
		}
		c->hands[i].state = HAND_HERE;
		c->n++;
	}
	return (-1);
}

int
crew_leave(struct crew *c, struct turns *T, struct hand *h)
{

	if (T->over || (h->turn.held && T->looking < 2))
		return (0);
	if (h->turn.held)
		turns_leave(T, &h->turn);
	h->state = HAND_GONE;
	c->n--;
	c->gone++;
	return (1);
}

void
crew_join(struct crew *c)
{

	for (size_t i = 0; i < c->max; i++) {
		if (c->hands[i].state != HAND_FREE)
			(void)pthread_join(c->hands[i].thread, NULL);
		c->hands[i].state = HAND_FREE;
	}
}
