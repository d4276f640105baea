#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

#include "tap.h"

static int calls[3], ncalls;

static void
note(void *cookie)
{

	calls[ncalls++] = *(int *)cookie;
}

/* Pieces of many sizes must be aligned, zeroed and apart from each other. */
static void
test_pieces(void)
{
	struct arena *A = arena_new(1 << 20);
	unsigned char *p[300];
	size_t i, j, bad_align = 0, bad_zero = 0, bad_fill = 0;
	const size_t n = sizeof(p) / sizeof(p[0]);

	for (i = 0; i < n; i++) {
		p[i] = arena_alloc(A, i * 7);
		bad_align += (uintptr_t)p[i] % alignof(max_align_t) != 0;
		for (j = 0; j < i * 7; j++)
			bad_zero += p[i][j] != 0;
		memset(p[i], (int)(i & 255), i * 7);
	}
	for (i = 0; i < n; i++) {
		for (j = 0; j < i * 7; j++)
			bad_fill += p[i][j] != (i & 255);
	}
	ok(bad_align == 0, "every piece is aligned");
	ok(bad_zero == 0, "every piece is zeroed");
	ok(bad_fill == 0, "no two pieces overlap");
	arena_free(A);
}

static void
test_limit(void)
{
	struct arena *A = arena_new(1000);

	ok(arena_alloc(A, 600) != NULL, "within the limit");
	ok(arena_alloc(A, 401) == NULL, "beyond the limit");
	ok(arena_alloc(A, 400) != NULL, "exactly up to it");
	ok(arena_alloc(A, 1) == NULL, "and no more");
	arena_free(A);
	A = arena_new(SIZE_MAX);
	ok(arena_alloc(A, SIZE_MAX - 3) == NULL, "an absurd size");
	ok(arena_strndup(A, "x", SIZE_MAX) == NULL, "an absurd length");
	ok(arena_alloc(A, 5000) != NULL && arena_alloc(A, 10) != NULL,
	    "which spoils nothing");
	arena_free(A);
}

static void
test_text(void)
{
	struct arena *A = arena_new(1000);
	char *s = arena_strndup(A, "abcdef", 3);

	ok(s != NULL && strcmp(s, "abc") == 0, "a copy of a part");
	s = arena_strndup(A, "", 0);
	ok(s != NULL && *s == '\0', "a copy of nothing");
	arena_free(A);
}

static void
test_cleanups(void)
{
	struct arena *A = arena_new(1000);
	int *p = malloc(sizeof(*p));
	static int n[] = {1, 2, 3};

	ok(p != NULL && arena_cleanup(A, free, p) == 0 &&
		arena_cleanup(A, note, &n[0]) == 0 &&
		arena_cleanup(A, note, &n[1]) == 0 &&
		arena_cleanup(A, note, &n[2]) == 0,
	    "cleanups");
	arena_free(A);
	ok(ncalls == 3 && calls[0] == 3 && calls[1] == 2 && calls[2] == 1,
	    "are called once, the latest first");
	arena_free(NULL);
}

int
main(void)
{

	test_pieces();
	test_limit();
	test_text();
	test_cleanups();
	return (done_testing());
}
