#include <sys/mount.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "jail/ns.h"
#include "jail/users.h"

/* The one user and group inside. */
#define INSIDE 1000U

/* The namespaces besides that of users. */
#define OTHERS                                                      \
	(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | \
	    CLONE_NEWCGROUP | CLONE_NEWNET)

int
ns_failed(struct ns_fail *f, const char *step)
{

	f->step = step;
	f->err = errno;
	return (-1);
}

int
ns_write(int dir, const char *path, const char *text)
{
	ssize_t n;
	int fd, err;

	if ((fd = openat(dir, path, O_WRONLY | O_CLOEXEC)) == -1)
		return (-1);
	n = write(fd, text, strlen(text));
	err = errno;
	(void)close(fd);
	errno = err;
	return (n == (ssize_t)strlen(text) ? 0 : -1);
}

static int
put_map(const char *path, unsigned int inside, unsigned int outside)
{
	char line[64];

	(void)snprintf(line, sizeof(line), "%u %u 1\n", inside, outside);
	return (ns_write(AT_FDCWD, path, line));
}

/* The users of our new namespace: one, the ${uid} and ${gid} of before. */
static int
put_maps(unsigned int uid, unsigned int gid, unsigned int inside_uid,
    unsigned int inside_gid, struct ns_fail *f)
{

	if (ns_write(AT_FDCWD, "/proc/self/setgroups", "deny"))
		return (ns_failed(f, "setgroups"));
	if (put_map("/proc/self/uid_map", inside_uid, uid))
		return (ns_failed(f, "uid map"));
	if (put_map("/proc/self/gid_map", inside_gid, gid))
		return (ns_failed(f, "gid map"));
	return (0);
}

/* None of its own may be made inside, whatever the filter misses. */
static int
forbid_more(struct ns_fail *f)
{

	if (ns_write(AT_FDCWD, "/proc/sys/user/max_user_namespaces", "0"))
		return (ns_failed(f, "user.max_user_namespaces"));
	return (0);
}

static int
put_name(struct ns_fail *f)
{

	return (sethostname("sandbox", 7) ? ns_failed(f, "sethostname") : 0);
}

int
ns_unshare(struct ns_fail *f)
{
	unsigned int uid = geteuid(), gid = getegid();

	/* Alone first: it is the one that machines refuse, each in its way. */
	if (unshare(CLONE_NEWUSER))
		return (ns_failed(f, "unshare user"));
	if (put_maps(uid, gid, INSIDE, INSIDE, f) || forbid_more(f))
		return (-1);
	if (unshare(OTHERS))
		return (ns_failed(f, "unshare"));
	return (put_name(f));
}

/*
 * In the parent: give the child ${pid} its user and the file ${lock}, and tell
 * it so.
 */
static int
provide(pid_t pid, int lock, int tell, struct ns_fail *f)
{

	if (users_map(pid, INSIDE, f))
		return (-1);
	if (users_give(lock, pid))
		return (ns_failed(f, "lock"));
	return (write(tell, "", 1) == 1 ? 0 : ns_failed(f, "users"));
}

/* In the child: wait for that. */
static int
await_user(int told, struct ns_fail *f)
{
	char byte;

	errno = EPERM;
	return (read(told, &byte, 1) == 1 ? 0 : ns_failed(f, "users"));
}

/* The part of ns_clone() that parent and child do after it, ${pid} says who. */
static int
furnish(pid_t pid, int lock, const int pipe[static 2], struct ns_fail *f)
{
	int rc;

	if (pid > 0) {
		(void)close(pipe[0]);
		rc = provide(pid, lock, pipe[1], f);
		(void)close(pipe[1]);
		return (rc);
	}
	(void)close(pipe[1]);
	rc = await_user(pipe[0], f);
	(void)close(pipe[0]);
	return (rc);
}

int
ns_clone(pid_t *pid, int lock, struct ns_fail *f)
{
	unsigned int uid = geteuid(), gid = getegid();
	int several = users_here(), pipe[2];

	if (several && pipe2(pipe, O_CLOEXEC))
		return (ns_failed(f, "pipe"));
	*pid = (pid_t)syscall(
	    SYS_clone, CLONE_NEWUSER | OTHERS | SIGCHLD, NULL, NULL, NULL, 0);
	if (*pid == -1) {
		(void)ns_failed(f, "clone");
		if (several) {
			(void)close(pipe[0]);
			(void)close(pipe[1]);
		}
		return (-1);
	}
	if (several && furnish(*pid, lock, pipe, f))
		return (-1);
	if (*pid > 0)
		return (0);
	if ((!several && put_maps(uid, gid, INSIDE, INSIDE, f)) ||
	    forbid_more(f))
		return (-1);
	return (put_name(f));
}

int
ns_settle(struct ns_fail *f)
{

	if (geteuid() == INSIDE)
		return (0);
	if (setgroups(0, NULL) || setresgid(INSIDE, INSIDE, INSIDE) ||
	    setresuid(INSIDE, INSIDE, INSIDE))
		return (ns_failed(f, "users"));
	return (0);
}

/* Lay ${rootfs}'s ${path}, if it has that, over our own. */
static int
lay(const char *rootfs, const char *path)
{
	char from[2 * LIMITS_PATH];

	(void)snprintf(from, sizeof(from), "%s%s", rootfs, path);
	if (access(from, F_OK) || access(path, F_OK))
		return (0);
	return (mount(from, path, NULL, MS_BIND | MS_REC, NULL));
}

int
ns_stages(const struct limits *l)
{

	return (l->isolation == ISOLATION_NAMESPACES);
}

int
ns_zygote(const struct limits *l, struct ns_fail *f)
{
	unsigned int uid = geteuid(), gid = getegid();

	if (unshare(users_here() ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS))
		return (ns_failed(f, "unshare user"));
	if (!users_here() && put_maps(uid, gid, uid, gid, f))
		return (-1);
	if (users_inherit(f))
		return (-1);
	if (ns_stages(l))
		return (ns_stage(l, f));
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return (ns_failed(f, "private mounts"));
	if (*l->rootfs != '\0' &&
	    (lay(l->rootfs, "/usr") || lay(l->rootfs, "/etc/alternatives")))
		return (ns_failed(f, "sandbox.rootfs"));
	if (mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		"size=64m,mode=700"))
		return (ns_failed(f, "tmp"));
	return (0);
}
