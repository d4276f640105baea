#include <sys/prctl.h>
#include <sys/wait.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "jail/bwrap.h"
#include "jail/cause.h"
#include "jail/cgroup.h"
#include "jail/filter.h"
#include "jail/landlock.h"
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
	int group, proc;

	if (cgroup_enter(l, &group, &f) || ns_root(l, &proc, &f))
		tell(fd, &f);
	if (filter_drop())
		tell_step(fd, "capabilities");
	if (limits_apply(l, 0))
		tell_step(fd, "limits");
	if (filter_load())
		tell_step(fd, "seccomp");
	_exit(0);
}

/* What the first process of a session without namespaces goes through. */
static _Noreturn void
lone(const struct limits *l, int fd)
{
	static const struct land none = {"/dev/null", "/dev/null"};
	struct ns_fail f = {0};
	int rules;

	if (landlock_can(l, &f) || (rules = landlock_guest(&none, &f)) == -1)
		tell(fd, &f);
	if (filter_drop())
		tell_step(fd, "capabilities");
	if (landlock_enter(rules))
		tell_step(fd, "landlock");
	if (limits_apply(l, 0))
		tell_step(fd, "limits");
	if (filter_lone() == -1 || filter_load())
		tell_step(fd, "seccomp");
	_exit(0);
}

static _Noreturn void
outer(const struct limits *l, int fd)
{
	struct ns_fail f = {0};
	int status = 1;
	pid_t pid;

	/* Whoever was root may not look into /proc at himself, which a program
	 * that has just been started, such as a supervisor, may. */
	if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0))
		tell_step(fd, "dumpable");
	if (l->isolation == ISOLATION_LANDLOCK)
		lone(l, fd);
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

/* All is well: say which level, and what it leaves to us. */
static int
praise(const struct limits *l, struct buf *said)
{
	const char *rest = limits_looked_at(l);

	buf_puts(said, limits_isolation(l));
	if (l->isolation == ISOLATION_LANDLOCK)
		buf_printf(said, " ABI %d", landlock_abi());
	buf_printf(said, "%s%s", *rest == '\0' ? "" : "; ", rest);
	if (l->isolation == ISOLATION_LANDLOCK)
		buf_puts(said, "; " LANDLOCK_WITHOUT);
	return (0);
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

/* What bwrap says when it cannot, and the step that it speaks of. */
/* clang-format off */
static const struct {
	const char *says, *step;
} bwrap_steps[] = {
	{ "namespace", "unshare user" },
	{ "uid map", "uid map" },
	{ "mount proc", "proc" },
	{ "pivot_root", "pivot_root" },
	{ "execvp", "bwrap exec" },
	{ "", "bwrap" }
};
/* clang-format on */

/* In a child: have bwrap make a session.  What it says goes to ${fd}. */
static _Noreturn void
try_bwrap(const struct limits *l, int fd)
{
	char *argv[] = {(char[]){"/usr/bin/true"}, NULL};

	if (dup2(fd, 2) != -1 && close_range(3, ~0U, 0) == 0)
		(void)bwrap_exec(l, -1, argv);
	_exit(1);
}

/* Read what is said on ${fd} until nobody can say more. */
static ssize_t
hear(int fd, char *text, size_t size)
{
	size_t len = 0;
	ssize_t n;

	do {
		n = read(fd, text + len, size - 1 - len);
		if (n > 0)
			len += (size_t)n;
	} while (n > 0 || (n == -1 && errno == EINTR));
	return ((ssize_t)len);
}

/* Have bwrap make a session, and tell its own words if it does not. */
static int
probe_bwrap(const struct limits *l, struct buf *said, struct buf *remedy)
{
	struct ns_fail f = {.step = "bwrap", .err = EPERM};
	char text[512] = BWRAP_PROGRAM;
	ssize_t n = sizeof(BWRAP_PROGRAM) - 1;
	int fd[2], status = 1;
	size_t i;
	pid_t pid;

	if (access(BWRAP_PROGRAM, X_OK) == 0) {
		if (pipe(fd) || (pid = fork()) == -1) {
			buf_printf(said, "cannot try: %s", strerror(errno));
			return (-1);
		}
		if (pid == 0)
			try_bwrap(l, fd[1]);
		(void)close(fd[1]);
		n = hear(fd[0], text, sizeof(text));
		(void)close(fd[0]);
		while (waitpid(pid, &status, 0) == -1 && errno == EINTR)
			;
	}
	if (n == 0 && status == 0)
		return (praise(l, said));
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	for (i = 0; strstr(text, bwrap_steps[i].says) == NULL; i++)
		;
	f.step = bwrap_steps[i].step;
	buf_printf(said, "%s: ", text);
	cause_of(&f, said, remedy);
	return (-1);
}

int
probe_level(const struct limits *l, struct buf *said, struct buf *remedy)
{
	struct refusal r = {0};
	int fd[2], status = 1;
	ssize_t n;
	pid_t pid;

	if (l->isolation == ISOLATION_BWRAP)
		return (probe_bwrap(l, said, remedy));
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
		return (strcmp(r.step, "cgroup attach") == 0 ? 1 : -1);
	}
	if (n != 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		buf_puts(said, "it ended without a word");
		return (-1);
	}
	return (praise(l, said));
}
