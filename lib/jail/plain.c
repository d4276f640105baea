#include <sys/resource.h>
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jail/guest.h"
#include "jail/plain.h"
#include "jail/proc.h"

#define WORK "work"
#define TMP "tmp"
#define WORDS_BYTES (16U << 20)
#define HELD_MAX 256 /* Removed files that are told apart. */
#define LOOKS 4      /* What is mapped and closed meanwhile is not held. */

/* --- making --- */

int
plain_make(int lock, struct land *land, struct ns_fail *f)
{
	char link[64], path[LIMITS_PATH - sizeof(WORK)], *end;
	ssize_t n;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", lock);
	if ((n = readlink(link, path, sizeof(path))) == -1)
		return (ns_failed(f, "workspace"));
	if ((size_t)n >= sizeof(path)) {
		errno = ENAMETOOLONG;
		return (ns_failed(f, "workspace"));
	}
	path[n] = '\0';
	end = strrchr(path, '/');
	*end = '\0';
	(void)snprintf(land->work, sizeof(land->work), "%s/" WORK, path);
	(void)snprintf(land->tmp, sizeof(land->tmp), "%s/" TMP, path);
	if (mkdir(land->work, 0700) || mkdir(land->tmp, 0700))
		return (ns_failed(f, "workspace"));
	return (0);
}

int
plain_here(int dir)
{

	return (faccessat(dir, WORK, F_OK, 0) == 0);
}

/* --- naming --- */

const char *
plain_path(const struct limits *l)
{
	static const char to[] = "/proc/self/cwd";
	char link[sizeof(to)];
	ssize_t n;

	if (l->isolation != ISOLATION_LANDLOCK)
		return (NS_WORKSPACE);
	n = readlink(NS_WORKSPACE, link, sizeof(link));
	return (n == (ssize_t)sizeof(to) - 1 && memcmp(link, to, (size_t)n) == 0
		? NS_WORKSPACE
		: ".");
}

/* Is a path that ${s} may hold at ${p} the directory ${dir} or below it? */
static int
is_at(const char *s, const char *p, const char *dir)
{
	size_t n = strlen(dir);

	return (strncmp(p, dir, n) == 0 && strchr("/:", p[n]) != NULL &&
	    (p == s || strchr("=:\"'", p[-1]) != NULL ||
		(p == s + 2 && *s == '-')));
}

/* Append ${s} to ${b}, with the paths that mean something else here. */
static void
put_word(struct buf *b, const struct land *land, const char *s)
{
	const char *p = s;

	while (*p != '\0') {
		if (is_at(s, p, NS_WORKSPACE)) {
			(void)buf_puts(b, land->work);
			p += sizeof(NS_WORKSPACE) - 1;
		} else if (is_at(s, p, "/tmp")) {
			(void)buf_puts(b, land->tmp);
			p += 4;
		} else {
			(void)buf_put(b, p++, 1);
		}
	}
	(void)buf_put(b, "", 1);
}

char **
plain_words(const struct land *land, char **words, size_t n)
{
	struct buf b = BUF_INIT(WORDS_BYTES);
	char **list = NULL, *p;
	size_t i;

	for (i = 0; i < n; i++)
		put_word(&b, land, words[i]);
	if (buf_ok(&b))
		list = malloc((n + 1) * sizeof(*list) + b.len);
	if (list != NULL) {
		p = (char *)(list + n + 1);
		if (b.len > 0)
			memcpy(p, b.p, b.len);
		for (i = 0; i < n; i++, p += strlen(p) + 1)
			list[i] = p;
		list[n] = NULL;
	}
	buf_free(&b);
	free(words);
	return (list);
}

/* --- looking --- */

/*
 * Give the directory ${e} the mode ${mode}.  Its owner is at work, so that its
 * name may mean something else by now: but no link is followed.
 */
static void
set_mode(const FTSENT *e, mode_t mode)
{
	char link[64];
	int fd;

	fd =
	    open(e->fts_accpath, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1)
		return;
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	(void)chmod(link, mode);
	(void)close(fd);
}

/* One thing that there is.  Directories come before what they hold and after.
 */
static void
look_at(FTSENT *e, struct plain_use *use)
{
	const mode_t mode = e->fts_statp != NULL ? e->fts_statp->st_mode : 0;

	switch (e->fts_info) {
	case FTS_D:
		/* What its owner has closed to himself we open for the look. */
		if ((mode & S_IRWXU) != S_IRWXU) {
			e->fts_number = (long)(mode & 07777) + 1;
			set_mode(e, mode | S_IRWXU);
		}
		break;
	case FTS_DP:
		if (e->fts_number != 0)
			set_mode(e, (mode_t)(e->fts_number - 1));
		return;
	case FTS_NS:
	case FTS_DNR: /* It may just have gone. */
		use->odd += e->fts_errno != ENOENT;
		return;
	case FTS_ERR:
		use->odd++;
		return;
	default:
		break;
	}
	if (e->fts_level == FTS_ROOTLEVEL)
		return;
	use->files++;
	use->bytes += (uint64_t)e->fts_statp->st_blocks * 512;
}

