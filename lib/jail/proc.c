#include <sys/resource.h>
#include <sys/time.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/num.h"

#include "jail/guest.h"

/* What the supervisor reads in the session's own /proc. */

/* Call ${fn} for each process but the first; return the sum of its answers. */
static uint64_t
each(uint64_t (*fn)(int, pid_t, pid_t), pid_t arg)
{
	struct dirent *d;
	uint64_t n, sum = 0;
	DIR *D;

	if ((D = opendir("/proc")) == NULL)
		return (0);
	while ((d = readdir(D)) != NULL)
		if (num_u64(d->d_name, 2, INT32_MAX, &n) == 0)
			sum += fn(dirfd(D), (pid_t)n, arg);
	(void)closedir(D);
	return (sum);
}

/* Read the beginning of /proc/${pid}/${name}; return its length. */
static size_t
look(int proc, pid_t pid, const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof(path), "%d/%s", (int)pid, name);
	if ((fd = openat(proc, path, O_RDONLY | O_CLOEXEC)) == -1)
		return (0);
	n = read(fd, text, size - 1);
	(void)close(fd);
	text[n > 0 ? n : 0] = '\0';
	return (n > 0 ? (size_t)n : 0);
}

/* Kill it; is it still there?  A zombie only waits for its parent. */
static uint64_t
kill_other(int proc, pid_t pid, pid_t keep)
{
	char text[512], *p;

	if (pid == keep)
		return (0);
	(void)kill(pid, SIGKILL);
	if (look(proc, pid, "stat", text, sizeof(text)) == 0 ||
	    (p = strrchr(text, ')')) == NULL || p[1] != ' ')
		return (0);
	return (p[2] != 'Z' && p[2] != 'X');
}

void
guests_end(struct jail *J)
{
	static const struct timespec moment = {.tv_nsec = 200000};
	pid_t keep = J->kernel.dead ? 0 : J->kernel.pid;

	if (keep == 0) {
		guests_kill(J);
		return;
	}

	/* All at one stroke, so that none can fork away from the scan. */
	(void)kill(-1, SIGSTOP);
	while (each(kill_other, keep) > 0) {
		guests_reap(J);
		(void)nanosleep(&moment, NULL);
	}
	guests_reap(J);
}

static uint64_t
resident(int proc, pid_t pid, pid_t unused)
{
	char text[128], *end;

	(void)unused;
	if (look(proc, pid, "statm", text, sizeof(text)) == 0)
		return (0);
	(void)strtoull(text, &end, 10);
	return (strtoull(end, NULL, 10) * (uint64_t)getpagesize());
}

/* The number of KiB that the line ${name} of ${text} gives, in bytes. */
static uint64_t
line(const char *text, const char *name)
{
	const char *p;

	if ((p = strstr(text, name)) == NULL)
		return (0);
	return (strtoull(p + strlen(name), NULL, 10) * 1024);
}

/* Its share of what is neither a file's nor shared with others. */
static uint64_t
share(int proc, pid_t pid, pid_t unused)
{
	char text[2048];

	/* A process may have forbidden us to look: then all counts. */
	if (look(proc, pid, "smaps_rollup", text, sizeof(text)) == 0)
		return (resident(proc, pid, unused));
	return (line(text, "\nPss_Anon:") + line(text, "\nPss_Shmem:"));
}

uint64_t
guests_memory(uint64_t limit)
{
	uint64_t n;

	if ((n = each(resident, 0)) > limit)
		n = each(share, 0);
	return (n);
}

/* Ticks of itself and of the children that it has waited for. */
static uint64_t
ticks(int proc, pid_t pid, pid_t unused)
{
	char text[512], *p;
	uint64_t sum = 0;
	int i;

	(void)unused;
	if (look(proc, pid, "stat", text, sizeof(text)) == 0 ||
	    (p = strrchr(text, ')')) == NULL)
		return (0);

	/* Fields 14 to 17; the one after the name is the third. */
	for (i = 3, p++; i < 14 && p != NULL; i++)
		p = strchr(p + 1, ' ');
	for (; i < 18 && p != NULL; i++)
		sum += strtoull(p, &p, 10);
	return (sum);
}

static uint64_t
ms(const struct timeval *t)
{

	return ((uint64_t)t->tv_sec * 1000 + (uint64_t)t->tv_usec / 1000);
}

uint64_t
guests_cpu_ms(void)
{
	struct rusage waited = {0};

	/* Each is in its parent's sum once it has been waited for. */
	(void)getrusage(RUSAGE_CHILDREN, &waited);
	return (each(ticks, 0) * 1000 / (uint64_t)sysconf(_SC_CLK_TCK) +
	    ms(&waited.ru_utime) + ms(&waited.ru_stime));
}
