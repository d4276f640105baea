#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include <sys/mman.h>

#include "base/log.h"

#include "fcgi/rate.h"

#define PLACES 16384
#define PROBES 8

/* A window's number and the count in it are one word, changed together. */
#define COUNT_BITS 24
#define COUNT_MAX ((1UL << COUNT_BITS) - 1)

struct place {
	_Atomic uint64_t who; /* User and kind; 0: free. */
	_Atomic uint64_t had; /* Window << COUNT_BITS | count. */
};

struct rates {
	struct place place[PLACES];
};

static const struct {
	const char *noun;
	uint64_t window_s;
} kinds[RATE_KINDS] = {
    [RATE_EXEC] = {"executions", 30},
    [RATE_UPLOAD] = {"uploads", 300},
    [RATE_DOWNLOAD] = {"downloads", 60},
    [RATE_READ] = {"requests", 60},
};

struct rates *
rates_new(void)
{
	struct rates *r;

	r = mmap(NULL, sizeof(*r), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (r == MAP_FAILED) {
		log_err("rate: %s", strerror(errno));
		return (NULL);
	}
	return (r);
}

const char *
rate_noun(enum rate_kind kind)
{

	return (kinds[kind].noun);
}

/* The place of ${who}: his own, a free one, or that which was quiet longest. */
static struct place *
find(struct rates *r, uint64_t who)
{
	/* Users count up from 1: spread them by a multiplication. */
	const size_t at = (size_t)(who * 0x9e3779b97f4a7c15ULL >> 50);
	struct place *oldest = NULL, *p;
	uint64_t have;

	for (size_t i = 0; i < PROBES; i++) {
		p = &r->place[(at + i) % PLACES];
		have = 0;
		if (atomic_load(&p->who) == who ||
		    atomic_compare_exchange_strong(&p->who, &have, who) ||
		    have == who)
			return (p);
		if (oldest == NULL ||
		    atomic_load(&p->had) < atomic_load(&oldest->had))
			oldest = p;
	}
	atomic_store(&oldest->who, who);
	atomic_store(&oldest->had, 0);
	return (oldest);
}

unsigned int
rate_take(struct rates *r, enum rate_kind kind, uint64_t user, uint64_t most,
    uint64_t now_ms)
{
	const uint64_t now = now_ms / 1000, len = kinds[kind].window_s;
	const uint64_t window = now / len;
	struct place *p;
	uint64_t had, count;

	if (r == NULL || most == 0)
		return (0);
	p = find(r, user * RATE_KINDS + (uint64_t)kind + 1);
	had = atomic_load(&p->had);
	do {
		count = had >> COUNT_BITS == window ? had & COUNT_MAX : 0;
		if (count >= most || count == COUNT_MAX)
			return ((unsigned int)(len - now % len));
	} while (!atomic_compare_exchange_weak(
	    &p->had, &had, window << COUNT_BITS | (count + 1)));
	return (0);
}