/* What is below the two directories. */
static void
look_below(const struct land *land, struct plain_use *use)
{
	char work[LIMITS_PATH], tmp[LIMITS_PATH];
	char *roots[] = {work, tmp, NULL};
	FTSENT *e;
	FTS *t;

	(void)snprintf(work, sizeof(work), "%s", land->work);
	(void)snprintf(tmp, sizeof(tmp), "%s", land->tmp);
	if ((t = fts_open(roots, FTS_PHYSICAL | FTS_XDEV, NULL)) == NULL) {
		use->odd++;
		return;
	}
	while (errno = 0, (e = fts_read(t)) != NULL)
		look_at(e, use);
	if (errno != 0)
		use->odd++;
	(void)fts_close(t);
}

/* Removed files that have been counted. */
struct removed {
	const struct land *land;
	dev_t dev;
	ino_t seen[HELD_MAX];
	size_t n;
	struct plain_use *use;
};

static int
is_counted(const struct removed *h, ino_t ino)
{
	size_t i;

	for (i = 0; i < h->n; i++)
		if (h->seen[i] == ino)
			return (1);
	return (0);
}

static void
count(struct removed *h, const struct stat *st)
{

	if (!S_ISREG(st->st_mode) || st->st_nlink > 0 || st->st_dev != h->dev ||
	    is_counted(h, st->st_ino))
		return;
	if (h->n < HELD_MAX)
		h->seen[h->n++] = st->st_ino;
	h->use->files++;
	h->use->bytes += (uint64_t)st->st_blocks * 512;
}

/* Has the task ${task} given up its memory, as it does when it ends? */
static int
is_ending(int task, const char *tid)
{
	char path[32], c = '0';
	int fd;

	(void)snprintf(path, sizeof(path), "%.16s/statm", tid);
	if ((fd = openat(task, path, O_RDONLY | O_CLOEXEC)) != -1) {
		(void)read(fd, &c, 1);
		(void)close(fd);
	}
	return (c == '0');
}

/* What the task ${tid} holds open: threads need not share that. */
static void
look_task(struct removed *h, int task, const char *tid)
{
	struct dirent *d;
	struct stat st;
	char path[32];
	int fd;
	DIR *D;

	(void)snprintf(path, sizeof(path), "%.16s/fd", tid);
	fd = openat(task, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd == -1 || (D = fdopendir(fd)) == NULL) {
		/* A program that may not be read hides what it holds. */
		h->use->odd +=
		    !proc_gone() && !(errno == EACCES && is_ending(task, tid));
		if (fd != -1)
			(void)close(fd);
		return;
	}
	while ((d = readdir(D)) != NULL)
		if (*d->d_name != '.' && fstatat(fd, d->d_name, &st, 0) == 0)
			count(h, &st);
	(void)closedir(D);
}

/* Does ${path} begin with the directory ${dir}? */
static int
is_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return (strncmp(path, dir, n) == 0 && path[n] == '/');
}

/*
 * Is what the line ${text} of a process's maps says a file of the session that
 * has been removed, and that nobody has open?  Nothing tells how large it is.
 */
static int
is_hidden(const struct removed *h, char *text)
{
	char *path = strchr(text, '/'), *end;
	unsigned long ino;
	struct stat st;

	if (path == NULL ||
	    (!is_below(path, h->land->work) && !is_below(path, h->land->tmp)))
		return (0);
	text[strcspn(text, "\n")] = '\0';
	if ((end = strrchr(path, ' ')) == NULL ||
	    strcmp(end, " (deleted)") != 0 ||
	    sscanf(text, "%*s %*s %*s %*s %lu", &ino) != 1)
		return (0);
	if (is_counted(h, ino))
		return (0);

	/* Or it has been given a name that ends so. */
	return (lstat(path, &st) != 0 || st.st_ino != ino);
}

/* What the process ${pid} has mapped, once it is known what is open. */
static void
look_mapped(void *cookie, int proc, pid_t pid)
{
	struct removed *h = cookie;
	char path[32], *line = NULL;
	size_t room = 0;
	FILE *f;
	int fd;

	(void)snprintf(path, sizeof(path), "%d/maps", (int)pid);
	if ((fd = openat(proc, path, O_RDONLY | O_CLOEXEC)) == -1) {
		/* At EACCES its open files do not show either. */
		h->use->odd += !proc_gone() && errno != EACCES;
		return;
	}
	if ((f = fdopen(fd, "r")) == NULL) {
		(void)close(fd);
		h->use->odd++;
		return;
	}
	while (getline(&line, &room, f) != -1)
		h->use->odd += is_hidden(h, line);
	free(line);
	(void)fclose(f);
}

