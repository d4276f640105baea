#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"

#include "jail/bwrap.h"
#include "jail/cause.h"
#include "jail/landlock.h"

/* The number in the file ${path}, or ${none}. */
static uint64_t
number(const char *path, uint64_t none)
{
	char text[32];
	uint64_t n;
	ssize_t len;
	int fd;

	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) == -1)
		return (none);
	len = read(fd, text, sizeof(text) - 1);
	(void)close(fd);
	if (len <= 0)
		return (none);
	text[len] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return (num_u64(text, 0, UINT64_MAX, &n) ? none : n);
}

/* Call ${fn} for each line of ${path} until it returns other than 0. */
static int
each_line(
    const char *path, int (*fn)(const char *, struct buf *), struct buf *b)
{
	char line[4096];
	int found = 0;
	FILE *f;

	if ((f = fopen(path, "re")) == NULL)
		return (0);
	while (!found && fgets(line, sizeof(line), f) != NULL)
		found = fn(line, b);
	(void)fclose(f);
	return (found);
}

/* --- what can be the matter: each says so in ${b} and returns 1 --- */

static int
userns_none(struct buf *b)
{

	if (number("/proc/sys/user/max_user_namespaces", 1) != 0)
		return (0);
	buf_puts(b, "user.max_user_namespaces is 0");
	return (1);
}

static int
userns_used_up(struct buf *b)
{

	buf_printf(b,
	    "user.max_user_namespaces, which is %" PRIu64
	    ", is used up, or namespaces are nested too deep",
	    number("/proc/sys/user/max_user_namespaces", 0));
	return (1);
}

static int
userns_root_only(struct buf *b)
{

	if (number("/proc/sys/kernel/unprivileged_userns_clone", 1) != 0)
		return (0);
	buf_puts(b, "kernel.unprivileged_userns_clone is 0");
	return (1);
}

static int
apparmor_userns(struct buf *b)
{
	static const char path[] =
	    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";

	if (number(path, 0) == 0)
		return (0);
	buf_puts(b, "kernel.apparmor_restrict_unprivileged_userns is 1");
	return (1);
}

static int
is_root_mount(const char *line, struct buf *b)
{
	char at[1024];

	(void)b;
	return (sscanf(line, "%*d %*d %*s %*s %1023s", at) == 1 &&
	    strcmp(at, "/") == 0);
}

static int
chrooted(struct buf *b)
{

	if (access("/proc/self/mountinfo", R_OK) ||
	    each_line("/proc/self/mountinfo", is_root_mount, b))
		return (0);
	buf_puts(b, "this process is in a chroot, where none can be made");
	return (1);
}

static int
is_filter(const char *line, struct buf *b)
{

	(void)b;
	return (strcmp(line, "Seccomp:\t2\n") == 0);
}

static int
filtered(struct buf *b)
{

	if (!each_line("/proc/self/status", is_filter, b))
		return (0);
	buf_puts(b,
	    "a system call filter is in force here, as container runtimes"
	    " set one");
	return (1);
}

static int
is_profile(const char *line, struct buf *b)
{
	size_t len = strcspn(line, "\n");

	if (len == 0 || strncmp(line, "unconfined", 10) == 0)
		return (0);
	buf_puts(b, "the security profile ");
	buf_put(b, line, len);
	buf_puts(b, " is in force here");
	return (1);
}

static int
profiled(struct buf *b)
{

	return (each_line("/proc/self/attr/current", is_profile, b));
}

static int
is_below_proc(const char *line, struct buf *b)
{
	char at[1024];

	if (sscanf(line, "%*d %*d %*s %*s %1023s", at) != 1 ||
	    strncmp(at, "/proc/", 6) != 0)
		return (0);
	buf_printf(
	    b, "parts of /proc are covered by other mounts, such as %s", at);
	return (1);
}

static int
masked(struct buf *b)
{

	return (each_line("/proc/self/mountinfo", is_below_proc, b));
}

static int
unknown(struct buf *b)
{

	buf_puts(b, "a limit or a security module of this machine");
	return (1);
}

static int
old_kernel(struct buf *b)
{

	buf_puts(b, "the kernel is too old, or built without it");
	return (1);
}

static int
sysctl_closed(struct buf *b)
{

	buf_puts(b, "/proc/sys is read-only or covered here");
	return (1);
}

static int
no_swap_root(struct buf *b)
{

	buf_puts(b, "the root is the initial ramfs, which cannot be left");
	return (1);
}

static int
no_bwrap(struct buf *b)
{

	if (access(BWRAP_PROGRAM, X_OK) == 0)
		return (0);
	buf_puts(b, "it is not there");
	return (1);
}

static int
old_rules(struct buf *b)
{
	const char *what;
	int abi = landlock_abi();

	if ((what = landlock_lacks(abi)) == NULL)
		return (0);
	buf_printf(b, "version %d of this kernel cannot confine %s", abi, what);
	return (1);
}

static int
no_root(struct buf *b)
{

	buf_puts(b, "rules alone show no other root than the machine's");
	return (1);
}

static int
not_on(struct buf *b)
{

	buf_puts(b, "it was not switched on when the kernel started");
	return (1);
}

static int
absent(struct buf *b)
{

	buf_puts(b, "it is not there");
	return (1);
}

static int
no_cgroup(struct buf *b)
{

	buf_puts(b,
	    "it is no control group of version 2, nor of version 1 for"
	    " memory");
	return (1);
}

static int
no_memory(struct buf *b)
{

	buf_puts(b, "the memory controller is not handed on to its groups");
	return (1);
}

static int
not_ours(struct buf *b)
{

	buf_puts(b, "it does not belong to this user");
	return (1);
}

