#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

/*
 * Small pieces share a block; under AddressSanitizer each has its own, so that
 * a byte too far is seen.
 */
#ifdef __SANITIZE_ADDRESS__
#define SHARED 0
#else
#define SHARED 4096
#endif

struct block {
	struct block *next;
	size_t left; /* Bytes at the end not handed out. */
	size_t size;
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

/* Add a block of ${size} bytes: as the one to go on with, or behind it. */
static struct block *
block_new(struct arena *A, size_t size, int first)
{
	struct block *b, **at = &A->blocks;

	if (!first && *at != NULL)
		at = &(*at)->next;
	if ((b = calloc(1, sizeof(*b) + size)) == NULL)
		return (NULL);
	b->size = b->left = size;
	b->next = *at;
	*at = b;
	return (b);
}

void *
arena_alloc(struct arena *A, size_t len)
{
	const size_t unit = alignof(max_align_t);
	struct block *b = A->blocks;
	size_t size;
	void *p;

	if (len > A->left || len > SIZE_MAX - unit - sizeof(*b))
		return (NULL);
	size = (len + unit - 1) / unit * unit;
	if (size > SHARED / 4)
		b = block_new(A, size, 0);
	else if (b == NULL || b->left < size)
		b = block_new(A, SHARED, 1);
	if (b == NULL)
		return (NULL);
	p = b->data + (b->size - b->left);
	b->left -= size;
	A->left -= len;
	return (p);
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
