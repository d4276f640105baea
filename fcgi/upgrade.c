#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/num.h"

#include "fcgi/upgrade.h"

#define SELF "/proc/self/exe"
#define HEIR "SATCHEL_HEIR" /* PID FD [CHILD:UNTIL]... */
#define HEIR_MAX 16384
#define WORDS_MAX 160 /* Of a command line. */
#define SAID_MAX 8192
#define TRY_MS 30000 /* It may wait for its database. */

/* This program; nothing changes once upgrade_begin() is done. */
static struct {
	char path[PATH_MAX];
	struct stat st;
	char *const *argv;
	int listenfd;
	char *children; /* What of HEIR names them. */
} self = {.listenfd = -1};

/* Cut the next word off ${s}; NULL at the end. */
static char *
word(char **s)
{

	return (strtok_r(NULL, " ", s));
}

/* What a program that was this process before has left, if one was. */
static void
inherit(void)
{
	const char *env = getenv(HEIR);
	uint64_t pid, fd;
	char *s, *rest;

	if (env == NULL)
		return;
	s = strdup(env);
	(void)unsetenv(HEIR);
	if (s == NULL || num_u64(strtok_r(s, " ", &rest), 1, INT_MAX, &pid) ||
	    pid != (uint64_t)getpid() ||
	    num_u64(word(&rest), 0, INT_MAX, &fd)) {
		free(s);
		return;
	}
	self.listenfd = (int)fd;
	if (fd > STDERR_FILENO)
		(void)fcntl(self.listenfd, F_SETFD, FD_CLOEXEC);
	self.children = strdup(rest != NULL ? rest : "");
	free(s);
}

void
upgrade_begin(char *const *argv)
{
	ssize_t n = readlink(SELF, self.path, sizeof(self.path) - 1);

	inherit();
	if (n <= 0 || stat(SELF, &self.st))
		return;
	self.path[n] = '\0';
	self.argv = argv;
}

int
upgrade_listener(void)
{

	return (self.listenfd);
}

size_t
upgrade_children(struct upgrade_child *child, size_t max)
{
	char *s, *rest = NULL, *colon;
	uint64_t pid;
	size_t n = 0;

	if (self.children == NULL)
		return (0);
	for (s = strtok_r(self.children, " ", &rest); s != NULL && n < max;
	     s = word(&rest)) {
		if ((colon = strchr(s, ':')) == NULL)
			continue;
		*colon = '\0';
		if (num_u64(s, 1, INT_MAX, &pid) ||
		    num_u64(colon + 1, 0, UINT64_MAX, &child[n].until))
			continue;
		child[n++].pid = (pid_t)pid;
	}
	free(self.children);
	self.children = NULL;
	return (n);
}

int
upgrade_due(void)
{
	struct stat st;

	return (self.argv != NULL && stat(self.path, &st) == 0 &&
	    (st.st_dev != self.st.st_dev || st.st_ino != self.st.st_ino));
}

/* In a child: run "ARGUMENTS -t", saying what it says to ${fd}. */
static _Noreturn void
run_test(int fd)
{
	char *argv[WORDS_MAX + 2];
	sigset_t none;
	size_t n;

	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	for (n = 0; n < WORDS_MAX && self.argv[n] != NULL; n++)
		argv[n] = self.argv[n];
	argv[n] = strdup("-t");
	argv[n + 1] = NULL;
	if (argv[n] != NULL && dup2(fd, STDERR_FILENO) != -1 &&
	    dup2(fd, STDOUT_FILENO) != -1)
		(void)execv(self.path, argv);
	_exit(127);
}

/* Read from ${fd} until its end or the time ${until}.  -1: it was too long. */
static int
listen_to(int fd, uint64_t until, struct buf *said)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	char some[1024];
	uint64_t now;
	ssize_t n;

	while ((now = clock_ms()) < until) {
		if (poll(&p, 1, (int)(until - now)) <= 0)
			continue;
		if ((n = read(fd, some, sizeof(some))) == 0)
			return (0);
		if (n > 0 && said->len + (size_t)n < SAID_MAX)
			(void)buf_put(said, some, (size_t)n);
	}
	return (-1);
}

/* Each line becomes a line of the log, unless it is one: then standard error is
 * the log. */
static void
log_said(struct buf *said)
{
	char *s, *rest = NULL;

	if (said->len == 0 || buf_puts(said, ""))
		return;
	for (s = strtok_r(said->p, "\n", &rest); s != NULL;
	     s = strtok_r(NULL, "\n", &rest)) {
		if (*s == '{')
			(void)dprintf(STDERR_FILENO, "%s\n", s);
		else
			log_err("%s says: %s", self.path, s);
	}
}

int
upgrade_try(void)
{
	struct buf said = BUF_INIT(SAID_MAX + 1);
	int fd[2], status = -1, late;
	pid_t pid;

	if (pipe2(fd, O_CLOEXEC)) {
		log_err("upgrade: pipe: %s", strerror(errno));
		return (-1);
	}
	if ((pid = fork()) == 0)
		run_test(fd[1]);
	close(fd[1]);
	late = pid == -1 || listen_to(fd[0], clock_ms() + TRY_MS, &said);
	close(fd[0]);
	if (pid != -1) {
		if (late)
			(void)kill(pid, SIGKILL);
		while (waitpid(pid, &status, 0) == -1 && errno == EINTR)
			continue;
	}
	if (status != 0) {
		log_said(&said);
		log_err("upgrade: %s -t failed%s", self.path,
		    late ? ": it took too long" : "");
	}
	buf_free(&said);
	return (status == 0 ? 0 : -1);
}

int
upgrade_exec(int fd, const struct upgrade_child *child, size_t n)
{
	struct buf b = BUF_INIT(HEIR_MAX);

	(void)buf_printf(&b, "%ld %d", (long)getpid(), fd);
	for (size_t i = 0; i < n; i++)
		(void)buf_printf(
		    &b, " %ld:%" PRIu64, (long)child[i].pid, child[i].until);
	if (!buf_ok(&b) || setenv(HEIR, b.p, 1)) {
		log_err("upgrade: out of memory");
		buf_free(&b);
		return (-1);
	}
	buf_free(&b);
	log_info("upgrade: becoming the %s that is installed", self.path);
	(void)fcntl(fd, F_SETFD, 0);
	(void)execv(self.path, self.argv);
	log_err("upgrade: %s: %s", self.path, strerror(errno));
	(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
	(void)unsetenv(HEIR);
	return (-1);
}
