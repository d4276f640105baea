#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

struct block {
	struct block *next;
	alignas(max_align_t) unsigned char data[];
};

struct cleanup {
	struct cleanup *next;
	void (*fn)(void *);
	void *cookie;
};

struct arena {
	size_t left; /* Bytes we may still hand out. */
	struct block *blocks;
	struct cleanup *cleanups;
};

struct arena *
arena_new(size_t max)
{
	struct arena *A;

	if ((A = calloc(1, sizeof(*A))) == NULL)
		return (NULL);
	A->left = max;
	return (A);
}

void *
arena_alloc(struct arena *A, size_t len)
{
	struct block *b;

	if (len > A->left)
		return (NULL);
	if ((b = calloc(1, sizeof(*b) + len)) == NULL)
		return (NULL);
	A->left -= len;
	b->next = A->blocks;
	A->blocks = b;
	return (b->data);
}

char *
arena_strndup(struct arena *A, const char *s, size_t len)
{
	char *p;

	if (len == (size_t)-1 || (p = arena_alloc(A, len + 1)) == NULL)
		return (NULL);
	memcpy(p, s, len);
	return (p);
}

int
arena_cleanup(struct arena *A, void (*fn)(void *), void *cookie)
{
	struct cleanup *c;

	if ((c = arena_alloc(A, sizeof(*c))) == NULL)
		return (-1);
	c->fn = fn;
	c->cookie = cookie;
	c->next = A->cleanups;
	A->cleanups = c;
	return (0);
}

void
arena_free(struct arena *A)
{
	struct block *b, *next;

	if (A == NULL)
		return;
	for (; A->cleanups != NULL; A->cleanups = A->cleanups->next)
		A->cleanups->fn(A->cleanups->cookie);
	for (b = A->blocks; b != NULL; b = next) {
		next = b->next;
		free(b);
	}
	free(A);
}
