#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/turns.h"

/* Ticks go on for so long after the last time that nobody looked: to begin
 * with them costs a wake-up. */
#define TENSE 40

void
turns_init(struct turns *T, size_t n)
{

	memset(T, 0, sizeof(*T));
	T->spare = n;
}

int
turns_hire(struct turns *T, struct turn *turn)
{

	if (T->spare == 0)
		return (-1);
	T->spare--;
	T->looking++;
	turn->held = 1;
	return (0);
}

/* Sleep until ${turn} is held, it is over, or the time ${until}. */
static void
sleep_until(struct turns *T, struct turn *turn, pthread_mutex_t *lock,
    const struct timespec *until)
{
	struct turn **p;
	int rc = 0;

	turn->next = T->sleeping;
	T->sleeping = turn;
	while (!turn->held && !T->over && rc != ETIMEDOUT)
		rc = pthread_cond_clockwait(
		    &turn->given, lock, CLOCK_MONOTONIC, until);
	if (turn->held)
		return;
	for (p = &T->sleeping; *p != NULL && *p != turn; p = &(*p)->next)
		;
	if (*p == turn)
		*p = turn->next;
}

int
turns_take(
    struct turns *T, struct turn *turn, pthread_mutex_t *lock, uint64_t ms)
{
	struct timespec until;

	if (!turn->held && !T->over && turns_hire(T, turn)) {
		(void)clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_sec += (time_t)(ms / 1000);
		until.tv_nsec += (long)(ms % 1000) * 1000000;
		if (until.tv_nsec >= 1000000000) {
			until.tv_sec++;
			until.tv_nsec -= 1000000000;
		}
		sleep_until(T, turn, lock, &until);
	}
	return (turn->held && !T->over ? 0 : -1);
}

int
turns_begin(struct turns *T, struct turn *turn)
{
	const int calm = T->tense == 0;

	T->looking--;
	T->young++;
	turn->gen = T->gen;
	if (T->looking > 0)
		return (0);
	T->tense = TENSE;
	return (calm);
}

/* Take ${turn} out of those that have begun.  -1 if somebody else has it. */
static int
take_out(struct turns *T, const struct turn *turn)
{

	if (turn->gen == T->gen)
		T->young--;
	else if (turn->gen + 1 == T->gen)
		T->old--;
	else
		return (-1);
	return (0);
}

void
turns_done(struct turns *T, struct turn *turn)
{

	if (take_out(T, turn) == 0)
		T->looking++;
	else
		turn->held = 0;
}

/* Somebody has lost their turn. */
static void
pass_on(struct turns *T)
{
	struct turn *turn = T->sleeping;

	if (turn == NULL) {
		T->spare++;
		return;
	}
	T->sleeping = turn->next;
	T->looking++;
	turn->held = 1;
	(void)pthread_cond_signal(&turn->given);
}

void
turns_leave(struct turns *T, struct turn *turn)
{

	turn->held = 0;
	T->looking--;
	pass_on(T);
}

int
turns_tick(struct turns *T, uint64_t ms)
{

	if (T->tense == 0)
		return (-1);
	if (ms < T->next_ms)
		return ((int)(T->next_ms - ms));
	T->next_ms = ms + TURNS_MS;
	T->tense--;
	if (T->looking == 0) {
		for (; T->old > 0; T->old--)
			pass_on(T);
		T->old = T->young;
		T->young = 0;
		T->gen++;
	}
	return (T->tense > 0 ? TURNS_MS : -1);
}

void
turns_over(struct turns *T)
{

	T->over = 1;
	for (; T->sleeping != NULL; T->sleeping = T->sleeping->next)
		(void)pthread_cond_signal(&T->sleeping->given);
}

void
turns_yield(struct turns *T, struct turn *turn)
{

	if (take_out(T, turn))
		return;
	turn->gen = T->gen - 2; /* As one that has taken too long. */
	pass_on(T);
}
