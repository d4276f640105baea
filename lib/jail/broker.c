#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <linux/seccomp.h>

#include "jail/broker.h"

/* Younger than some kernel headers we are compiled with. */
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

#define PAGE 4096U
#define MODES 01777U /* filter.c sees to the other ways to the rest. */

/* Whether a call changes modes or times, and which argument is what. */
struct shape {
	int nr, times;
	int dir, path, what, flags; /* -1: there is none. */
};

/* clang-format off */
static const struct shape shapes[] = {
#ifdef SYS_chmod
	{ SYS_chmod, 0, -1, 0, 1, -1 },
#endif
	{ SYS_fchmodat, 0, 0, 1, 2, -1 },
	{ SYS_fchmodat2, 0, 0, 1, 2, 3 },
	{ SYS_utimensat, 1, 0, 1, 2, 3 },
};
/* clang-format on */

/* Read ${len} bytes at ${from} of the process ${pid}, or as many as there are.
 */
static ssize_t
peek(pid_t pid, uint64_t from, void *to, size_t len)
{
	struct iovec here = {to, len}, there[3];
	size_t n, i;

	/* A piece a page: the next one may not be there. */
	for (i = 0; i < 3 && len > 0; i++, from += n, len -= n) {
		n = PAGE - from % PAGE;
		if (n > len)
			n = len;
		there[i].iov_base = (void *)(uintptr_t)from;
		there[i].iov_len = n;
	}
	return (process_vm_readv(pid, &here, 1, there, i, 0));
}

static int
peek_path(pid_t pid, uint64_t from, char path[static PATH_MAX])
{
	ssize_t n;

	if ((n = peek(pid, from, path, PATH_MAX)) == -1)
		return (errno == EPERM ? EPERM : EFAULT);
	if (memchr(path, '\0', (size_t)n) == NULL)
		return (n == PATH_MAX ? ENAMETOOLONG : EFAULT);
	return (0);
}

/* Open what ${path} names to the process, seen from its descriptor ${dir}. */
static int
open_as(pid_t pid, int dir, const char *path, int flags)
{
	char base[64];
	int at, fd;

	if (dir == AT_FDCWD)
		(void)snprintf(base, sizeof(base), "/proc/%d/cwd", (int)pid);
	else
		(void)snprintf(
		    base, sizeof(base), "/proc/%d/fd/%d", (int)pid, dir);
	flags |= O_PATH | O_CLOEXEC;
	if (*path == '/')
		return (open(path, flags));
	if (*path == '\0') {
		errno = ENOENT;
		return (-1);
	}
	if ((at = open(base, O_PATH | O_DIRECTORY | O_CLOEXEC)) == -1)
		return (-1);
	fd = openat(at, path, flags);
	dir = errno;
	(void)close(at);
	errno = dir;
	return (fd);
}

/* Does ${path} lie in the directory ${dir}, or is it that? */
static int
is_in(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return (
	    strncmp(path, dir, n) == 0 && (path[n] == '/' || path[n] == '\0'));
}

/* Write the path that means ${fd} to us to ${link}.  Is it the session's? */
static int
is_ours(int fd, const struct land *land, char link[static 64])
{
	char path[2 * PATH_MAX];
	ssize_t n;

	(void)snprintf(link, 64, "/proc/self/fd/%d", fd);
	if ((n = readlink(link, path, sizeof(path) - 1)) == -1)
		return (0);
	path[n] = '\0';
	return (is_in(path, land->work) || is_in(path, land->tmp));
}

/* Does the process that asks wait yet?  Another may have its number. */
static int
is_waiting(int listener, const struct seccomp_notif *q)
{

	return (ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &q->id) == 0);
}

/* Change the times of ${fd}, as ${from} says. */
static int
set_times(int listener, const struct seccomp_notif *q, uint64_t from, int fd)
{
	struct timespec t[2];

	if (from != 0 &&
	    peek((pid_t)q->pid, from, t, sizeof(t)) != (ssize_t)sizeof(t)) {
		errno = EFAULT;
		return (-1);
	}
	if (!is_waiting(listener, q)) {
		errno = EINTR; /* Whose times those are is not known. */
		return (-1);
	}
	return (utimensat(fd, "", from != 0 ? t : NULL, AT_EMPTY_PATH));
}

/* Do what ${q} asks for; 0 or an errno. */
static int
act(int listener, const struct seccomp_notif *q, const struct shape *s,
    const struct land *land)
{
	const __u64 *arg = q->data.args;
	uint64_t flags = s->flags == -1 ? 0 : (unsigned int)arg[s->flags];
	char path[PATH_MAX], link[64];
	int fd, rc, err;

	if (flags & ~(uint64_t)AT_SYMLINK_NOFOLLOW)
		return (EINVAL);
	if ((err = peek_path((pid_t)q->pid, arg[s->path], path)) != 0)
		return (err);
	fd = open_as((pid_t)q->pid, s->dir == -1 ? AT_FDCWD : (int)arg[s->dir],
	    path, flags ? O_NOFOLLOW : 0);
	if (fd == -1)
		return (errno);
	if (!is_ours(fd, land, link))
		rc = -1, errno = EACCES;
	else if (!is_waiting(listener, q))
		rc = -1, errno = EINTR;
	else if (s->times)
		rc = set_times(listener, q, arg[s->what], fd);
	else
		rc = chmod(link, (mode_t)arg[s->what] & MODES);
	err = rc == 0 ? 0 : errno;
	(void)close(fd);
	return (err);
}

void
broker_serve(int fd, const struct land *land)
{
	struct seccomp_notif_resp r = {.error = -EPERM};
	struct seccomp_notif q;
	size_t i;

	memset(&q, 0, sizeof(q));
	if (ioctl(fd, SECCOMP_IOCTL_NOTIF_RECV, &q))
		return;
	r.id = q.id;
	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		if (shapes[i].nr == q.data.nr)
			r.error = -act(fd, &q, &shapes[i], land);
	(void)ioctl(fd, SECCOMP_IOCTL_NOTIF_SEND, &r);
}