static int
not_below(struct buf *b)
{

	buf_puts(b,
	    "this process is in no group below one that belongs to"
	    " this user");
	return (1);
}

#define CGROUP                                                               \
	"give sandbox.cgroup, a directory below /sys/fs/cgroup, to the user" \
	" of satchel-sandbox (satchel-sandbox(8), CONTROL GROUPS)"
#define CONTAINER                                                           \
	"let the container make namespaces and mounts: its seccomp profile" \
	" must allow unshare, clone, mount, umount2, mount_setattr,"        \
	" open_tree, pivot_root, chroot and sethostname"
#define PROFILE                                                          \
	"give satchel-sandbox a security profile that allows namespaces" \
	" and mounts (in a container: apparmor=unconfined)"
#define UNMASK                                                         \
	"give the container an unmasked /proc (docker: --security-opt" \
	" systempaths=unconfined, podman: unmask=ALL, Kubernetes:"     \
	" procMount: Unmasked)"

/*
 * The first row of this step whose error fits and whose cause is there.  A
 * step that begins with "*" stands for all that end so.
 */
/* clang-format off */
static const struct {
	const char *step;
	int err; /* 0: any. */
	int (*is_so)(struct buf *);
	const char *remedy;
} rows[] = {
	{ "unshare user", ENOSPC, userns_none,
	  "sysctl user.max_user_namespaces=15000" },
	{ "unshare user", ENOSPC, userns_used_up,
	  "raise it by sysctl, four for each session" },
	{ "unshare user", EINVAL, old_kernel,
	  "take a kernel with CONFIG_USER_NS" },
	{ "unshare user", ENOSYS, old_kernel,
	  "take a kernel with CONFIG_USER_NS" },
	{ "unshare user", EPERM, userns_root_only,
	  "sysctl kernel.unprivileged_userns_clone=1" },
	{ "unshare user", EPERM, chrooted,
	  "start satchel-sandbox outside of the chroot" },
	{ "unshare user", 0, filtered, CONTAINER },
	{ "unshare user", 0, profiled, PROFILE },
	{ "* map", 0, apparmor_userns,
	  "load an AppArmor profile for satchel-sandbox with the rule"
	  " \"userns,\" rather than to set that to 0" },
	{ "setgroups", 0, apparmor_userns,
	  "load an AppArmor profile for satchel-sandbox with the rule"
	  " \"userns,\" rather than to set that to 0" },
	{ "user.max_user_namespaces", 0, sysctl_closed, UNMASK },
	{ "proc", EPERM, masked, UNMASK },
	{ "pivot_root", EINVAL, no_swap_root,
	  "start the machine with a root filesystem other than the initial"
	  " ramfs" },
	{ "/usr", ENOSYS, old_kernel, "take Linux 5.14 or newer" },
	{ "/usr", ENOENT, absent,
	  "set sandbox.rootfs to a directory that tools/make-rootfs made" },
	{ "open_tree", ENOSYS, old_kernel, "take Linux 5.14 or newer" },
	{ "seccomp", EINVAL, old_kernel,
	  "take a kernel with CONFIG_SECCOMP_FILTER" },
	{ "seccomp", ENOSYS, old_kernel,
	  "take a kernel with CONFIG_SECCOMP_FILTER" },
	{ "landlock ABI", 0, old_rules, "take Linux 6.12 or newer" },
	{ "sandbox.rootfs", EOPNOTSUPP, no_root,
	  "leave sandbox.rootfs out, or have namespaces" },
	{ "landlock", EOPNOTSUPP, not_on,
	  "add landlock to lsm= of the kernel's command line" },
	{ "landlock", ENOSYS, old_kernel,
	  "take a kernel of 6.12 or newer with CONFIG_SECURITY_LANDLOCK" },
	{ "bwrap", 0, no_bwrap, "apt-get install bubblewrap" },
	{ "bwrap exec", 0, absent,
	  "add what satchel-sandbox is linked with to sandbox.rootfs" },
	{ "sandbox.cgroup", ENOENT, absent, CGROUP },
	{ "sandbox.cgroup", 0, not_ours, CGROUP },
	{ "cgroup version", 0, no_cgroup, CGROUP },
	{ "cgroup memory", 0, no_memory,
	  "write +memory to cgroup.subtree_control of sandbox.cgroup and of all"
	  " above it, or Delegate=memory in the unit" },
	{ "cgroup", EACCES, not_ours, CGROUP },
	{ "cgroup limit", EACCES, not_ours, CGROUP },
	{ "cgroup attach", 0, not_below, CGROUP },
	{ "*", EPERM, filtered, CONTAINER },
	{ "*", EACCES, profiled, PROFILE },
	{ "*", EPERM, profiled, PROFILE },
	{ "*", ENOSYS, filtered, CONTAINER },
	{ "*", ENOSYS, old_kernel, "take Linux 5.14 or newer" },
	{ "*", 0, unknown,
	  "see the kernel's log, and satchel-sandbox(8), MACHINES THAT"
	  " REFUSE" },
};
/* clang-format on */

/* Is ${step} what ${row} says? */
static int
matches(const char *row, const char *step)
{
	size_t n = strlen(row), m = strlen(step);

	if (row[0] != '*')
		return (strcmp(row, step) == 0);
	return (m >= n - 1 && strcmp(step + m - (n - 1), row + 1) == 0);
}

void
cause_of(const struct ns_fail *f, struct buf *cause, struct buf *remedy)
{
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!matches(rows[i].step, f->step) ||
		    (rows[i].err != 0 && rows[i].err != f->err) ||
		    !rows[i].is_so(cause))
			continue;
		buf_puts(remedy, rows[i].remedy);
		return;
	}
}
