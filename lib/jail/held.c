#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#include "jail/filter.h"
#include "jail/guest.h"
#include "jail/held.h"
#include "jail/proc.h"

/* What the kernel needs at the most for */
#define OF_DESCRIPTOR 512 /* an open file, */
#define OF_WATCH 256      /* one in an epoll, */
#define OF_LOCK 256       /* a lock of a part of a file, */
#define OF_MAPPING 512    /* and a mapping. */

/*
 * So many pipes of one user have buffers of 64 KiB, unless the setting
 * fs.pipe-user-pages-soft says otherwise, and all others have two pages.
 */
#define WIDE_PIPES 1024U
#define WIDE_PIPE (64U << 10)
#define PIPE (8U << 10)

#define LOOK_MOST (CLOCKS_PER_SEC / 2) /* What a look takes at the most. */
#define BETWEEN 1024                   /* Mappings without a look at that. */

#define INODES_MOST (1U << 20)
#define INFO_LINES 4 /* That a descriptor of any kind has. */

/* A look at a session. */
struct look {
	struct held *h;
	struct inodes pipes, shared;
	const struct limits *lim;
	int with_sockets;  /* They are to be told apart. */
	pid_t tid;         /* Whose. */
	clock_t until;     /* Of clock(): what takes longer is too much. */
	uint64_t deadline; /* clock_ms() */
};

static int
compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return ((*x > *y) - (*x < *y));
}

static void
put(struct inodes *all, uint64_t n)
{
	uint64_t *v;

	if (all->n == all->room) {
		all->room = all->room == 0 ? 64 : 2 * all->room;
		v = all->room > INODES_MOST
		    ? NULL
		    : reallocarray(all->v, all->room, sizeof(*v));
		if (v == NULL) {
			all->room = all->n;
			all->lost = 1;
			return;
		}
		all->v = v;
	}
	all->v[all->n++] = n;
}

/* Put them in order and leave out what is there twice. */
static void
settle(struct inodes *all)
{
	size_t i, n = 0;

	if (all->n > 1)
		qsort(all->v, all->n, sizeof(*all->v), compare);
	for (i = 0; i < all->n; i++)
		if (n == 0 || all->v[i] != all->v[n - 1])
			all->v[n++] = all->v[i];
	all->n = n;
}

static void
drop(struct inodes *all)
{

	free(all->v);
	memset(all, 0, sizeof(*all));
}

int
inodes_have(const struct inodes *all, uint64_t n)
{

	return (all->n > 0 &&
	    bsearch(&n, all->v, all->n, sizeof(n), compare) != NULL);
}

/* What cannot be seen is too much. */
static void
blind(struct look *l)
{

	l->h->watches = l->h->bytes = PROC_BLIND;
}

/* Is it more than there may be?  A look at all would take as long. */
static int
is_over(struct look *l)
{

	if (clock() > l->until)
		blind(l);
	if (clock_ms() > l->deadline)
		return (1);
	return (
	    l->h->watches > l->lim->watches || l->h->bytes > l->lim->memory);
}

static void
add(struct look *l, uint64_t bytes)
{

	l->h->bytes = proc_sum(l->h->bytes, bytes);
}

/* Is it in the middle of its end, when all of /proc is root's? */
static int
is_ending(int proc, pid_t tid)
{
	char path[32], text[16];

	(void)snprintf(path, sizeof(path), "%d/statm", (int)tid);
	return (proc_read(proc, path, text, sizeof(text)) == 0 || *text == '0');
}

/*
 * A look at ${tid} has failed with errno.  By rules alone plain.c sees to it
 * that none forbids it.
 */
static void
failed(struct look *l, int proc)
{

	if (proc_gone() ||
	    (errno == EACCES &&
		(l->lim->isolation == ISOLATION_LANDLOCK ||
		    is_ending(proc, l->tid))))
		return;
	blind(l);
}

/* Lines of the file ${path} of ${dir}, as far as they are of any use. */
static uint64_t
lines(struct look *l, int dir, const char *path)
{
	char text[16384];
	uint64_t n = 0;
	ssize_t len = 0;
	const char *p;
	int fd;

	if ((fd = openat(dir, path, O_RDONLY | O_CLOEXEC)) == -1) {
		if (!proc_gone())
			blind(l);
		return (0);
	}
	while (!is_over(l) && (len = read(fd, text, sizeof(text))) > 0)
		for (p = text;
		     (p = memchr(p, '\n', (size_t)(text + len - p))) != NULL;
		     p++)
			n++;
	if (len == -1 && !proc_gone())
		blind(l);
	(void)close(fd);
	return (n > INFO_LINES ? n - INFO_LINES : 0);
}

