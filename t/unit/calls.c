#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jail/calls.h"

#include "tap.h"

/* A literal with its length, NULs included. */
#define LIT(s) (s), sizeof(s) - 1

/* Feed in pieces of ${step}; the calls with '|' behind each, then the state. */
static const char *
fed(const char *p, size_t len, size_t step)
{
	static char out[256];
	struct calls C = CALLS_INIT;
	size_t n, at = 0, to = 0;
	const char *call;

	for (; len > 0; p += n, len -= n) {
		n = len < step ? len : step;
		(void)calls_feed(&C, p, n);
	}
	calls_end(&C);
	out[0] = '\0';
	while ((call = calls_next(&C, &at, &n)) != NULL)
		to += (size_t)snprintf(
		    out + to, sizeof(out) - to, "%.*s|", (int)n, call);
	(void)snprintf(out + to, sizeof(out) - to, "%s%s",
	    C.complete ? "complete" : "", C.broken != NULL ? C.broken : "");
	calls_free(&C);
	return (out);
}

static int
same(const char *p, size_t len, const char *want)
{
	size_t step;

	for (step = 1; step <= len + 1; step++)
		if (strcmp(fed(p, len, step), want) != 0) {
			printf("# step %zu: %s\n", step, fed(p, len, step));
			return (0);
		}
	return (1);
}

static void
test_bounds(void)
{
	struct calls C = CALLS_INIT;
	char *big = calloc(1, CALLS_ONE_MAX + 4);
	size_t i;

	if (big == NULL)
		return;
	for (i = 0; i < CALLS_COUNT; i++)
		(void)calls_feed(&C, "\0\0\0\1x", 5);
	ok(C.broken == NULL && C.count == CALLS_COUNT, "as many as may be");
	ok(calls_feed(&C, "\0\0\0\1x", 5) == 1 && C.broken != NULL,
	    "one more breaks it");
	ok(calls_feed(&C, "\0\0\0\0", 4) == 1 && !C.complete,
	    "and nothing mends it");
	calls_free(&C);

	C = (struct calls)CALLS_INIT;
	big[1] = 0x10; /* 1 MiB. */
	for (i = 0; i < 9; i++)
		(void)calls_feed(&C, big, CALLS_ONE_MAX + 4);
	ok(C.broken == NULL && C.count == 9, "nine of a MiB each");
	(void)calls_feed(&C, big, CALLS_ONE_MAX + 4);
	ok(C.broken != NULL && C.count == 9, "ten are too much");
	calls_free(&C);
	free(big);
}

int
main(void)
{
	ok(same(LIT(""), ""), "nothing");
	ok(same(LIT("\0\0\0\2{}"), "{}|"), "one");
	ok(same(LIT("\0\0\0\2{}\0\0\0\3abc\0\0\0\0"), "{}|abc|complete"),
	    "two, and no more");
	ok(same(LIT("\0\0\0\0"), "complete"), "none, and no more");
	ok(same(LIT("\0\0\0\2{}\0\0\0\0\xff\xff\xff\xffzz"), "{}|complete"),
	    "what comes behind the end does not matter");
	ok(same(LIT("\0\0\0\2{"), "the last call is not whole"), "cut");
	ok(same(LIT("\0\0\0\2{}\0\0"), "{}|the last call is not whole"),
	    "cut in a head");
	ok(same(LIT("\0\x10\0\1"), "a call is longer than 1 MiB"),
	    "a length over the bound");
	test_bounds();
	return (done_testing());
}
