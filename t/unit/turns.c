#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

#include "base/turns.h"

#include "tap.h"

#define THREADS 8
#define TURNS 2
#define ROUNDS 500
#define LONG 60000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Somebody who sleeps for a turn. */
struct sleeper {
	struct turns *T;
	struct turn turn;
	int rc;
	atomic_int woken;
	pthread_t thread;
};

static void *
sleeper(void *cookie)
{
	struct sleeper *s = cookie;

	(void)pthread_mutex_lock(&lock);
	s->rc = turns_take(s->T, &s->turn, &lock, LONG);
	(void)pthread_mutex_unlock(&lock);
	s->woken = 1;
	return (NULL);
}

static void
pause_ms(long ms)
{
	const struct timespec ts = {.tv_nsec = ms * 1000000};

	(void)nanosleep(&ts, NULL);
}

/* Start ${s} and wait until it sleeps. */
static void
begin_sleep(struct sleeper *s, struct turns *T)
{
	int asleep;

	*s = (struct sleeper){.T = T, .turn.given = PTHREAD_COND_INITIALIZER};
	(void)pthread_create(&s->thread, NULL, sleeper, s);
	do {
		pause_ms(1);
		(void)pthread_mutex_lock(&lock);
		asleep = T->sleeping == &s->turn;
		(void)pthread_mutex_unlock(&lock);
	} while (!asleep);
}

/* Call turns_tick(), whose time is ${ms}. */
static int
tick(struct turns *T, uint64_t ms)
{
	int rc;

	(void)pthread_mutex_lock(&lock);
	rc = turns_tick(T, ms);
	(void)pthread_mutex_unlock(&lock);
	return (rc);
}

/* One turn, two who want it. */
static void
test_slow(void)
{
	struct turns T;
	struct turn a = {.given = PTHREAD_COND_INITIALIZER};
	struct sleeper b;

	turns_init(&T, 1);
	ok(turns_take(&T, &a, &lock, LONG) == 0 && a.held,
	    "the one turn is had");
	ok(turns_tick(&T, 100) == -1, "no tick is needed while somebody looks");
	begin_sleep(&b, &T);
	ok(turns_begin(&T, &a) == 1, "nobody looks any more: ticks are");
	turns_done(&T, &a);
	ok(a.held && !b.woken, "who was quick keeps the turn");

	ok(turns_begin(&T, &a) == 0, "this is known already");
	ok(tick(&T, 105) == TURNS_MS, "the first tick of the request");
	ok(tick(&T, 106) == 4, "the next is due in four");
	ok(a.held && !b.woken, "so far the turn is kept");
	(void)tick(&T, 110);
	(void)pthread_join(b.thread, NULL);
	ok(b.rc == 0 && b.turn.held, "a slow request's goes to who slept");
	turns_done(&T, &a);
	ok(!a.held, "and is lost to its own thread");
	ok(T.looking == 1 && T.spare == 0, "there is one turn as before");
}

/* Who knows that he is slow says so. */
static void
test_yield(void)
{
	struct turns T;
	struct turn a = {.given = PTHREAD_COND_INITIALIZER};
	struct sleeper b;

	turns_init(&T, 1);
	(void)turns_take(&T, &a, &lock, LONG);
	begin_sleep(&b, &T);
	(void)pthread_mutex_lock(&lock);
	(void)turns_begin(&T, &a);
	turns_yield(&T, &a);
	turns_yield(&T, &a);
	(void)pthread_mutex_unlock(&lock);
	(void)pthread_join(b.thread, NULL);
	ok(b.turn.held && T.looking == 1 && T.spare == 0,
	    "a turn given up goes to who slept, once");
	(void)tick(&T, 105);
	(void)tick(&T, 110);
	turns_done(&T, &a);
	ok(!a.held && T.looking == 1 && T.spare == 0, "and does not come back");
}

static void
test_calm(void)
{
	struct turns T;
	struct turn a = {.given = PTHREAD_COND_INITIALIZER};
	uint64_t ms = 1000;
	int n = 0;

	turns_init(&T, 1);
	(void)turns_take(&T, &a, &lock, LONG);
	(void)turns_begin(&T, &a);
	turns_done(&T, &a);
	while (turns_tick(&T, ms) != -1 && n++ < 1000)
		ms += TURNS_MS;
	ok(n > 0 && n < 1000, "ticks end when there is nothing to wait for");
	ok(turns_begin(&T, &a) == 1, "and begin again");
	for (n = 0; n < 3; n++)
		(void)turns_tick(&T, ms += TURNS_MS);
	turns_done(&T, &a);
	ok(!a.held && T.spare == 1, "a turn nobody waits for is spare");
	ok(turns_take(&T, &a, &lock, LONG) == 0 && T.spare == 0,
	    "and had at once");
}