/* What the process ${pid} runs, which need not be open, and has open. */
static void
look_held(void *cookie, int proc, pid_t pid)
{
	struct removed *h = cookie;
	struct stat st;
	struct dirent *d;
	char path[32];
	int fd;
	DIR *D;

	(void)snprintf(path, sizeof(path), "%d/exe", (int)pid);
	if (fstatat(proc, path, &st, 0) == 0)
		count(h, &st);
	(void)snprintf(path, sizeof(path), "%d/task", (int)pid);
	fd = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd == -1 || (D = fdopendir(fd)) == NULL) {
		h->use->odd += !proc_gone();
		if (fd != -1)
			(void)close(fd);
		return;
	}
	while ((d = readdir(D)) != NULL)
		if (*d->d_name != '.')
			look_task(h, fd, d->d_name);
	(void)closedir(D);
}

static void
look_all(const struct land *land, struct plain_use *use, int mapped)
{
	struct removed h = {.land = land, .use = use};
	int i, below, open = -1;
	struct stat st;

	memset(use, 0, sizeof(*use));
	look_below(land, use);
	if (stat(land->work, &st)) {
		use->odd++;
		return;
	}
	h.dev = st.st_dev;
	below = use->odd;
	for (i = 0; i < LOOKS && use->odd != open; i++) {
		use->odd = below;
		use->odd += guests_each(look_held, &h) != 0;
		open = use->odd;
		if (mapped)
			use->odd += guests_each(look_mapped, &h) != 0;
	}
}

void
plain_look(const struct land *land, struct plain_use *use)
{

	look_all(land, use, 0);
}

void
plain_look_mapped(const struct land *land, struct plain_use *use)
{

	look_all(land, use, 1);
}

void
plain_bound(const struct land *land, uint64_t most)
{
	struct plain_use use;
	struct rlimit rl;

	plain_look(land, &use);
	if (getrlimit(RLIMIT_FSIZE, &rl))
		return;
	rl.rlim_cur = use.bytes < most ? most - use.bytes : 0;
	if (rl.rlim_cur > rl.rlim_max)
		rl.rlim_cur = rl.rlim_max;
	(void)setrlimit(RLIMIT_FSIZE, &rl);
	(void)signal(SIGXFSZ, SIG_IGN);
}

/* --- removing --- */

/* Open the directory ${name} of ${at}, whatever its mode is. */
static DIR *
open_dir(int at, const char *name)
{
	DIR *D;
	int fd;

	(void)fchmodat(at, name, 0700, 0);
	fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1)
		return (NULL);
	if ((D = fdopendir(fd)) == NULL)
		(void)close(fd);
	return (D);
}

static int
is_dots(const char *name)
{

	return (strcmp(name, ".") == 0 || strcmp(name, "..") == 0);
}

/*
 * Remove what ${D} holds, up to the first directory that holds anything itself:
 * that one is opened.  NULL: there is none.  ${did} becomes how many went.
 */
static DIR *
remove_in(DIR *D, size_t *did)
{
	struct dirent *d;
	DIR *sub;

	for (*did = 0; (d = readdir(D)) != NULL;) {
		if (is_dots(d->d_name))
			continue;
		if (unlinkat(dirfd(D), d->d_name, 0) == 0 ||
		    unlinkat(dirfd(D), d->d_name, AT_REMOVEDIR) == 0)
			++*did;
		else if ((sub = open_dir(dirfd(D), d->d_name)) != NULL)
			return (sub);
	}
	return (NULL);
}

/*
 * Remove the directory ${name} of ${at}.  Nobody moves it about meanwhile, so
 * the way back is "..", and any depth takes two descriptors.
 */
static void
remove_tree(int at, const char *name)
{
	size_t depth = 0, did;
	DIR *D, *next;
	int back = 0;

	if (unlinkat(at, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return;
	for (D = open_dir(at, name); D != NULL; D = next) {
		next = remove_in(D, &did);
		if (back && did == 0) {
			/* What was emptied does not go: nothing helps. */
			if (next != NULL)
				(void)closedir(next);
			next = NULL;
		} else if (next != NULL) {
			depth++;
			back = 0;
		} else if (depth > 0) {
			next = open_dir(dirfd(D), "..");
			depth--;
			back = 1;
		}
		(void)closedir(D);
	}
	(void)unlinkat(at, name, AT_REMOVEDIR);
}

void
plain_remove(int dir)
{

	remove_tree(dir, WORK);
	remove_tree(dir, TMP);
}
