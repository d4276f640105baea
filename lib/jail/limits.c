#include <sys/resource.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/conf.h"
#include "base/num.h"

#include "jail/limits.h"

#define MARGIN 32 /* Sessions that may begin to fork meanwhile. */

/* Of a path ${most} is 0. */
static const struct {
	const char *name;
	size_t at;
	uint64_t least, most;
} words[LIMITS_WORDS] = {
    {"memory", offsetof(struct limits, memory), 1, INT64_MAX / 16},
    {"workspace", offsetof(struct limits, workspace), 1, INT64_MAX / 16},
    {"processes", offsetof(struct limits, processes), 1, INT32_MAX},
    {"watches", offsetof(struct limits, watches), 1, INT32_MAX},
    {"idle", offsetof(struct limits, idle_s), 1, INT32_MAX},
    {"lifetime", offsetof(struct limits, lifetime_s), 1, INT32_MAX},
    {"cpu", offsetof(struct limits, cpu_s), 0, INT32_MAX},
    {"address", offsetof(struct limits, address), 0, INT64_MAX},
    {"isolation", offsetof(struct limits, isolation), 0, ISOLATION_REMOTE},
    {"rootfs", offsetof(struct limits, rootfs), 0, 0},
    {"cgroup", offsetof(struct limits, cgroup), 0, 0},
};

static const char *const isolations[] = {
    "namespaces", "namespaces+cgroup", "bwrap", "landlock", "remote"};

const char *
limits_isolation(const struct limits *l)
{

	return (isolations[l->isolation]);
}

const char *
limits_looked_at(const struct limits *l)
{

	switch (l->isolation) {
	case ISOLATION_NAMESPACES:
		return ("no control group holds a session's memory, which is"
			" looked at every 50 ms");
	case ISOLATION_BWRAP:
		return ("nothing holds a session's memory and number of files,"
			" which are looked at every 50 ms");
	case ISOLATION_LANDLOCK:
		return ("nothing holds a session's memory, processes, files and"
			" their space, which are looked at every 50 ms");
	default:
		return ("");
	}
}

/* The settings' parser has seen to it that a path has room. */
static void
put_path(char to[LIMITS_PATH], const char *path)
{

	(void)snprintf(to, LIMITS_PATH, "%s", path == NULL ? "" : path);
}

void
limits_of(const struct conf *c, struct limits *l)
{

	memset(l, 0, sizeof(*l));
	l->memory = c->sandbox_session_memory;
	l->workspace = c->sandbox_workspace;
	l->processes = c->sandbox_processes;
	l->watches = c->sandbox_watches;
	l->idle_s = c->sandbox_idle_s;
	l->lifetime_s = c->sandbox_lifetime_s;
	l->cpu_s = c->sandbox_cpu_s;
	l->isolation = (uint64_t)c->sandbox_isolation;
	put_path(l->rootfs, c->sandbox_rootfs);
	put_path(l->cgroup, c->sandbox_cgroup);
}

static void *
field(struct limits *l, size_t i)
{

	return ((char *)l + words[i].at);
}

void
limits_write(const struct limits *l, char out[LIMITS_WORDS][LIMITS_WORD])
{
	struct limits copy = *l;
	size_t i;

	for (i = 0; i < LIMITS_WORDS; i++) {
		if (words[i].most == 0)
			(void)snprintf(out[i], LIMITS_WORD, "%s=%s",
			    words[i].name, (const char *)field(&copy, i));
		else
			(void)snprintf(out[i], LIMITS_WORD, "%s=%" PRIu64,
			    words[i].name, *(uint64_t *)field(&copy, i));
	}
}

/* Take the value ${text} of the word ${i}. */
static int
take(struct limits *l, size_t i, const char *text)
{

	if (words[i].most != 0)
		return (
		    num_u64(text, words[i].least, words[i].most, field(l, i)));
	if (strlen(text) >= LIMITS_PATH || (*text != '\0' && *text != '/'))
		return (-1);
	put_path(field(l, i), text);
	return (0);
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
		    take(l, i, in[k] + len + 1))
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

uint64_t
limits_loaded(void)
{
	char text[128], *p = text;
	uint64_t pages = 0;
	ssize_t n;
	int fd, i;

	if ((fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)) == -1)
		return (0);
	n = read(fd, text, sizeof(text) - 1);
	(void)close(fd);
	text[n > 0 ? n : 0] = '\0';
	for (i = 0; i < 6; i++)
		pages = strtoull(p, &p, 10);
	return (pages * (uint64_t)getpagesize());
}

/* Bytes of addresses. */
static uint64_t
addresses(const struct limits *l)
{

	return (l->address > 0 ? l->address : l->memory * 16);
}

int
limits_alike(const struct limits *a, const struct limits *b)
{

	return (a->memory == b->memory && addresses(a) == addresses(b) &&
	    a->workspace == b->workspace && a->processes == b->processes &&
	    a->lifetime_s == b->lifetime_s);
}

/*
 * Without a namespace of users the kernel counts all processes of the user,
 * sessions of others included, so the supervisor counts in its stead.  This
 * bounds what can be made between two looks of its.
 */
static uint64_t
most_tasks(const struct limits *l)
{
	char text[128], *p;
	ssize_t n;
	int fd;

	if (l->isolation != ISOLATION_LANDLOCK)
		return (l->processes);
	if ((fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC)) == -1)
		return (0);
	n = read(fd, text, sizeof(text) - 1);
	(void)close(fd);
	text[n > 0 ? n : 0] = '\0';

	/* "0.42 0.37 0.35 2/612 9134": 612 there are on the machine. */
	if ((p = strchr(text, '/')) == NULL)
		return (0);
	return (strtoull(p + 1, NULL, 10) + MARGIN * l->processes);
}

int
limits_supervisor(void)
{

	return (set(RLIMIT_SIGPENDING, LIMIT_SIGNALS));
}

int
limits_apply(const struct limits *l, uint64_t loaded)
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
	    {RLIMIT_DATA, l->memory / 8 * 7 + loaded},
	    {RLIMIT_AS, addresses(l)},
	    {RLIMIT_FSIZE, l->workspace},
	    {RLIMIT_NOFILE, LIMIT_FDS},
	    {RLIMIT_NPROC, most_tasks(l)},
	    {RLIMIT_CPU, l->lifetime_s},
	    {RLIMIT_MEMLOCK, 65536},
	    {RLIMIT_MSGQUEUE, 0},
	    {RLIMIT_SIGPENDING, LIMIT_SIGNALS},
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
