#include <sys/wait.h>

#include <unistd.h>

#include "run/seats.h"

#include "tap.h"

#define ALICE 7
#define BOB 8

static void
one_process(struct seats *S)
{
	struct seat a = {0}, b = {0}, c = {0}, other = {0};

	ok(seat_take(S, 0, ALICE, 2, &a) == 0, "a first");
	ok(seat_take(S, 0, ALICE, 2, &b) == 0, "a second");
	ok(seat_take(S, 0, ALICE, 2, &c) == -1, "of two no third");
	ok(seat_take(S, 1, ALICE, 2, &c) == -1, "nor in another process");
	ok(seat_take(S, 0, BOB, 2, &other) == 0, "others are not counted");
	seat_leave(&c);
	ok(seat_take(S, 1, ALICE, 2, &c) == -1, "who has none leaves none");
	seat_leave(&a);
	ok(seat_take(S, 1, ALICE, 2, &c) == 0, "one that left makes room");
	seat_leave(&a);
	ok(seat_take(S, 0, ALICE, 2, &a) == -1, "... once");
	seat_leave(&b);
	seat_leave(&c);
	seat_leave(&other);
	ok(seat_take(NULL, 0, ALICE, 0, &a) == 0, "without seats: everybody");
	seat_leave(&a);
}

/* A child takes one and dies with it. */
static void
two_processes(struct seats *S)
{
	struct seat a = {0}, b = {0};
	int status;
	pid_t pid;

	(void)fflush(stdout); /* A sanitizer's _exit() would print it again. */
	if ((pid = fork()) == 0)
		_exit(seat_take(S, 1, ALICE, 2, &a) == 0 ? 0 : 1);
	ok(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0,
	    "a child takes one");
	ok(seat_take(S, 0, ALICE, 2, &a) == 0, "the parent another");
	ok(seat_take(S, 0, ALICE, 2, &b) == -1, "both are counted");
	seats_gone(S, 1);
	ok(seat_take(S, 0, ALICE, 2, &b) == 0, "the child's end frees its own");
	seat_leave(&a);
	ok(seat_take(S, 1, ALICE, 2, &a) == 0 &&
		seat_take(S, 1, ALICE, 2, &a) == -1,
	    "... and no other's");
}

int
main(void)
{
	struct seats *S = seats_new(2);

	ok(S != NULL, "seats");
	if (S != NULL) {
		one_process(S);
		two_processes(S);
	}
	return (done_testing());
}
