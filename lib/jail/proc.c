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
#include "jail/proc.h"

#define PF_EXITING \
	0x4 /* Of proc(5)'s flags, which Linux tells nobody by name. */

/* A number of a process or a thread; PROC_BLIND if it cannot be had. */
typedef uint64_t each_fn(int, pid_t, pid_t);

int
proc_gone(void)
{

	return (errno == ENOENT || errno == ESRCH);
}

uint64_t
proc_sum(uint64_t a, uint64_t b)
{

	return (a > PROC_BLIND - b ? PROC_BLIND : a + b);
}

int
proc_walk(
    int dir, const char *path, uint64_t least, guests_fn *fn, void *cookie)
{
	struct dirent *d;
	uint64_t n;
	int fd, err;
	DIR *D;

	if ((fd = openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1)
		return (proc_gone() ? 0 : -1);
	if ((D = fdopendir(fd)) == NULL) {
		(void)close(fd);
		return (-1);
	}
	while (errno = 0, (d = readdir(D)) != NULL)
		if (num_u64(d->d_name, least, INT32_MAX, &n) == 0)
			fn(cookie, fd, (pid_t)n);
	err = proc_gone() ? 0 : errno;
	(void)closedir(D);
	errno = err;
	return (err == 0 ? 0 : -1);
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

	s->n = proc_sum(s->n, s->fn(dir, id, s->arg));
}

/* Of the threads in ${path}. */
static uint64_t
each_thread(const char *path, each_fn *fn)
{
	struct sum s = {.fn = fn};

	return (proc_walk(AT_FDCWD, path, 1, add, &s) ? PROC_BLIND : s.n);
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

int
guests_each(guests_fn *fn, void *cookie)
{
	struct mine m = {.fn = fn, .cookie = cookie, .self = getpid()};

	return (proc_walk(AT_FDCWD, "/proc", 2, if_mine, &m));
}

/* Of each process but us. */
static uint64_t
each(each_fn *fn, pid_t arg)
{
	struct sum s = {.fn = fn, .arg = arg};

	return (guests_each(add, &s) ? PROC_BLIND : s.n);
}

ssize_t
proc_read(int dir, const char *name, char *text, size_t size)
{
	ssize_t n;
	int fd, err;

	*text = '\0';
	if ((fd = openat(dir, name, O_RDONLY | O_CLOEXEC)) == -1)
		return (proc_gone() ? 0 : -1);
	n = read(fd, text, size - 1);
	err = errno;
	(void)close(fd);
	errno = err;
	if (n == -1)
		return (proc_gone() ? 0 : -1);
	text[n] = '\0';
	return (n);
}

/* The same of /proc/${pid}/${name}. */
static ssize_t
look(int proc, pid_t pid, const char *name, char *text, size_t size)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "%d/%s", (int)pid, name);
	return (proc_read(proc, path, text, size));
}

uint64_t
proc_line(const char *text, const char *name)
{
	const char *p;

	if ((p = strstr(text, name)) == NULL)
		return (0);
	return (strtoull(p + strlen(name), NULL, 10) * 1024);
}

/* A search for a thread that has memory. */
struct search {
	char *text;
	size_t size;
	pid_t tid;
	int rc;
};

static void
search_one(void *cookie, int dir, pid_t tid)
{
	struct search *s = cookie;

	if (s->rc != 0)
		return;
	s->tid = tid;
	if (look(dir, tid, "status", s->text, s->size) == -1)
		s->rc = -1;
	else if (strstr(s->text, "\nVmRSS:") != NULL)
		s->rc = 1;
}

int
proc_alive(int proc, pid_t pid, char *text, size_t size, pid_t *tid)
{
	struct search s = {.text = text, .size = size};
	char path[32];

	search_one(&s, proc, pid);
	if (s.rc == 0) {
		(void)snprintf(path, sizeof(path), "%d/task", (int)pid);
		if (proc_walk(proc, path, 1, search_one, &s))
			return (-1);
	}
	*tid = s.tid;
	return (s.rc);
}

/*
 * Read what the kernel says of a process or a thread into ${text}.  Return 1,
 * -1 if that cannot be had, or 0 if it is not there or a zombie, which only
 * waits for its parent.
 */
static int
stat_of(int dir, pid_t id, char *text, size_t size)
{
	const char *p;
	ssize_t n;

	if ((n = look(dir, id, "stat", text, size)) <= 0)
		return ((int)n);
	p = strrchr(text, ')');
	return (p != NULL && p[1] == ' ' && p[2] != 'Z' && p[2] != 'X');
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
	int rc;

	(void)unused;
	if ((rc = stat_of(tasks, tid, text, sizeof(text))) <= 0)
		return (rc == 0 ? 0 : PROC_BLIND);
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
	int rc;

	if (pid == keep)
		return (0);
	rc = stat_of(proc, pid, text, sizeof(text));
	return (rc == -1 ? PROC_BLIND : (uint64_t)rc);
}

/* The process that outlives calls, or 0. */
static pid_t
kept(const struct jail *J)
{

	return (J->kernel.dead ? 0 : J->kernel.pid);
}

/*
 * Until ${fn} finds none but those that are kept; where they cannot be looked
 * at, none is kept.
 */
static void
wait_for(struct jail *J, each_fn *fn)
{
	static const struct timespec moment = {.tv_nsec = 200000};
	uint64_t n;

	while ((n = each(fn, kept(J))) > 0) {
		if (n == PROC_BLIND) {
			guests_kill(J);
			return;
		}
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

/* Ticks of itself and of the children that it has waited for. */
static uint64_t
ticks(int proc, pid_t pid, pid_t unused)
{
	char text[512], *p;
	uint64_t sum = 0;
	ssize_t n;
	int i;

	(void)unused;
	if ((n = look(proc, pid, "stat", text, sizeof(text))) == -1)
		return (PROC_BLIND);
	if (n == 0 || (p = field(text, 14)) == NULL)
		return (0);
	for (i = 14; i < 18; i++)
		sum += strtoull(p, &p, 10);
	return (sum);
}

static uint64_t
tasks(int proc, pid_t pid, pid_t unused)
{
	char text[512], *p;
	ssize_t n;

	(void)unused;
	if ((n = look(proc, pid, "stat", text, sizeof(text))) == -1)
		return (PROC_BLIND);
	if (n == 0 || (p = field(text, 20)) == NULL)
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
	uint64_t n;

	if ((n = each(ticks, 0)) == PROC_BLIND)
		return (PROC_BLIND);

	/* Each is in its parent's sum once it has been waited for. */
	(void)getrusage(RUSAGE_CHILDREN, &waited);
	return (n * 1000 / (uint64_t)sysconf(_SC_CLK_TCK) +
	    ms(&waited.ru_utime) + ms(&waited.ru_stime));
}
