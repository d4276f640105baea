#include <sys/resource.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"

#include "jail/limits.h"

static const struct {
	const char *name;
	size_t at;
} words[LIMITS_WORDS] = {
    {"memory", offsetof(struct limits, memory)},
    {"workspace", offsetof(struct limits, workspace)},
    {"processes", offsetof(struct limits, processes)},
    {"idle", offsetof(struct limits, idle_s)},
    {"lifetime", offsetof(struct limits, lifetime_s)},
};

static uint64_t *
field(struct limits *l, size_t i)
{

	return ((uint64_t *)(void *)((char *)l + words[i].at));
}

void
limits_write(const struct limits *l, char out[LIMITS_WORDS][LIMITS_WORD])
{
	struct limits copy = *l;
	size_t i;

	for (i = 0; i < LIMITS_WORDS; i++)
		(void)snprintf(out[i], LIMITS_WORD, "%s=%" PRIu64,
		    words[i].name, *field(&copy, i));
}

int
limits_read(char *const *in, size_t n, struct limits *l)
{
	unsigned int seen = 0;
	size_t i, k, len;

	memset(l, 0, sizeof(*l));
	for (k = 0; k < n; k++) {
		len = strcspn(in[k], "=");
		for (i = 0; i < LIMITS_WORDS; i++)
			if (strlen(words[i].name) == len &&
			    strncmp(words[i].name, in[k], len) == 0)
				break;
		if (i == LIMITS_WORDS || seen & 1U << i || in[k][len] == '\0' ||
		    num_u64(in[k] + len + 1, 1, INT64_MAX / 16, field(l, i)))
			return (-1);
		seen |= 1U << i;
	}
	return (seen == (1U << LIMITS_WORDS) - 1 ? 0 : -1);
}

uint64_t
limits_inodes(const struct limits *l)
{
	uint64_t n = l->workspace / 8192;

	return (n < 1024 ? 1024 : n);
}

/* Hard and soft alike, so that nothing can be raised again. */
static int
set(int what, uint64_t n)
{
	struct rlimit r = {.rlim_cur = n, .rlim_max = n};

	return (setrlimit((__rlimit_resource_t)what, &r));
}

int
limits_apply(const struct limits *l)
{
	/*
	 * RLIMIT_DATA is what bounds a process: it counts the memory that can
	 * be written.  RLIMIT_AS also counts what a runtime only reserves (64
	 * MiB a thread in glibc), so it is the wide outer bound, which catches
	 * shared mappings.  One process stays below the session's limit, so
	 * that its allocation fails before the supervisor must kill it.
	 * Time is the supervisor's affair; RLIMIT_CPU is a last resort.
	 */
	const struct {
		int what;
		uint64_t n;
	} all[] = {
	    {RLIMIT_CORE, 0},
	    {RLIMIT_DATA, l->memory / 8 * 7},
	    {RLIMIT_AS, l->memory * 16},
	    {RLIMIT_FSIZE, l->workspace},
	    {RLIMIT_NOFILE, LIMIT_FDS},
	    {RLIMIT_NPROC, l->processes},
	    {RLIMIT_CPU, l->lifetime_s},
	    {RLIMIT_MEMLOCK, 65536},
	    {RLIMIT_MSGQUEUE, 0},
	    {RLIMIT_SIGPENDING, 1024},
	    {RLIMIT_STACK, 8ULL << 20},
	    {RLIMIT_NICE, 0},
	    {RLIMIT_RTPRIO, 0},
	};
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (set(all[i].what, all[i].n))
			return (-1);
	return (0);
}
