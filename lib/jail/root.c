#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "jail/ns.h"
#include "jail/root.h"

#define QUIET (MS_NOSUID | MS_NODEV)

/* Where the new root may be put together, out of sight of everybody else. */
static const char *const bases[] = {"/tmp", "/run", "/mnt", NULL};

/* clang-format off */
const struct root_dir root_dirs[] = {
	{ "usr", 0755 }, { "proc", 0755 }, { "dev", 0755 }, { "dev/shm", 0755 },
	{ "etc", 0755 }, { "tmp", 0755 }, { "mnt", 0755 },
	{ "mnt/data", 0755 }, { "var", 0755 }, { "run", 0755 },
	{ NULL, 0 }
};

const struct root_link root_links[] = {
	{ "bin", "usr/bin" }, { "sbin", "usr/sbin" }, { "lib", "usr/lib" },
	{ "lib64", "usr/lib64" }, { "lib32", "usr/lib32" },
	{ "var/tmp", "/tmp" },
	{ "dev/fd", "/proc/self/fd" }, { "dev/stdin", "/proc/self/fd/0" },
	{ "dev/stdout", "/proc/self/fd/1" },
	{ "dev/stderr", "/proc/self/fd/2" },
	{ "etc/localtime", "/usr/share/zoneinfo/Etc/UTC" },
	{ NULL, NULL }
};

/* What of /etc is ours to say. */
const struct root_text root_texts[] = {
	{ "etc/passwd", "sandbox:x:1000:1000:sandbox:/mnt/data:/bin/bash\n" },
	{ "etc/group", "sandbox:x:1000:\n" },
	{ "etc/hosts", "127.0.0.1 localhost\n" },
	{ "etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n" },
	{ NULL, NULL }
};

/*
 * numpy finds its BLAS through /etc/alternatives, a plot needs to find its
 * fonts, and some languages their settings.  What is read from full is what is
 * read from zero, whose mappings are shared memory that nobody can count.
 */
const struct root_lent root_lent[] = {
	{ "/usr", "usr", LEND_TREE, 1 },
	{ "/opt", "opt", LEND_ADDED, 0 }, /* The machine's stays its own. */
	{ "/etc/ld.so.cache", "etc/ld.so.cache", LEND_FILE, 0 },
	{ "/etc/alternatives", "etc/alternatives", LEND_TREE, 0 },
	{ "/etc/fonts", "etc/fonts", LEND_TREE, 0 },
	{ "/etc/matplotlibrc", "etc/matplotlibrc", LEND_FILE, 0 },
	{ "/etc/mime.types", "etc/mime.types", LEND_FILE, 0 },
	{ "/etc/java-17-openjdk", "etc/java-17-openjdk", LEND_TREE, 0 },
	{ "/etc/php", "etc/php", LEND_TREE, 0 },
	{ "/etc/R", "etc/R", LEND_TREE, 0 },
	{ "/dev/null", "dev/null", LEND_DEVICE, 1 },
	{ "/dev/full", "dev/zero", LEND_DEVICE, 1 },
	{ "/dev/full", "dev/full", LEND_DEVICE, 1 },
	{ "/dev/random", "dev/random", LEND_DEVICE, 1 },
	{ "/dev/urandom", "dev/urandom", LEND_DEVICE, 1 },
	{ NULL, NULL, 0, 0 }
};

const char *const root_covered[] = { "usr/local/etc", "usr/src", NULL };
/* clang-format on */

/* A bind of all that is mounted below ${from} too, every part of it so. */
static int
lend(const char *from, const char *to, enum lend kind)
{
	struct mount_attr a = {.attr_set = MOUNT_ATTR_RDONLY |
		MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV};

	if (kind == LEND_DEVICE)
		a.attr_set = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC;
	if (mount(from, to, NULL, MS_BIND | MS_REC, NULL))
		return (-1);
	return ((int)syscall(
	    SYS_mount_setattr, AT_FDCWD, to, AT_RECURSIVE, &a, sizeof(a)));
}

