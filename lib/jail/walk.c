#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "jail/walk.h"
#include "jail/ws.h"

#define NAMES_MAX (16U << 20)
#define BILLION 1000000000LL
#define MILLION 1000000
#define YEAR_9999 253402300799LL /* Its last second. */

/* Programs set times that are past what any number of ours holds. */
static int64_t
ns(const struct timespec *t)
{

	if (t->tv_sec > INT64_MAX / BILLION - 1)
		return (INT64_MAX);
	if (t->tv_sec < INT64_MIN / BILLION + 1)
		return (INT64_MIN);
	return ((int64_t)t->tv_sec * BILLION + t->tv_nsec);
}

uint64_t
walk_ms(const struct timespec *t)
{

	if (t->tv_sec < 0)
		return (0);
	if (t->tv_sec > YEAR_9999)
		return ((uint64_t)YEAR_9999 * 1000 + 999);
	return ((uint64_t)t->tv_sec * 1000 + (uint64_t)t->tv_nsec / MILLION);
}

/* Note ${prefix}/${name}; its path is an offset until the walk is over. */
static int
add(struct walk *w, const char *prefix, const char *name, const struct stat *st)
{
	struct walk_entry *e;
	size_t room, at = w->names.len;

	if (w->n == w->room) {
		room = w->room > 0 ? w->room * 2 : 64;
		if ((e = realloc(w->e, room * sizeof(*e))) == NULL)
			return (-1);
		w->e = e;
		w->room = room;
	}
	if (buf_puts(&w->names, prefix) ||
	    (*prefix != '\0' && buf_puts(&w->names, "/")) ||
	    buf_put(&w->names, name, strlen(name) + 1))
		return (-1);
	e = &w->e[w->n++];
	e->path = (const char *)(uintptr_t)at;
	e->bytes = S_ISREG(st->st_mode) ? (uint64_t)st->st_size : 0;
	e->mtime = ns(&st->st_mtim);
	e->seconds = st->st_mtim.tv_sec;
	e->ms = walk_ms(&st->st_mtim);
	e->ctime = ns(&st->st_ctim);
	e->inode = st->st_ino;
	e->dir = S_ISDIR(st->st_mode);
	return (0);
}

static int descend(struct walk *, int, const char *, unsigned int);

/* One name in the directory ${dir}, whose own path is ${prefix}. */
static int
visit(struct walk *w, int dir, const char *prefix, const char *name,
    unsigned int depth)
{
	char path[WS_PATH_SIZE];
	struct stat st;
	int fd, rc;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return (0); /* Gone meanwhile. */
	if (S_ISREG(st.st_mode))
		return (add(w, prefix, name, &st));
	if (!S_ISDIR(st.st_mode))
		return (0);
	if (w->want_dirs && add(w, prefix, name, &st))
		return (-1);
	if (depth == 0) {
		w->truncated |= !w->want_dirs;
		return (0);
	}
	if (snprintf(path, sizeof(path), "%s%s%s", prefix,
		*prefix != '\0' ? "/" : "", name) >= (int)sizeof(path)) {
		w->truncated = 1;
		return (0);
	}
	if ((fd = openat(dir, name,
		 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK |
		     O_CLOEXEC)) == -1)
		return (0);
	rc = descend(w, fd, path, depth);
	(void)close(fd);
	return (rc);
}

/* All names in ${dir}; ${depth} levels below it are left. */
static int
descend(struct walk *w, int dir, const char *prefix, unsigned int depth)
{
	struct dirent *d;
	DIR *D;
	int fd, rc = 0;

	if ((fd = fcntl(dir, F_DUPFD_CLOEXEC, 3)) == -1)
		return (-1);
	if ((D = fdopendir(fd)) == NULL) {
		(void)close(fd);
		return (-1);
	}
	rewinddir(D);
	while (rc == 0 && (d = readdir(D)) != NULL) {
		if (ws_skipped(d->d_name))
			continue;
		if (w->seen++ >= WALK_ENTRIES) {
			w->truncated = 1;
			break;
		}
		rc = visit(w, dir, prefix, d->d_name, depth - 1);
	}
	(void)closedir(D);
	return (rc);
}

static int
by_path(const void *a, const void *b)
{
	const struct walk_entry *x = a, *y = b;

	return (strcmp(x->path, y->path));
}

int
walk_take(int dir, unsigned int depth, int dirs, struct walk *w)
{
	size_t i;

	memset(w, 0, sizeof(*w));
	w->names.max = NAMES_MAX;
	w->want_dirs = dirs;
	if (descend(w, dir, "", depth)) {
		walk_free(w);
		return (-1);
	}
	for (i = 0; i < w->n; i++)
		w->e[i].path = w->names.p + (uintptr_t)w->e[i].path;
	if (w->n > 1)
		qsort(w->e, w->n, sizeof(w->e[0]), by_path);
	return (0);
}

static int
changed(const struct walk_entry *was, const struct walk_entry *is)
{

	return (was->inode != is->inode || was->bytes != is->bytes ||
	    was->mtime != is->mtime || was->seconds != is->seconds ||
	    was->dir != is->dir);
}

int
walk_diff(const struct walk *before, const struct walk *after, int64_t since,
    walk_diff_fn *fn, void *cookie)
{
	const struct walk_entry *was, *is;
	size_t i = 0, k = 0;
	int cmp, rc = 0;

	while ((i < after->n || k < before->n) && rc == 0) {
		is = i < after->n ? &after->e[i] : NULL;
		was = k < before->n ? &before->e[k] : NULL;
		cmp = is == NULL  ? -1
		    : was == NULL ? 1
				  : strcmp(was->path, is->path);
		if (cmp < 0)
			rc = fn(cookie, was, NULL);
		else if (cmp == 0 ? changed(was, is)
				  : !before->truncated || is->ctime >= since)
			rc = fn(cookie, cmp == 0 ? was : NULL, is);
		k += cmp <= 0;
		i += cmp >= 0;
	}
	return (rc);
}

void
walk_free(struct walk *w)
{

	free(w->e);
	buf_free(&w->names);
	w->e = NULL;
	w->n = w->room = w->seen = 0;
}
