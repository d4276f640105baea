#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/capability.h>
#include <linux/nsfs.h>

#include "base/num.h"

#include "jail/users.h"

/*
 * What root takes: above all that is given to people, containers and domains
 * of other systems, and as many as Linux has numbers for processes.
 */
#define ROOT_FIRST 0x7f000000U
#define ROOT_COUNT 0x400000U

#define NEEDED ((1U << CAP_SETUID) | (1U << CAP_SETGID) | (1U << CAP_CHOWN))
#define LINE 256

/* Ids ${first} to ${first} + ${count} - 1. */
struct range {
	unsigned int first, count;
};

static int held = -1;

int
users_held(void)
{

	return (held);
}

int
users_apart(const struct limits *l)
{

	return (held != -1 && l->isolation != ISOLATION_LANDLOCK);
}

/* The capabilities that the calling process makes use of. */
static uint32_t
capabilities(void)
{
	struct __user_cap_header_struct h = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct d[2];

	return (syscall(SYS_capget, &h, d) ? 0 : d[0].effective);
}

/* Is ${line}, "NAME:FIRST:COUNT", for the user ${uid}, called ${name}? */
static int
read_entry(char *line, uid_t uid, const char *name, struct range *r)
{
	const char *who = strsep(&line, ":"), *first = strsep(&line, ":");
	uint64_t id, n, count;

	if (line == NULL ||
	    !((name != NULL && strcmp(who, name) == 0) ||
		(num_u64(who, 0, UINT32_MAX, &id) == 0 && id == uid)))
		return (0);
	line[strcspn(line, "\n")] = '\0';
	if (num_u64(first, 1, INT32_MAX, &n) ||
	    num_u64(line, 1, UINT32_MAX, &count))
		return (0);
	r->first = (unsigned int)n;
	r->count = (unsigned int)(count > ROOT_COUNT ? ROOT_COUNT : count);
	return (1);
}

/* The range that the file ${path} gives to the user ${uid}. */
static int
find_entry(const char *path, uid_t uid, struct range *r)
{
	const struct passwd *pw = getpwuid(uid);
	char line[LINE];
	int found = 0;
	FILE *f;

	if ((f = fopen(path, "re")) == NULL)
		return (0);
	while (!found && fgets(line, sizeof(line), f) != NULL)
		found =
		    read_entry(line, uid, pw == NULL ? NULL : pw->pw_name, r);
	(void)fclose(f);
	return (found);
}

/* Write to /proc/${pid}/${file}. */
static int
put(pid_t pid, const char *file, const char *text)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	return (ns_write(AT_FDCWD, path, text));
}

/* Have ${id} as itself and the range ${r} in the namespace of ${pid}. */
static int
map_range(pid_t pid, const char *file, unsigned int id, const struct range *r)
{
	char text[LINE];

	(void)snprintf(text, sizeof(text), "%u %u 1\n%u %u %u\n", id, id,
	    r->first, r->first, r->count);
	return (put(pid, file, text));
}

/* As map_range(), by the ${program} that is allowed to do so for anybody. */
static int
ask_for(const char *program, pid_t pid, unsigned int id, const struct range *r)
{
	char pids[16], own[16], first[16], count[16];
	char *argv[] = {(char *)(uintptr_t)program, pids, own, own,
	    (char[]){"1"}, first, first, count, NULL};
	char *env[] = {NULL};
	int status = 1;
	pid_t asker;

	(void)snprintf(pids, sizeof(pids), "%d", (int)pid);
	(void)snprintf(own, sizeof(own), "%u", id);
	(void)snprintf(first, sizeof(first), "%u", r->first);
	(void)snprintf(count, sizeof(count), "%u", r->count);
	if ((asker = fork()) == 0) {
		(void)close(2);
		(void)open("/dev/null", O_WRONLY);
		(void)execve(program, argv, env);
		_exit(127);
	}
	while (asker > 0 && waitpid(asker, &status, 0) == -1 && errno == EINTR)
		;
	return (asker > 0 && status == 0 ? 0 : -1);
}

/* In a child of its own: have the namespace, until we are ended. */
static _Noreturn void
hold(uid_t uid, gid_t gid, int tell)
{

	if (geteuid() != uid &&
	    (setgroups(0, NULL) || setresgid(gid, gid, gid) ||
		setresuid(uid, uid, uid)))
		_exit(1);
	if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) ||
	    unshare(CLONE_NEWUSER) || write(tell, "", 1) != 1)
		_exit(1);
	for (;;)
		(void)pause();
}

