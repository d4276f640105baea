#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "jail/report.h"
#include "jail/spawn.h"
#include "jail/supervisor.h"
#include "jail/users.h"

#define START_MS 10000 /* A start that takes longer has failed. */

/* The descriptors that the new process gets from us, in this order. */
static const int given[] = {
    SUPERVISOR_REPORT, SUPERVISOR_LOCK, SUPERVISOR_LISTEN, SUPERVISOR_USERS};
#define GIVEN 4

/* Descriptors above those that the new process is to have. */
static int
above(int fd)
{

	return (fcntl(fd, F_DUPFD_CLOEXEC, 16));
}

static int
actions(posix_spawn_file_actions_t *fa, const int fd[static GIVEN])
{
	int i, next = 0;

	if (posix_spawn_file_actions_addopen(fa, 0, "/dev/null", O_RDONLY, 0) ||
	    posix_spawn_file_actions_addopen(fa, 2, "/dev/null", O_WRONLY, 0))
		return (-1);
	for (i = 0; i < GIVEN && fd[i] != -1; i++) {
		if (posix_spawn_file_actions_adddup2(fa, fd[i], given[i]))
			return (-1);
		next = given[i] + 1;
	}
	return (posix_spawn_file_actions_addclosefrom_np(fa, next));
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
start(const struct limits *l, const int fd[static GIVEN], pid_t *pid)
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
	if (actions(&fa, fd) == 0 && attributes(&at) == 0)
		err = posix_spawn(pid, "/proc/self/exe", &fa, &at, argv, env);
	(void)posix_spawnattr_destroy(&at);
err1:
	(void)posix_spawn_file_actions_destroy(&fa);
err0:
	errno = err;
	return (err == 0 ? 0 : -1);
}

int
spawn_supervisor(const struct limits *l, int lock, int listener, long *pid,
    char *why, size_t size)
{
	int fd[2], up[GIVEN] = {-1, -1, -1, -1}, rc = -1, i;
	pid_t starter = -1;

	if (pipe2(fd, O_CLOEXEC)) {
		(void)snprintf(why, size, "pipe: %s", strerror(errno));
		return (-1);
	}
	if ((up[0] = above(fd[1])) != -1 && (up[1] = above(lock)) != -1 &&
	    (up[2] = above(listener)) != -1 &&
	    (users_held() == -1 || (up[3] = above(users_held())) != -1))
		rc = start(l, up, &starter);
	if (rc)
		(void)snprintf(why, size, "spawn: %s", strerror(errno));
	for (i = 0; i < GIVEN; i++)
		if (up[i] != -1)
			(void)close(up[i]);
	(void)close(fd[1]);
	if (rc == 0 && (rc = report_read(fd[0], START_MS, pid, why, size)) != 0)
		(void)kill(starter, SIGKILL);
	(void)close(fd[0]);
	if (starter > 0)
		(void)waitpid(starter, NULL, 0);
	return (rc);
}