static int
touch(const char *path, const char *text)
{
	size_t len = strlen(text);
	int fd, rc = 0;

	if ((fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644)) ==
	    -1)
		return (-1);
	if (write(fd, text, len) != (ssize_t)len)
		rc = -1;
	(void)close(fd);
	return (rc);
}

/* Lend one thing of the root ${rootfs}. */
static int
lend_one(const struct root_lent *l, const char *rootfs)
{
	char from[2 * LIMITS_PATH];

	(void)snprintf(from, sizeof(from), "%s%s",
	    l->kind == LEND_DEVICE ? "" : rootfs, l->from);
	if (l->kind == LEND_ADDED && *rootfs == '\0')
		return (0);
	if (access(from, F_OK))
		return (l->needed ? -1 : 0);
	if (l->kind == LEND_TREE || l->kind == LEND_ADDED
		? mkdir(l->to, 0755) && errno != EEXIST
		: touch(l->to, ""))
		return (-1);
	return (lend(from, l->to, l->kind));
}

static int
lend_all(const char *rootfs, struct ns_fail *f)
{
	size_t i;

	for (i = 0; root_lent[i].from != NULL; i++)
		if (lend_one(&root_lent[i], rootfs))
			return (ns_failed(f, root_lent[i].from));
	for (i = 0; root_covered[i] != NULL; i++)
		if (access(root_covered[i], F_OK) == 0 &&
		    mount("tmpfs", root_covered[i], "tmpfs", QUIET | MS_RDONLY,
			"size=4k,nr_inodes=1,mode=755"))
			return (ns_failed(f, root_covered[i]));
	return (0);
}

static int
make_tree(struct ns_fail *f)
{
	size_t i;

	for (i = 0; root_dirs[i].path != NULL; i++)
		if (mkdir(root_dirs[i].path, root_dirs[i].mode))
			return (ns_failed(f, root_dirs[i].path));
	for (i = 0; root_links[i].path != NULL; i++)
		if (symlink(root_links[i].to, root_links[i].path))
			return (ns_failed(f, root_links[i].path));
	for (i = 0; root_texts[i].path != NULL; i++)
		if (touch(root_texts[i].path, root_texts[i].text))
			return (ns_failed(f, root_texts[i].path));
	return (0);
}

static int
memory_fs(const char *path, unsigned long flags, uint64_t bytes,
    uint64_t inodes, unsigned int mode)
{
	char opt[96];

	(void)snprintf(opt, sizeof(opt),
	    "size=%" PRIu64 ",nr_inodes=%" PRIu64 ",mode=%o", bytes, inodes,
	    mode);
	return (mount("tmpfs", path, "tmpfs", QUIET | flags, opt));
}

