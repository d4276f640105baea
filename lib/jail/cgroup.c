#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/id.h"

#include "jail/cgroup.h"

#define PREFIX "sbx-"
#define TRIES 16
#define OWN_BYTES (16ULL << 20) /* For the supervisor. */

/* What the two versions call things. */
struct version {
	const char *sign;   /* A file by which it is known. */
	const char *limit;  /* Bytes of a group, and */
	const char *swap;   /* with swap, where that is kept apart. */
	const char *events; /* Says how often "oom_kill" has happened. */
	int swap_is_sum;    /* swap limits the sum of both. */
};

/* clang-format off */
static const struct version versions[] = {
	{ "cgroup.controllers", "memory.max", "memory.swap.max",
	    "memory.events", 0 },
	{ "memory.limit_in_bytes", "memory.limit_in_bytes",
	    "memory.memsw.limit_in_bytes", "memory.oom_control", 1 },
};
/* clang-format on */

static int
put_bytes(int dir, const char *name, uint64_t n)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%" PRIu64, n);
	return (ns_write(dir, name, text));
}

static const struct version *
version_of(int dir)
{
	size_t i;

	for (i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		if (faccessat(dir, versions[i].sign, F_OK, 0) == 0)
			return (&versions[i]);
	errno = ENOTSUP;
	return (NULL);
}

/* The kernel removes no group that has processes. */
static void
sweep(int dir)
{
	struct dirent *d;
	int fd;
	DIR *D;

	if ((fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1)
		return;
	if ((D = fdopendir(fd)) == NULL) {
		(void)close(fd);
		return;
	}
	while ((d = readdir(D)) != NULL)
		if (strncmp(d->d_name, PREFIX, sizeof(PREFIX) - 1) == 0)
			(void)unlinkat(dir, d->d_name, AT_REMOVEDIR);
	(void)closedir(D);
}

/* All that a session's memory may come to: its files are memory too. */
static uint64_t
bytes(const struct limits *l)
{

	return (l->memory + l->workspace + LIMIT_TMP + LIMIT_SHM + OWN_BYTES);
}

static int
set_limits(const struct version *v, int group, uint64_t most, struct ns_fail *f)
{

	if (faccessat(group, v->limit, F_OK, 0))
		return (ns_failed(f, "cgroup memory"));
	if (put_bytes(group, v->limit, most))
		return (ns_failed(f, "cgroup limit"));
	if (faccessat(group, v->swap, F_OK, 0) == 0 &&
	    put_bytes(group, v->swap, v->swap_is_sum ? most : 0))
		return (ns_failed(f, "cgroup swap limit"));
	return (0);
}

/*
 * Make the group ${name} and enter it.  Return 0; 1 if another's sweep() was
 * faster than we; or -1.
 */
static int
make(const struct version *v, int dir, const char *name, uint64_t most, int *fd,
    struct ns_fail *f)
{
	int group, rc = -1;

	if (mkdirat(dir, name, 0755))
		return (ns_failed(f, "cgroup"));
	group = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (group == -1)
		return (errno == ENOENT ? 1 : ns_failed(f, "cgroup"));
	*fd = openat(group, v->events, O_RDONLY | O_CLOEXEC);
	if (set_limits(v, group, most, f) == 0) {
		if (*fd == -1)
			(void)ns_failed(f, "cgroup events");
		else if (ns_write(group, "cgroup.procs", "0"))
			(void)ns_failed(f, "cgroup attach");
		else
			rc = 0;
	}
	(void)close(group);
	if (rc == 0)
		return (0);
	if (*fd != -1)
		(void)close(*fd);
	*fd = -1;

	/* Gone already: then that is what has failed. */
	if (unlinkat(dir, name, AT_REMOVEDIR) && errno == ENOENT)
		return (1);
	return (-1);
}

/* Move into a new group of the directory ${dir}. */
static int
enter(const struct limits *l, int dir, int *fd, struct ns_fail *f)
{
	const struct version *v;
	char name[sizeof(PREFIX) + 16];
	int i, rc = 1;

	if ((v = version_of(dir)) == NULL)
		return (ns_failed(f, "cgroup version"));

	/* Version 2 hands on a controller only when told to. */
	if (!v->swap_is_sum)
		(void)ns_write(dir, "cgroup.subtree_control", "+memory");
	sweep(dir);
	memcpy(name, PREFIX, sizeof(PREFIX));
	for (i = 0; i < TRIES && rc == 1; i++) {
		if (id_hex(name + sizeof(PREFIX) - 1, 16))
			return (ns_failed(f, "random"));
		rc = make(v, dir, name, bytes(l), fd, f);
	}
	if (rc == 1) {
		errno = EAGAIN;
		return (ns_failed(f, "cgroup"));
	}
	return (rc);
}

int
cgroup_enter(const struct limits *l, int *fd, struct ns_fail *f)
{
	int dir, rc;

	*fd = -1;
	if (l->isolation != ISOLATION_CGROUP)
		return (0);
	dir = open(l->cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir == -1)
		return (ns_failed(f, "sandbox.cgroup"));
	rc = enter(l, dir, fd, f);
	(void)close(dir);

	/* Its own group is all that it shall see. */
	if (rc == 0 && unshare(CLONE_NEWCGROUP)) {
		(void)close(*fd);
		*fd = -1;
		return (ns_failed(f, "unshare"));
	}
	return (rc);
}

uint64_t
cgroup_kills(int fd)
{
	char text[512], *p;
	ssize_t n;

	if (fd == -1 || (n = pread(fd, text, sizeof(text) - 1, 0)) <= 0)
		return (0);
	text[n] = '\0';
	p = strstr(text, "\noom_kill ");
	return (p == NULL ? 0 : strtoull(p + 10, NULL, 10));
}
