#ifndef BASE_ARENA_H_
#define BASE_ARENA_H_

#include <stddef.h>

/* Opaque type. */
struct arena;

/**
 * arena_new(max):
 * Return a new arena which will hand out at most ${max} bytes in all, or NULL.
 */
struct arena *arena_new(size_t);

/**
 * arena_alloc(A, len):
 * Return ${len} zeroed bytes, suitably aligned, which live until
 * arena_free(${A}); or NULL if memory or the arena's limit is exhausted.
 */
void *arena_alloc(struct arena *, size_t);

/**
 * arena_strndup(A, s, len):
 * Return a NUL-terminated copy of the ${len} bytes at ${s}, or NULL.
 */
char *arena_strndup(struct arena *, const char *, size_t);

/**
 * arena_cleanup(A, fn, cookie):
 * Call ${fn}(${cookie}) when ${A} is freed, latest registration first.
 */
int arena_cleanup(struct arena *, void (*)(void *), void *);

/**
 * arena_free(A):
 * Run the cleanups, then free ${A} and all it handed out.  NULL is allowed.
 */
void arena_free(struct arena *);

#endif /* !BASE_ARENA_H_ */
