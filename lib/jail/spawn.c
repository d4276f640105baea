#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/num.h"

#include "jail/spawn.h"
#include "jail/supervisor.h"

#define START_MS 10000 /* A start that takes longer has failed. */
#define REPORT_MAX 512

/* Descriptors above those that the new process is to have. */
static int
above(int fd)
{

	return (fcntl(fd, F_DUPFD_CLOEXEC, 16));
}

static int
actions(posix_spawn_file_actions_t *fa, int report, int lock, int listener)
{

	if (posix_spawn_file_actions_addopen(fa, 0, "/dev/null", O_RDONLY, 0) ||
	    posix_spawn_file_actions_adddup2(fa, report, SUPERVISOR_REPORT) ||
	    posix_spawn_file_actions_addopen(fa, 2, "/dev/null", O_WRONLY, 0) ||
	    posix_spawn_file_actions_adddup2(fa, lock, SUPERVISOR_LOCK) ||
	    posix_spawn_file_actions_adddup2(fa, listener, SUPERVISOR_LISTEN) ||
	    posix_spawn_file_actions_addclosefrom_np(fa, SUPERVISOR_LISTEN + 1))
		return (-1);
	return (0);
}

static int
attributes(posix_spawnattr_t *at)
{
	sigset_t none, all;

	sigemptyset(&none);
	sigfillset(&all);
	if (posix_spawnattr_setsigmask(at, &none) ||
	    posix_spawnattr_setsigdefault(at, &all) ||
	    posix_spawnattr_setflags(at,
		POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
		    POSIX_SPAWN_SETSID))
		return (-1);
	return (0);
}

static int
start(const struct limits *l, int report, int lock, int listener, pid_t *pid)
{
	char words[LIMITS_WORDS][LIMITS_WORD], name[] = "satchel-sandbox",
					       flag[] = SPAWN_WORD;
	char *argv[LIMITS_WORDS + 3] = {name, flag}, *env[] = {NULL};
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t at;
	int i, err = ENOMEM;

	limits_write(l, words);
	for (i = 0; i < LIMITS_WORDS; i++)
		argv[i + 2] = words[i];
	if (posix_spawn_file_actions_init(&fa))
		goto err0;
	if (posix_spawnattr_init(&at))
		goto err1;
	if (actions(&fa, report, lock, listener) == 0 && attributes(&at) == 0)
		err = posix_spawn(pid, "/proc/self/exe", &fa, &at, argv, env);
	(void)posix_spawnattr_destroy(&at);
err1:
	(void)posix_spawn_file_actions_destroy(&fa);
err0:
	errno = err;
	return (err == 0 ? 0 : -1);
}

/* Read what is reported until nobody can report any more. */
static int
listen_to(int fd, char report[REPORT_MAX])
{
	uint64_t now = clock_ms(), until = now + START_MS;
	struct pollfd p = {.fd = fd, .events = POLLIN};
	size_t len = 0;
	ssize_t n = 1;

	while (n != 0 && len < REPORT_MAX - 1) {
		if ((now = clock_ms()) >= until)
			return (-1);
		if (poll(&p, 1, (int)(until - now)) != 1)
			continue;
		if ((n = read(fd, report + len, REPORT_MAX - 1 - len)) == -1)
			return (-1);
		len += (size_t)n;
	}
	report[len] = '\0';
	return (0);
}

/* Read the lines of ${report}. */
static int
understand(char *report, long *pid, char *why, size_t size)
{
	char *line;
	int ok = 0;
	uint64_t n;

	*pid = 0;
	(void)snprintf(why, size, "it ended without a word");
	while ((line = strsep(&report, "\n")) != NULL) {
		if (strcmp(line, "ok") == 0)
			ok = 1;
		else if (strncmp(line, "fail ", 5) == 0)
			(void)snprintf(why, size, "%s", line + 5);
		else if (strncmp(line, "pid ", 4) == 0 &&
		    num_u64(line + 4, 2, INT32_MAX, &n) == 0)
			*pid = (long)n;
	}
	return (ok && *pid != 0 ? 0 : -1);
}

int
spawn_supervisor(const struct limits *l, int lock, int listener, long *pid,
    char *why, size_t size)
{
	char report[REPORT_MAX] = "";
	int fd[2], up[3] = {-1, -1, -1}, rc = -1, i;
	pid_t starter = -1;

	if (pipe2(fd, O_CLOEXEC)) {
		(void)snprintf(why, size, "pipe: %s", strerror(errno));
		return (-1);
	}
	if ((up[0] = above(fd[1])) != -1 && (up[1] = above(lock)) != -1 &&
	    (up[2] = above(listener)) != -1)
		rc = start(l, up[0], up[1], up[2], &starter);
	if (rc)
		(void)snprintf(why, size, "spawn: %s", strerror(errno));
	for (i = 0; i < 3; i++)
		if (up[i] != -1)
			(void)close(up[i]);
	(void)close(fd[1]);
	if (rc == 0 && listen_to(fd[0], report)) {
		(void)snprintf(why, size, "it did not start in time");
		(void)kill(starter, SIGKILL);
		rc = -1;
	} else if (rc == 0) {
		rc = understand(report, pid, why, size);
	}
	(void)close(fd[0]);
	if (starter > 0)
		(void)waitpid(starter, NULL, 0);
	return (rc);
}
