#include <sys/mman.h>
#include <sys/stat.h>

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jail/bwrap.h"
#include "jail/ns.h"
#include "jail/root.h"
#include "jail/spawn.h"
#include "jail/supervisor.h"
#include "jail/users.h"

#define ARGS_MAX 1024
#define REPORT 5  /* bwrap keeps its own 1 open, which would never end. */
#define PROGRAM 6 /* What it is to run, which is nowhere inside. */
#define LIMITS 7  /* The words of its limits. */
#define LOW 32    /* Its own descriptors are above. */
#define INFO_MAX 1024

/* A command line that grows. */
struct args {
	char *v[ARGS_MAX + 1];
	size_t n;
	int failed;
};

/* Name the level's own failure to who waits for a report. */
static _Noreturn void
fail(const char *step, int err)
{
	const struct ns_fail f = {.step = step, .err = err};

	(void)dprintf(
	    SUPERVISOR_REPORT, "fail %s: %s\n", f.step, strerror(f.err));
	_exit(1);
}

static void
put(struct args *, const char *, ...) __attribute__((format(printf, 2, 3)));

/* Append a word.  It is freed by the exec. */
static void
put(struct args *a, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (a->n == ARGS_MAX || vasprintf(&a->v[a->n], fmt, ap) == -1)
		a->failed = 1;
	else
		a->v[++a->n] = NULL;
	va_end(ap);
}

/* A memory filesystem of at most ${bytes}. */
static void
put_memory(struct args *a, const char *path, uint64_t bytes, unsigned int mode)
{

	put(a, "--perms");
	put(a, "%04o", mode);
	put(a, "--size");
	put(a, "%" PRIu64, bytes);
	put(a, "--tmpfs");
	put(a, "%s", path);
}

/* An empty directory over ${path}. */
static void
put_cover(struct args *a, const char *path)
{

	put_memory(a, path, 4096, 0755);
	put(a, "--remount-ro");
	put(a, "%s", path);
}

static void
put_text(struct args *a, const struct root_text *t)
{
	size_t len = strlen(t->text);
	int fd, high;

	if ((fd = memfd_create("text", 0)) == -1 ||
	    write(fd, t->text, len) != (ssize_t)len ||
	    lseek(fd, 0, SEEK_SET) == -1 ||
	    (high = fcntl(fd, F_DUPFD, LOW)) == -1) {
		a->failed = 1;
		return;
	}
	(void)close(fd);
	put(a, "--perms");
	put(a, "0644");
	put(a, "--file");
	put(a, "%d", high);
	put(a, "/%s", t->path);
}

static void
put_lent(struct args *a, const struct root_lent *l, const char *rootfs)
{

	if (l->kind == LEND_ADDED && *rootfs == '\0')
		return;
	if (l->kind == LEND_DEVICE)
		put(a, "--dev-bind");
	else
		put(a, l->needed ? "--ro-bind" : "--ro-bind-try");
	put(a, "%s%s", l->kind == LEND_DEVICE ? "" : rootfs, l->from);
	put(a, "/%s", l->to);
}

/* Is ${name} of /proc a process, or a link to what is below one? */
static int
is_process(const struct dirent *d)
{

	return (isdigit((unsigned char)d->d_name[0]) || d->d_type == DT_LNK ||
	    d->d_name[0] == '.');
}

/* A new /proc, of which the part that is not of processes is covered. */
static void
put_proc(struct args *a)
{
	struct dirent *d;
	char path[300];
	DIR *D;

	put(a, "--proc");
	put(a, "/proc");
	if ((D = opendir("/proc")) == NULL) {
		a->failed = 1;
		return;
	}
	while ((d = readdir(D)) != NULL) {
		if (is_process(d))
			continue;
		(void)snprintf(path, sizeof(path), "/proc/%s", d->d_name);
		if (d->d_type == DT_DIR) {
			put_cover(a, path);
			continue;
		}
		/* A device where devices do not work cannot be opened. */
		put(a, "--ro-bind");
		put(a, "/dev/null");
		put(a, "%s", path);
	}
	(void)closedir(D);
}

static void
put_root(struct args *a, const struct limits *l)
{
	char path[300];
	size_t i;

	for (i = 0; root_dirs[i].path != NULL; i++) {
		put(a, "--perms");
		put(a, "%04o", root_dirs[i].mode);
		put(a, "--dir");
		put(a, "/%s", root_dirs[i].path);
	}
	for (i = 0; root_links[i].path != NULL; i++) {
		put(a, "--symlink");
		put(a, "%s", root_links[i].to);
		put(a, "/%s", root_links[i].path);
	}
	for (i = 0; root_texts[i].path != NULL; i++)
		put_text(a, &root_texts[i]);
	for (i = 0; root_lent[i].from != NULL; i++)
		put_lent(a, &root_lent[i], l->rootfs);
	for (i = 0; root_covered[i] != NULL; i++) {
		(void)snprintf(
		    path, sizeof(path), "%s/%s", l->rootfs, root_covered[i]);
		if (access(path, F_OK) == 0)
			put_cover(a, path + strlen(l->rootfs));
	}
	put_proc(a);
	put_memory(a, "/dev/shm", LIMIT_SHM, 01777);
	put_memory(a, "/tmp", LIMIT_TMP, 01777);
	put_memory(a, NS_WORKSPACE, l->workspace, 0700);
	put(a, "--remount-ro");
	put(a, "/");
}