/* Give the namespace of ${pid} the ranges, and open it. */
static int
furnish(pid_t pid, uid_t uid, gid_t gid, const struct range r[static 2])
{
	char path[64];

	if ((map_range(pid, "uid_map", uid, &r[0]) &&
		ask_for("/usr/bin/newuidmap", pid, uid, &r[0])) ||
	    (map_range(pid, "gid_map", gid, &r[1]) &&
		ask_for("/usr/bin/newgidmap", pid, gid, &r[1])))
		return (-1);
	(void)snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)pid);
	return (open(path, O_RDONLY | O_CLOEXEC));
}

void
users_take(uid_t uid, gid_t gid)
{
	struct range r[2];
	int tell[2];
	pid_t pid;
	char byte;

	if (!find_entry("/etc/subuid", uid, &r[0]) ||
	    !find_entry("/etc/subgid", uid, &r[1])) {
		if (!(capabilities() & (1U << CAP_SETUID)))
			return;
		r[0].first = r[1].first = ROOT_FIRST;
		r[0].count = r[1].count = ROOT_COUNT;
	}
	if (pipe2(tell, O_CLOEXEC))
		return;
	if ((pid = fork()) == 0)
		hold(uid, gid, tell[1]);
	(void)close(tell[1]);
	if (pid > 0) {
		if (read(tell[0], &byte, 1) == 1)
			held = furnish(pid, uid, gid, r);
		(void)kill(pid, SIGKILL);
		while (waitpid(pid, NULL, 0) == -1 && errno == EINTR)
			;
	}
	(void)close(tell[0]);
}

int
users_enter(int fd, struct ns_fail *f)
{

	if (fd == -1 || ioctl(fd, NS_GET_NSTYPE) != CLONE_NEWUSER)
		return (0);
	return (setns(fd, CLONE_NEWUSER) ? ns_failed(f, "users") : 0);
}

/* Read the range of a namespace that users_take() has made from ${path}. */
static int
read_range(const char *path, unsigned int id, struct range *r)
{
	unsigned int own, as, one, as_first;
	int found;
	FILE *f;

	if ((f = fopen(path, "re")) == NULL)
		return (0);
	found = fscanf(f, "%u %u %u %u %u %u", &own, &as, &one, &r->first,
		    &as_first, &r->count) == 6 &&
	    own == id && as == id && one == 1 && r->first == as_first;
	(void)fclose(f);
	return (found);
}

/* The ranges of the namespace that we are in, if they are ours to give. */
static int
ranges(struct range r[static 2])
{

	return ((capabilities() & NEEDED) == NEEDED &&
	    read_range("/proc/self/uid_map", geteuid(), &r[0]) &&
	    read_range("/proc/self/gid_map", getegid(), &r[1]));
}

int
users_here(void)
{
	struct range r[2];

	return (ranges(r));
}

int
users_inherit(struct ns_fail *f)
{
	struct __user_cap_header_struct h = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct d[2];
	unsigned long cap;

	if (!users_here())
		return (0);
	if (syscall(SYS_capget, &h, d))
		return (ns_failed(f, "users"));
	d[0].inheritable |= NEEDED;
	if (syscall(SYS_capset, &h, d))
		return (ns_failed(f, "users"));
	for (cap = 0; cap < 32; cap++)
		if ((NEEDED & (1U << cap)) != 0 &&
		    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0))
			return (ns_failed(f, "users"));
	return (0);
}

/* The one of ${r} that is ${pid}'s. */
static unsigned int
id_of(const struct range *r, pid_t pid)
{

	return (r->first + (unsigned int)pid % r->count);
}

int
users_map(pid_t pid, unsigned int inside, struct ns_fail *f)
{
	static const char *const files[] = {"uid_map", "gid_map"};
	struct range r[2];
	char line[LINE];
	int i;

	if (!ranges(r)) {
		errno = EPERM;
		return (ns_failed(f, "users"));
	}
	for (i = 0; i < 2; i++) {
		(void)snprintf(
		    line, sizeof(line), "%u %u 1\n", inside, id_of(&r[i], pid));
		if (put(pid, files[i], line))
			return (ns_failed(f, i == 0 ? "uid map" : "gid map"));
	}
	return (0);
}

int
users_become(struct ns_fail *f)
{
	struct __user_cap_header_struct h = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct none[2];
	struct range r[2];
	uid_t uid;
	gid_t gid;

	if (!ranges(r))
		return (0);
	uid = id_of(&r[0], getpid());
	gid = id_of(&r[1], getpid());
	memset(none, 0, sizeof(none));
	if (setgroups(0, NULL) || setresgid(gid, gid, gid) ||
	    setresuid(uid, uid, uid) || syscall(SYS_capset, &h, none))
		return (ns_failed(f, "users"));
	return (0);
}

int
users_give(int fd, pid_t pid)
{
	struct range r[2];

	if (!ranges(r))
		return (0);
	return (fchown(fd, id_of(&r[0], pid), id_of(&r[1], pid)));
}
