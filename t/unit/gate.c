#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "base/gate.h"

#include "tap.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

/* How many of ${n} single places ${who} is given. */
static size_t
given(struct gate *g, uint64_t who, size_t n)
{
	size_t got = 0;

	while (n-- > 0)
		got += gate_enter(g, who, 1, 0) == GATE_PLACE;
	return (got);
}

static void
give_back(struct gate *g, uint64_t who, size_t n)
{

	while (n-- > 0)
		gate_leave(g, who, 1, GATE_PLACE);
}

/* At most twice as many as are free: two thirds, then as much of the rest. */
static void
test_shares(void)
{
	const struct gate_size size = {.threads = 40, .places = 30, .queue = 0};
	struct gate *g = gate_new(&size);
	size_t mine, other;

	ok((mine = given(g, 1, 30)) == 20, "one has two thirds");
	ok(gate_enter(g, 1, 1, 0) == GATE_SHARE, "... and is told why no more");
	ok((other = given(g, 2, 30)) == 7,
	    "the next has two thirds of the rest");
	ok(gate_slip_in(g, 3) == GATE_PLACE, "a third one comes in");
	give_back(g, 3, 1);
	give_back(g, 1, mine);
	ok(given(g, 2, 30) + other == 20, "what is given back is there again");
	give_back(g, 2, 20);
	ok(gate_enter(g, 1, 99, 0) == GATE_PLACE,
	    "who needs more than there is has all of it, once nobody else has");
	ok(gate_enter(g, 2, 1, 0) == GATE_FULL, "... and then it is full");
	gate_leave(g, 1, 99, GATE_PLACE);
	ok(gate_enter(g, 1, 20, 0) == GATE_PLACE, "20 places at once");
	ok(gate_enter(g, 1, 1, 0) == GATE_SHARE, "... count as 20");
	gate_leave(g, 1, 20, GATE_PLACE);
	gate_free(g);
}

struct waiter {
	struct gate *g;
	uint64_t who;
	size_t n;
	uint64_t wait_s;
	_Atomic int place; /* In which order it was served; 0: not yet. */
	_Atomic int *order;
	enum gate_rc rc;
};

static void *
wait_in(void *cookie)
{
	struct waiter *w = cookie;

	w->rc = gate_enter(w->g, w->who, w->n, w->wait_s);
	if (w->rc == GATE_PLACE)
		w->place = atomic_fetch_add(w->order, 1) + 1;
	return (NULL);
}

/* Until ${n} have been served, or seconds have gone. */
static int
served(_Atomic int *order, int n)
{

	for (int i = 0; i < 5000 && *order < n; i++)
		(void)usleep(1000);
	return (*order == n);
}

static void
test_turns(void)
{
	const struct gate_size size = {.threads = 16, .places = 3, .queue = 9};
	struct gate *g = gate_new(&size);
	_Atomic int order = 0;
	struct waiter w[] = {
	    {g, 1, 1, 60, 0, &order, GATE_NOTHING},
	    {g, 1, 1, 60, 0, &order, GATE_NOTHING},
	    {g, 1, 1, 60, 0, &order, GATE_NOTHING},
	    {g, 2, 1, 60, 0, &order, GATE_NOTHING},
	};
	pthread_t t[NELEM(w)];

	ok(given(g, 1, 3) == 2, "two of three places for one");
	for (size_t i = 0; i < NELEM(w); i++) {
		(void)pthread_create(&t[i], NULL, wait_in, &w[i]);
		(void)usleep(50000);
	}
	ok(served(&order, 1) && w[3].place == 1,
	    "another one passes those who wait for their share");
	ok(gate_enter(g, 1, 1, 0) != GATE_PLACE, "but none of them does");
	for (int i = 0; i < 3; i++) {
		gate_leave(g, i == 0 ? 2 : 1, 1, GATE_PLACE);
		if (i == 0)
			gate_leave(g, 1, 1, GATE_PLACE);
		(void)served(&order, i + 2);
	}
	for (size_t i = 0; i < NELEM(w); i++)
		(void)pthread_join(t[i], NULL);
	ok(w[0].place == 2 && w[1].place == 3 && w[2].place == 4,
	    "they are served in turn");
	gate_free(g);
}

/* One who needs much is not overtaken for ever by those who need little. */
static void
test_large(void)
{
	const struct gate_size size = {.threads = 16, .places = 9, .queue = 9};
	struct gate *g = gate_new(&size);
	_Atomic int order = 0;
	struct waiter w = {g, 1, 9, 60, 0, &order, GATE_NOTHING};
	struct waiter late = {g, 2, 9, 1, 0, &order, GATE_NOTHING};
	pthread_t t;

	ok(given(g, 3, 2) == 2, "some places are taken");
	(void)pthread_create(&t, NULL, wait_in, &w);
	(void)usleep(50000);
	ok(gate_enter(g, 4, 1, 0) != GATE_PLACE,
	    "while one waits for all places nobody passes");
	give_back(g, 3, 2);
	(void)pthread_join(t, NULL);
	ok(w.rc == GATE_PLACE, "... until it has them");
	(void)wait_in(&late);
	ok(late.rc == GATE_FULL, "who waits in vain is told why");
	gate_leave(g, 1, 9, GATE_PLACE);
	ok(gate_enter(g, 4, 1, 0) == GATE_PLACE,
	    "... and keeps nobody waiting");
	gate_leave(g, 4, 1, GATE_PLACE);
	gate_free(g);
}

int
main(void)
{

	test_shares();
	test_turns();
	test_large();
	return (done_testing());
}
