#include <sys/wait.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "jail/cause.h"
#include "jail/cgroup.h"
#include "jail/filter.h"
#include "jail/ns.h"
#include "jail/probe.h"

/* What a child says of the first step that was refused, if any was. */
struct refusal {
	int err; /* errno */
	char step[64];
};

static _Noreturn void
tell(int fd, const struct ns_fail *f)
{
	struct refusal r = {.err = f->err};

	(void)snprintf(r.step, sizeof(r.step), "%s", f->step);
	_exit(write(fd, &r, sizeof(r)) == (ssize_t)sizeof(r) ? 0 : 1);
}

static _Noreturn void
tell_step(int fd, const char *step)
{
	const struct ns_fail f = {.step = step, .err = errno};

	tell(fd, &f);
}

/* What the first process of a session goes through. */
static _Noreturn void
inner(const struct limits *l, int fd)
{
	struct ns_fail f = {0};
	int group;

	if (cgroup_enter(l, &group, &f) || ns_root(l, &f))
		tell(fd, &f);
	if (filter_drop())
		tell_step(fd, "capabilities");
	if (limits_apply(l))
		tell_step(fd, "limits");
	if (filter_load())
		tell_step(fd, "seccomp");
	_exit(0);
}

static _Noreturn void
outer(const struct limits *l, int fd)
{
	struct ns_fail f = {0};
	int status = 1;
	pid_t pid;

	if (ns_unshare(&f))
		tell(fd, &f);
	if ((pid = fork()) == -1)
		tell_step(fd, "fork");
	if (pid == 0)
		inner(l, fd);
	while (waitpid(pid, &status, 0) == -1 && errno == EINTR)
		;
	_exit(status == 0 ? 0 : 1);
}

/* Say what ${r} is and where it comes from. */
static void
explain(const struct refusal *r, struct buf *said, struct buf *remedy)
{
	const struct ns_fail f = {.step = r->step, .err = r->err};
	const char *name = strerrorname_np(r->err);

	buf_printf(said, "%s: %s (%s): ", r->step, strerror(r->err),
	    name == NULL ? "?" : name);

	/* The processes in between share our filter, profile and mounts. */
	cause_of(&f, said, remedy);
}

int
probe_level(const struct limits *l, struct buf *said, struct buf *remedy)
{
	struct refusal r = {0};
	int fd[2], status = 1;
	ssize_t n;
	pid_t pid;

	if (pipe(fd) || (pid = fork()) == -1) {
		buf_printf(said, "cannot try: %s", strerror(errno));
		return (-1);
	}
	if (pid == 0)
		outer(l, fd[1]);
	(void)close(fd[1]);
	while ((n = read(fd[0], &r, sizeof(r))) == -1 && errno == EINTR)
		;
	(void)close(fd[0]);
	while (waitpid(pid, &status, 0) == -1 && errno == EINTR)
		;
	r.step[sizeof(r.step) - 1] = '\0';
	if (n == (ssize_t)sizeof(r)) {
		explain(&r, said, remedy);
		return (-1);
	}
	if (n != 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		buf_puts(said, "it ended without a word");
		return (-1);
	}
	buf_puts(said, limits_isolation(l));
	return (0);
}