static void
test_over(void)
{
	struct turns T;
	struct sleeper s[2];

	turns_init(&T, 0);
	begin_sleep(&s[0], &T);
	begin_sleep(&s[1], &T);
	(void)pthread_mutex_lock(&lock);
	turns_over(&T);
	(void)pthread_mutex_unlock(&lock);
	(void)pthread_join(s[0].thread, NULL);
	(void)pthread_join(s[1].thread, NULL);
	ok(s[0].rc == -1 && s[1].rc == -1, "all who sleep are told of the end");
	ok(turns_take(&T, &s[0].turn, &lock, LONG) == -1,
	    "nobody sleeps after it");
}

/* Threads that come when there is a turn for them, and go again. */
static void
test_hire(void)
{
	struct turns T;
	struct turn a = {.given = PTHREAD_COND_INITIALIZER};
	struct turn b = {.given = PTHREAD_COND_INITIALIZER};
	struct sleeper s;

	turns_init(&T, 1);
	ok(turns_hire(&T, &a) == 0 && a.held && T.looking == 1,
	    "a new thread has the spare turn");
	ok(turns_hire(&T, &b) == -1 && !b.held, "another has none");
	(void)pthread_mutex_lock(&lock);
	ok(turns_take(&T, &b, &lock, 5) == -1 && T.sleeping == NULL,
	    "nobody sleeps longer than told");
	(void)pthread_mutex_unlock(&lock);
	begin_sleep(&s, &T);
	(void)pthread_mutex_lock(&lock);
	ok(turns_take(&T, &b, &lock, 5) == -1 && T.sleeping == &s.turn,
	    "others go on sleeping");
	turns_leave(&T, &a);
	(void)pthread_mutex_unlock(&lock);
	(void)pthread_join(s.thread, NULL);
	ok(s.rc == 0 && !a.held && T.looking == 1,
	    "who leaves hands the turn to who sleeps");
	turns_leave(&T, &s.turn);
	ok(T.spare == 1 && T.looking == 0, "or leaves it spare");
}

/* Threads that take turns while the clock runs. */
static struct turns shared;
static int inside, most;
static atomic_int rounds;

static void *
thread(void *cookie)
{
	struct turn t = {.given = PTHREAD_COND_INITIALIZER};

	(void)cookie;
	(void)pthread_mutex_lock(&lock);
	while (turns_take(&shared, &t, &lock, LONG) == 0) {
		(void)turns_begin(&shared, &t);
		if (++inside > most)
			most = inside;
		(void)pthread_mutex_unlock(&lock);
		if (++rounds % 50 == 0)
			pause_ms(1);
		(void)pthread_mutex_lock(&lock);
		inside--;
		turns_done(&shared, &t);
	}
	(void)pthread_mutex_unlock(&lock);
	return (NULL);
}

static void
test_threads(int ticking)
{
	pthread_t t[THREADS];
	uint64_t ms = 0;
	size_t i;

	turns_init(&shared, TURNS);
	rounds = inside = most = 0;
	for (i = 0; i < THREADS; i++)
		(void)pthread_create(&t[i], NULL, thread, NULL);
	while (rounds < ROUNDS) {
		if (ticking)
			(void)tick(&shared, ms += TURNS_MS);
		pause_ms(1);
	}
	(void)pthread_mutex_lock(&lock);
	turns_over(&shared);
	(void)pthread_mutex_unlock(&lock);
	for (i = 0; i < THREADS; i++)
		(void)pthread_join(t[i], NULL);
	ok(shared.spare + shared.looking + shared.young + shared.old == TURNS,
	    "no turn is lost or made");
	ok(inside == 0 && (ticking || most <= TURNS),
	    "and no more are inside than there are turns");
}

int
main(void)
{

	test_slow();
	test_yield();
	test_calm();
	test_over();
	test_hire();
	test_threads(0);
	test_threads(1);
	return (done_testing());
}
