#include <sys/mman.h>

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/seldom.h"

#define SLOTS 1024
#define PAUSE_MS 60000

/* When each was last told, plus one; two that share a place count as one. */
static _Atomic uint64_t own[SLOTS];
static _Atomic uint64_t *table = own;

void
seldom_share(void)
{
	void *p = mmap(NULL, sizeof(own), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p != MAP_FAILED)
		table = p;
}

/* FNV-1a, which spreads short names well enough. */
static uint64_t
mix(uint64_t h, const char *s)
{

	do
		h = (h ^ (unsigned char)*s) * UINT64_C(1099511628211);
	while (*s++ != '\0');
	return (h);
}

int
seldom(const char *what, const char *which)
{
	const uint64_t h =
	    mix(mix(UINT64_C(14695981039346656037), what), which);
	_Atomic uint64_t *slot = &table[(h ^ h >> 32) % SLOTS];
	const uint64_t now = clock_ms() + 1;
	uint64_t then = atomic_load(slot);

	return ((then == 0 || now >= then + PAUSE_MS) &&
	    atomic_compare_exchange_strong(slot, &then, now));
}
