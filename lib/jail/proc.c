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

#define PF_EXITING \
	0x4 /* Of proc(5)'s flags, which Linux tells nobody by name. */

typedef uint64_t each_fn(int, pid_t, pid_t);

/* Call ${fn} for each entry of ${path} that is a number of at least ${least}.
 */
static void
walk(const char *path, uint64_t least, guests_fn *fn, void *cookie)
{
	struct dirent *d;
	uint64_t n;
	DIR *D;

	if ((D = opendir(path)) == NULL)
		return;
	while ((d = readdir(D)) != NULL)
		if (num_u64(d->d_name, least, INT32_MAX, &n) == 0)
			fn(cookie, dirfd(D), (pid_t)n);
	(void)closedir(D);
}

/* The sum of what a function answers. */
struct sum {
	each_fn *fn;
	pid_t arg;
	uint64_t n;
};

static void
add(void *cookie, int dir, pid_t id)
{
	struct sum *s = cookie;

	s->n += s->fn(dir, id, s->arg);
}

/* Of the threads in ${path}. */
static uint64_t
each_thread(const char *path, each_fn *fn)
{
	struct sum s = {.fn = fn};

	walk(path, 1, add, &s);
	return (s.n);
}

/* Where there is no /proc of our own, ours are those that we may signal. */
struct mine {
	guests_fn *fn;
	void *cookie;
	pid_t self;
};

static void
if_mine(void *cookie, int proc, pid_t pid)
{
	const struct mine *m = cookie;

	if (pid != m->self && kill(pid, 0) == 0)
		m->fn(m->cookie, proc, pid);
}

void
guests_each(guests_fn *fn, void *cookie)
{
	struct mine m = {.fn = fn, .cookie = cookie, .self = getpid()};

	walk("/proc", 2, if_mine, &m);
}

/* Of each process but us. */
static uint64_t
each(each_fn *fn, pid_t arg)
{
	struct sum s = {.fn = fn, .arg = arg};

	guests_each(add, &s);
	return (s.n);
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

/*
 * What the kernel says of a process or a thread behind its name: the state and,
 * with a space each before it, all that follows.  NULL: it is not there, or a
 * zombie, which only waits for its parent.
 */
static const char *
stat_of(int dir, pid_t id, char *text, size_t size)
{
	const char *p;

	if (look(dir, id, "stat", text, size) == 0 ||
	    (p = strrchr(text, ')')) == NULL || p[1] != ' ' || p[2] == 'Z' ||
	    p[2] == 'X')
		return (NULL);
	return (p + 2);
}

/* Where the field ${n} of ${text}, a stat file, begins; NULL: nowhere. */
static char *
field(char *text, int n)
{
	char *p;
	int i;

	if ((p = strrchr(text, ')')) == NULL)
		return (NULL);

	/* The one after the name is the third. */
	for (i = 3, p++; i < n && p != NULL; i++)
		p = strchr(p + 1, ' ');
	return (p);
}

/* Is the thread to run anything yet?  What exits does not come back to that. */
static uint64_t
runs(int tasks, pid_t tid, pid_t unused)
{
	char text[512];
	const char *p;

	(void)unused;
	if (stat_of(tasks, tid, text, sizeof(text)) == NULL)
		return (0);
	p = field(text, 9);
	return (p == NULL || (strtoul(p, NULL, 10) & PF_EXITING) == 0);
}

/* Kill it; how many of its threads run yet? */
static uint64_t
kill_other(int proc, pid_t pid, pid_t keep)
{
	char path[64];

	(void)proc;
	if (pid == keep)
		return (0);
	(void)kill(pid, SIGKILL);
	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	return (each_thread(path, runs));
}

/* Is it another that has not gone? */
static uint64_t
is_there(int proc, pid_t pid, pid_t keep)
{
	char text[512];

	return (pid != keep && stat_of(proc, pid, text, sizeof(text)) != NULL);
}

/* The process that outlives calls, or 0. */
static pid_t
kept(const struct jail *J)
{

	return (J->kernel.dead ? 0 : J->kernel.pid);
}

/* Until ${fn} finds none but those that are kept. */
static void
wait_for(struct jail *J, each_fn *fn)
{
	static const struct timespec moment = {.tv_nsec = 200000};

	while (each(fn, kept(J)) > 0) {
		(void)guests_reap(J);
		(void)nanosleep(&moment, NULL);
	}
}

void
guests_end(struct jail *J)
{
	const int alone = kept(J) == 0;

	/* All at one stroke, so that none can fork away from the scan. */
	(void)kill(-1, alone ? SIGKILL : SIGSTOP);
	if (!guests_reap(J) && alone)
		return;
	J->dying = 1;
	wait_for(J, kill_other);
	(void)guests_reap(J);
}

void
guests_gone(struct jail *J)
{

	if (J->dying) {
		(void)guests_reap(J);
		wait_for(J, is_there);
	}
	J->dying = 0;
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
	    (p = field(text, 14)) == NULL)
		return (0);
	for (i = 14; i < 18; i++)
		sum += strtoull(p, &p, 10);
	return (sum);
}

static uint64_t
tasks(int proc, pid_t pid, pid_t unused)
{
	char text[512], *p;

	(void)unused;
	if (look(proc, pid, "stat", text, sizeof(text)) == 0 ||
	    (p = field(text, 20)) == NULL)
		return (0);
	return (strtoull(p, NULL, 10));
}

uint64_t
guests_tasks(void)
{

	return (each(tasks, 0));
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
