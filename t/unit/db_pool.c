#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

#include "base/clock.h"

#include "io/db_pool.h"

#include "tap.h"

#define MAX 3
#define THREADS 12
#define TURNS 2000

static struct db_pool *pool;
static int things[MAX];
static _Atomic int made, in_use, most, failed;

static void *
take_turns(void *cookie)
{
	void *thing;
	int i, now, seen;

	(void)cookie;
	for (i = 0; i < TURNS; i++) {
		if (db_pool_take(pool, 10000, &thing)) {
			failed++;
			continue;
		}
		now = ++in_use;
		for (seen = most; now > seen;)
			if (atomic_compare_exchange_weak(&most, &seen, now))
				break;
		if (thing == NULL && (now = made++) < MAX)
			thing = &things[now];
		in_use--;
		(void)db_pool_put(pool, thing);
	}
	return (NULL);
}

static void
test_threads(void)
{
	pthread_t t[THREADS];
	int i;

	for (i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, take_turns, NULL))
			failed++;
	for (i = 0; i < THREADS; i++)
		(void)pthread_join(t[i], NULL);
	ok(failed == 0, "twelve threads get all their turns");
	ok(most <= MAX, "never more than three at once");
	ok(made <= MAX, "and no fourth thing is made");
}

static void
test_alone(void)
{
	void *a = NULL, *b = NULL, *c = NULL, *d = NULL;
	int one = 1, two = 2;
	uint64_t before;

	ok(db_pool_take(pool, 0, &a) == 0 && a == NULL &&
		db_pool_take(pool, 0, &b) == 0 && b == NULL &&
		db_pool_take(pool, 0, &c) == 0 && c == NULL,
	    "three turns to make something");
	before = clock_ms();
	ok(db_pool_take(pool, 50, &d) == -1, "no fourth");
	ok(clock_ms() - before >= 50, "... after waiting for it");
	(void)db_pool_put(pool, &one);
	(void)db_pool_put(pool, &two);
	(void)db_pool_put(pool, NULL);
	ok(db_pool_take(pool, 0, &a) == 0 && a == &two &&
		db_pool_take(pool, 0, &b) == 0 && b == &one &&
		db_pool_take(pool, 0, &c) == 0 && c == NULL,
	    "the last put back is the first taken; one was not kept");
	(void)db_pool_put(pool, a);
	(void)db_pool_put(pool, b);
	(void)db_pool_put(pool, NULL);
	ok(db_pool_idle(pool) == &one && db_pool_idle(pool) == &two &&
		db_pool_idle(pool) == NULL,
	    "the idle ones come out at the end");
}

static void
test_retired(void)
{
	void *a = NULL;
	int one = 1;

	while (db_pool_idle(pool) != NULL)
		;
	ok(db_pool_take(pool, 0, &a) == 0 && db_pool_put(pool, &one) == 0,
	    "what is put back is kept");
	db_pool_retire(pool);
	ok(db_pool_idle(pool) == &one, "retired: the idle ones come out");
	ok(db_pool_take(pool, 0, &a) == 0 && a == NULL &&
		db_pool_put(pool, &one) == -1 && db_pool_idle(pool) == NULL,
	    "... and nothing is kept any more");
}

int
main(void)
{

	if ((pool = db_pool_new(MAX)) == NULL)
		return (1);
	test_alone();
	test_threads();
	test_retired();
	db_pool_free(pool);
	db_pool_free(NULL);
	return (done_testing());
}