/* A file in memory with the ${n} words ${v}, each with its end; or -1. */
static int
words_file(char *const *v, size_t n)
{
	size_t i, len;
	int fd;

	if ((fd = memfd_create("words", 0)) == -1)
		return (-1);
	for (i = 0; i < n; i++) {
		len = strlen(v[i]) + 1;
		if (write(fd, v[i], len) != (ssize_t)len)
			return (-1);
	}
	return (lseek(fd, 0, SEEK_SET) == -1 ? -1 : fd);
}

int
bwrap_exec(const struct limits *l, int info, char *const *argv)
{
	static const char *const first[] = {"--unshare-user",
	    "--disable-userns", "--unshare-pid", "--unshare-ipc",
	    "--unshare-uts", "--unshare-cgroup", "--unshare-net", "--uid",
	    "1000", "--gid", "1000", "--hostname", "sandbox", "--as-pid-1",
	    "--new-session", "--cap-drop", "ALL", "--clearenv", "--chdir",
	    NS_WORKSPACE};
	static struct args a;
	static struct args shown;
	size_t i;
	int fd;

	for (i = 0; i < sizeof(first) / sizeof(first[0]); i++)
		put(&a, "%s", first[i]);
	if (info != -1) {
		put(&a, "--info-fd");
		put(&a, "%d", info);
	}
	put_root(&a, l);

	/* As words they would fill the list of processes. */
	if ((fd = words_file(a.v, a.n)) == -1 ||
	    (fd = fcntl(fd, F_DUPFD, LOW)) == -1)
		return (-1);
	put(&shown, "bwrap");
	put(&shown, "--args");
	put(&shown, "%d", fd);
	put(&shown, "--");
	for (i = 0; argv[i] != NULL; i++)
		put(&shown, "%s", argv[i]);
	if (a.failed || shown.failed) {
		errno = ENOMEM;
		return (-1);
	}
	(void)execv(BWRAP_PROGRAM, shown.v);
	return (-1);
}

/* The same of the words of ${l}. */
static int
limits_file(const struct limits *l)
{
	char words[LIMITS_WORDS][LIMITS_WORD], *v[LIMITS_WORDS];
	size_t i;

	limits_write(l, words);
	for (i = 0; i < LIMITS_WORDS; i++)
		v[i] = words[i];
	return (words_file(v, LIMITS_WORDS));
}

/* Become a bwrap that starts the supervisor. */
static _Noreturn void
start(const struct limits *l, int info)
{
	char *argv[] = {(char[]){"/proc/self/fd/6"}, (char[]){SPAWN_WORD},
	    (char[]){BWRAP_INSIDE}, NULL};
	int fd;

	/* bwrap has no use for 1 but would keep it. */
	if (dup2(SUPERVISOR_REPORT, REPORT) == -1 ||
	    (fd = limits_file(l)) == -1 || dup2(fd, LIMITS) == -1 ||
	    (fd = open("/proc/self/exe", O_RDONLY)) == -1 ||
	    dup2(fd, PROGRAM) == -1 || dup2(2, SUPERVISOR_REPORT) == -1)
		_exit(1);
	(void)bwrap_exec(l, info, argv);
	_exit(1);
}

/* In the child: make the session that of a user of its own, if it has one. */
static void
apart(void)
{
	struct ns_fail f;

	if (users_give(SUPERVISOR_LOCK, getpid()))
		fail("lock", errno);
	if (users_become(&f))
		fail(f.step, f.err);
}

/* Read the process id from what bwrap says of its child. */
static long
read_info(int fd)
{
	static const char key[] = "\"child-pid\":";
	char text[INFO_MAX], *p;
	size_t len = 0;
	ssize_t n;

	do {
		n = read(fd, text + len, sizeof(text) - 1 - len);
		if (n > 0)
			len += (size_t)n;
		text[len] = '\0';
	} while ((n == -1 && errno == EINTR) ||
	    (n > 0 && strchr(text, '}') == NULL));
	if ((p = strstr(text, key)) == NULL)
		return (0);
	return (strtol(p + sizeof(key) - 1, NULL, 10));
}

_Noreturn void
bwrap_supervise(const struct limits *l)
{
	int fd[2], high;
	long pid;

	if (access(BWRAP_PROGRAM, X_OK))
		fail("bwrap", errno);
	if (pipe(fd) || (high = fcntl(fd[1], F_DUPFD, LOW)) == -1)
		fail("pipe", errno);
	(void)close(fd[1]);
	switch (fork()) {
	case -1:
		fail("fork", errno);
	case 0:
		(void)close(fd[0]);
		apart();
		start(l, high);
	}
	(void)close(high);

	/* That bwrap stays, as the parent of the session's first process. */
	if ((pid = read_info(fd[0])) <= 1)
		fail("bwrap", EPERM);
	(void)dprintf(SUPERVISOR_REPORT, "pid %ld\n", pid);
	_exit(0);
}

int
bwrap_inside(struct limits *l)
{
	static char text[LIMITS_WORDS * LIMITS_WORD + 1];
	char *words[LIMITS_WORDS], *p = text;
	ssize_t len;
	size_t n;

	if (dup2(REPORT, SUPERVISOR_REPORT) == -1 ||
	    (len = read(LIMITS, text, sizeof(text) - 1)) == -1)
		return (-1);
	for (n = 0; n < LIMITS_WORDS && p < text + len; n++) {
		words[n] = p;
		p += strlen(p) + 1;
	}
	errno = EINVAL;
	if (p != text + len || limits_read(words, n, l))
		return (-1);
	return (close_range(SUPERVISOR_LISTEN + 1, ~0U, 0));
}
