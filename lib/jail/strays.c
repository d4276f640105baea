#include <sys/syscall.h>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/num.h"

#include "jail/strays.h"

#define END_MS 1000
#define MARK 1000    /* Of the kernel's list of whom to end first. */
#define STATUS 8192  /* Bytes of a process's status, more than there are. */
#define PARENTS 4096 /* More than a session has. */

/* Read /proc/${pid}/${name}.  Return -1 if there is none. */
static int
look(long pid, const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%ld/%s", pid, name);
	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) == -1)
		return (-1);
	n = read(fd, text, size - 1);
	(void)close(fd);
	text[n > 0 ? n : 0] = '\0';
	return (n > 0 ? 0 : -1);
}

static int
is_marked(long pid)
{
	char text[16];

	return (look(pid, "oom_score_adj", text, sizeof(text)) == 0 &&
	    strtol(text, NULL, 10) == MARK);
}

/* The number that the line ${name} of a status begins with; -1: none. */
static long
number(const char *status, const char *name)
{
	const char *p = strstr(status, name);

	return (p == NULL ? -1 : strtol(p + strlen(name), NULL, 10));
}

/* Does ${status} say that it runs, confined, as our user? */
static int
is_confined(const char *status)
{

	return (number(status, "\nUid:") == (long)geteuid() &&
	    number(status, "\nNoNewPrivs:") == 1 &&
	    number(status, "\nSeccomp:") == 2 &&
	    strstr(status, "\nState:\tZ") == NULL);
}

/* Is it by its name one of those who look after sessions? */
static int
looks_after(const char *status)
{
	static const char *const names[] = {
	    "Name:\tsupervisor\n", "Name:\twarden\n"};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(status, names[i], strlen(names[i])) == 0)
			return (1);
	return (0);
}

/* Whoever has no mark above it decides; what is going away decides nothing. */
static int
is_astray(long pid)
{
	char status[STATUS];
	int i;

	if (!is_marked(pid) || look(pid, "status", status, sizeof(status)) ||
	    !is_confined(status))
		return (0);
	for (i = 0; i < PARENTS; i++) {
		if ((pid = number(status, "\nPPid:")) < 1 ||
		    look(pid, "status", status, sizeof(status)))
			return (0);
		if (!is_marked(pid))
			return (!looks_after(status));
	}
	return (0);
}

/* End ${pid} if it is astray.  Return whether it was. */
static int
end(long pid)
{
	int fd, astray = 0;

	if (!is_astray(pid) ||
	    (fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0)) == -1)
		return (0);

	/* The number is now held by the descriptor. */
	if (is_astray(pid)) {
		astray = 1;
		(void)syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
	}
	(void)close(fd);
	return (astray);
}

/* End those that there are; how many? */
static int
end_all(void)
{
	struct dirent *d;
	uint64_t pid;
	int n = 0;
	DIR *D;

	if ((D = opendir("/proc")) == NULL)
		return (0);
	while ((d = readdir(D)) != NULL)
		if (num_u64(d->d_name, 2, INT32_MAX, &pid) == 0)
			n += end((long)pid);
	(void)closedir(D);
	return (n);
}

int
strays_end(void)
{
	static const struct timespec moment = {.tv_nsec = 1000000};
	uint64_t until;

	/* If we bear the mark ourselves it says nothing. */
	if (is_marked((long)getpid()))
		return (0);
	for (until = clock_ms() + END_MS; end_all() > 0;) {
		if (clock_ms() >= until)
			return (-1);
		(void)nanosleep(&moment, NULL);
	}
	return (0);
}