/* A new /proc, read-only; ${proc} becomes one that can be written to. */
static int
mount_proc(int *proc, struct ns_fail *f)
{

	if (mount("proc", "proc", "proc", QUIET | MS_NOEXEC, "subset=pid"))
		return (ns_failed(f, "proc"));
	*proc = (int)syscall(SYS_open_tree, AT_FDCWD, "proc",
	    OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	if (*proc == -1)
		return (ns_failed(f, "open_tree"));
	if (mount("none", "proc", NULL,
		MS_BIND | MS_REMOUNT | MS_RDONLY | QUIET | MS_NOEXEC, NULL))
		return (ns_failed(f, "read-only proc"));
	return (0);
}

static int
mount_own(const struct limits *l, int *proc, struct ns_fail *f)
{

	if (mount_proc(proc, f))
		return (-1);
	if (memory_fs("dev/shm", MS_NOEXEC, LIMIT_SHM, 1024, 01777))
		return (ns_failed(f, "dev/shm"));
	if (memory_fs("tmp", 0, LIMIT_TMP, 4096, 01777))
		return (ns_failed(f, "tmp"));
	if (memory_fs("mnt/data", 0, l->workspace, limits_inodes(l), 0700))
		return (ns_failed(f, "workspace"));
	return (0);
}

/* Make the tree below the working directory read-only but for what is in it. */
static int
harden(struct ns_fail *f)
{

	if (mount("none", ".", NULL, MS_BIND | MS_REMOUNT | MS_RDONLY | QUIET,
		NULL))
		return (ns_failed(f, "read-only root"));
	return (0);
}

/* A copy of that tree that is mounted nowhere. */
static int
copy_tree(struct ns_fail *f)
{
	int fd;

	fd = (int)syscall(SYS_open_tree, AT_FDCWD, ".",
	    OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
	if (fd == -1)
		(void)ns_failed(f, "open_tree");
	return (fd);
}

/*
 * Go to live in the copy ${fd}, and close that.  What /proc says of mounts,
 * with the machine's devices and paths in it, is what can be reached from the
 * root of a process, and that is nothing.
 */
static int
settle(int fd, struct ns_fail *f)
{
	int rc = 0;

	if (fchdir(fd) || chroot(".") || chdir(NS_WORKSPACE))
		rc = ns_failed(f, "chroot");
	(void)close(fd);
	return (rc);
}

/* Make the directory that we are in, a mount, the root, and the old one go. */
static int
pivot(struct ns_fail *f)
{

	if (syscall(SYS_pivot_root, ".", "."))
		return (ns_failed(f, "pivot_root"));
	if (umount2(".", MNT_DETACH))
		return (ns_failed(f, "detach old root"));
	return (0);
}

/* Live in a copy of the tree below the working directory, the only one left. */
static int
enter(const char *base, struct ns_fail *f)
{
	int fd;

	if (harden(f) || (fd = copy_tree(f)) == -1)
		return (-1);
	if (chdir("/") || umount2(base, MNT_DETACH) ||
	    memory_fs(base, MS_RDONLY, 4096, 1, 0) || chdir(base))
		(void)ns_failed(f, "empty root");
	else if (pivot(f) == 0)
		return (settle(fd, f));
	(void)close(fd);
	return (-1);
}

/* The first base that does not hide ${rootfs}. */
static const char *
find_base(const char *rootfs)
{
	struct stat st;
	size_t i, len;

	for (i = 0; bases[i] != NULL; i++) {
		len = strlen(bases[i]);
		if (lstat(bases[i], &st) == 0 && S_ISDIR(st.st_mode) &&
		    (strncmp(rootfs, bases[i], len) != 0 || rootfs[len] != '/'))
			return (bases[i]);
	}
	errno = ENOENT;
	return (NULL);
}

/* Put together in the working directory, ${base}, what all sessions share. */
static int
share(const struct limits *l, const char **base, struct ns_fail *f)
{

	(void)umask(022);
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return (ns_failed(f, "private mounts"));
	if ((*base = find_base(l->rootfs)) == NULL ||
	    memory_fs(*base, 0, 1U << 20, 128, 0755) || chdir(*base))
		return (ns_failed(f, "root"));
	return (make_tree(f) || lend_all(l->rootfs, f) ? -1 : 0);
}

int
ns_root(const struct limits *l, int *proc, struct ns_fail *f)
{
	const char *base;

	if (share(l, &base, f) || mount_own(l, proc, f))
		return (-1);
	return (enter(base, f));
}

int
ns_stage(const struct limits *l, struct ns_fail *f)
{
	const char *base;

	if (share(l, &base, f))
		return (-1);

	/* Who has none may not mount its own; sessions mount theirs over it. */
	if (mount("/proc", "proc", NULL, MS_BIND | MS_REC, NULL))
		return (ns_failed(f, "proc"));
	if (memory_fs("tmp", MS_NOEXEC, 64U << 20, 4096, 0700))
		return (ns_failed(f, "tmp"));
	return (harden(f) || pivot(f) ? -1 : 0);
}

int
ns_staged(const struct limits *l, int *proc, struct ns_fail *f)
{
	int fd;

	if (chdir("/"))
		return (ns_failed(f, "root"));
	if (mount_own(l, proc, f) || (fd = copy_tree(f)) == -1)
		return (-1);
	return (settle(fd, f));
}