/* One descriptor, which leads to ${to}. */
static void
look_descriptor(struct look *l, int info, const char *name, const char *to)
{
	uint64_t n;

	add(l, OF_DESCRIPTOR);
	if (strncmp(to, "pipe:[", 6) == 0) {
		put(&l->pipes, strtoull(to + 6, NULL, 10));
	} else if (strncmp(to, "socket:[", 8) == 0) {
		if (l->with_sockets)
			put(&l->h->sockets, strtoull(to + 8, NULL, 10));
	} else if (strcmp(to, "anon_inode:[eventpoll]") == 0) {
		n = lines(l, info, name);
		l->h->watches = proc_sum(l->h->watches, n);
		add(l, n * OF_WATCH);
	} else if (*to == '/') {
		add(l, lines(l, info, name) * OF_LOCK);
	}
}

/* What the process has open, its threads included. */
static void
look_open(struct look *l, int proc)
{
	char path[32], to[64];
	struct dirent *d;
	int fd, info;
	ssize_t n;
	DIR *D;

	(void)snprintf(path, sizeof(path), "%d/fdinfo", (int)l->tid);
	info = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (info == -1) {
		failed(l, proc);
		return;
	}
	(void)snprintf(path, sizeof(path), "%d/fd", (int)l->tid);
	fd = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd == -1 || (D = fdopendir(fd)) == NULL) {
		failed(l, proc);
		if (fd != -1)
			(void)close(fd);
		(void)close(info);
		return;
	}
	while (errno = 0, (d = readdir(D)) != NULL && !is_over(l)) {
		n = *d->d_name == '.'
		    ? -1
		    : readlinkat(fd, d->d_name, to, sizeof(to) - 1);
		if (n == -1)
			continue;
		to[n] = '\0';
		look_descriptor(l, info, d->d_name, to);
	}
	if (errno != 0)
		failed(l, proc);
	(void)closedir(D);
	(void)close(info);
}

/* One mapping: shared memory without a name may be more than is mapped. */
static void
look_mapping(struct look *l, const char *text)
{
	unsigned long from, to, ino;
	char shared;

	add(l, OF_MAPPING);
	if (strstr(text, " /dev/zero (deleted)") == NULL ||
	    sscanf(text, "%lx-%lx %*3c%c %*s %*s %lu", &from, &to, &shared,
		&ino) != 4 ||
	    shared != 's')
		return;
	put(&l->shared, ino);
	if (to - from > FILTER_SHARED_MIB << 20)
		add(l, to - from);
}

static void
look_mapped(struct look *l, int proc)
{
	char path[32], *text = NULL;
	size_t room = 0, n = 0;
	FILE *f;
	int fd;

	(void)snprintf(path, sizeof(path), "%d/maps", (int)l->tid);
	if ((fd = openat(proc, path, O_RDONLY | O_CLOEXEC)) == -1) {
		failed(l, proc);
		return;
	}
	if ((f = fdopen(fd, "r")) == NULL) {
		(void)close(fd);
		blind(l);
		return;
	}
	while (errno = 0, getline(&text, &room, f) != -1) {
		look_mapping(l, text);
		if (++n % BETWEEN == 0 && is_over(l))
			break;
	}
	if (errno != 0)
		failed(l, proc);
	free(text);
	(void)fclose(f);
}

static void
look_at(void *cookie, int proc, pid_t pid)
{
	struct look *l = cookie;
	char text[4096];
	int rc;

	if (is_over(l))
		return;
	rc = proc_alive(proc, pid, text, sizeof(text), &l->tid);
	if (rc == -1)
		blind(l);
	if (rc != 1)
		return;
	look_open(l, proc);
	look_mapped(l, proc);
}

void
held_none(struct held *h)
{

	drop(&h->sockets);
	h->watches = h->bytes = 0;
}

/* What so many pipes can have in their buffers. */
static uint64_t
in_pipes(size_t n)
{
	uint64_t wide = n < WIDE_PIPES ? n : WIDE_PIPES;

	return (wide * WIDE_PIPE + (n - wide) * PIPE);
}

void
held_look(struct jail *J, uint64_t deadline)
{
	struct look l = {.h = &J->held,
	    .until = clock() + LOOK_MOST,
	    .deadline = deadline,
	    .lim = &J->lim,
	    .with_sockets =
		J->socks == -1 || J->lim.isolation == ISOLATION_LANDLOCK};

	held_none(&J->held);
	if (guests_each(look_at, &l))
		blind(&l);
	settle(&l.pipes);
	settle(&l.shared);
	settle(&J->held.sockets);
	if (l.pipes.lost || l.shared.lost || J->held.sockets.lost)
		blind(&l);
	add(&l, in_pipes(l.pipes.n));
	add(&l, (uint64_t)l.shared.n * FILTER_SHARED_MIB << 20);
	drop(&l.pipes);
	drop(&l.shared);
}
