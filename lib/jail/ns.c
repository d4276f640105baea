#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "jail/ns.h"

/* The one user and group inside. */
#define INSIDE 1000U

static int
put_file(const char *path, const char *text)
{
	ssize_t n;
	int fd, err;

	if ((fd = open(path, O_WRONLY | O_CLOEXEC)) == -1)
		return (-1);
	n = write(fd, text, strlen(text));
	err = errno;
	(void)close(fd);
	errno = err;
	return (n == (ssize_t)strlen(text) ? 0 : -1);
}

static int
put_map(const char *path, unsigned int outside)
{
	char line[64];

	(void)snprintf(line, sizeof(line), "%u %u 1\n", INSIDE, outside);
	return (put_file(path, line));
}

static int
fail(struct ns_fail *f, const char *step)
{

	f->step = step;
	f->err = errno;
	return (-1);
}

int
ns_unshare(struct ns_fail *f)
{
	unsigned int uid = geteuid(), gid = getegid();

	/* Alone first: it is the one that machines refuse, each in its way. */
	if (unshare(CLONE_NEWUSER))
		return (fail(f, "unshare user"));
	if (put_file("/proc/self/setgroups", "deny"))
		return (fail(f, "setgroups"));
	if (put_map("/proc/self/uid_map", uid))
		return (fail(f, "uid map"));
	if (put_map("/proc/self/gid_map", gid))
		return (fail(f, "gid map"));

	/* None of its own may be made inside, whatever the filter misses. */
	if (put_file("/proc/sys/user/max_user_namespaces", "0"))
		return (fail(f, "user.max_user_namespaces"));
	if (unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS |
		CLONE_NEWCGROUP | CLONE_NEWNET))
		return (fail(f, "unshare"));
	if (sethostname("sandbox", 7))
		return (fail(f, "sethostname"));
	return (0);
}
