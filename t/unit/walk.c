#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "jail/walk.h"

#include "tap.h"

static int
make(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	int rc = -1;

	if (fd != -1 && write(fd, text, strlen(text)) == (ssize_t)strlen(text))
		rc = 0;
	(void)close(fd);
	return (rc);
}

/* "name " as it is, "-name " for one that is gone, "+name " for a new one. */
static int
collect(void *cookie, const struct walk_entry *was, const struct walk_entry *is)
{

	if (is == NULL)
		(void)buf_printf(cookie, "-%s ", was->path);
	else
		(void)buf_printf(
		    cookie, "%s%s ", was == NULL ? "+" : "", is->path);
	return (0);
}

static int
stop(void *cookie, const struct walk_entry *was, const struct walk_entry *is)
{

	(void)was;
	(void)is;
	return (++*(int *)cookie == 2 ? 7 : 0);
}

/* Are the names of ${w} those of ${want}? */
static int
names_are(const struct walk *w, const char *want)
{
	struct buf b = BUF_INIT(4096);
	size_t i;
	int same;

	for (i = 0; i < w->n; i++)
		(void)collect(&b, &w->e[i], &w->e[i]);
	same = strcmp(b.len > 0 ? b.p : "", want) == 0;
	if (!same)
		printf("# got: %s\n", b.p);
	buf_free(&b);
	return (same);
}

static int
diff_is(const struct walk *was, const struct walk *is, int64_t since,
    const char *want)
{
	struct buf b = BUF_INIT(4096);
	int same;

	(void)walk_diff(was, is, since, collect, &b);
	same = strcmp(b.len > 0 ? b.p : "", want) == 0;
	if (!same)
		printf("# got: %s\n", b.p);
	buf_free(&b);
	return (same);
}

static void
test_take(int dir)
{
	struct walk w;

	ok(walk_take(dir, 10, 0, &w) == 0 && w.n == 0 && !w.truncated,
	    "an empty directory");
	walk_free(&w);
	(void)make("b", "1");
	(void)make("a", "22");
	(void)make(".hidden", "1");
	(void)make("x.pyc", "1");
	(void)mkdir("d", 0755);
	(void)mkdir("d/e", 0755);
	(void)make("d/f", "1");
	(void)make("d/e/g", "1");
	(void)mkdir("__pycache__", 0755);
	(void)make("__pycache__/c", "1");
	(void)mkdir("node_modules", 0755);
	(void)make("node_modules/c", "1");
	(void)symlink("b", "link");
	(void)symlink("d", "dirlink");
	(void)mkfifo("fifo", 0600);
	ok(walk_take(dir, 10, 0, &w) == 0 && names_are(&w, "a b d/e/g d/f ") &&
		!w.truncated && w.e[0].bytes == 2,
	    "regular files, sorted, caches and hidden ones left out");
	walk_free(&w);
	ok(walk_take(dir, 10, 1, &w) == 0 &&
		names_are(&w, "a b d d/e d/e/g d/f ") && w.e[2].dir,
	    "directories too");
	walk_free(&w);
	ok(walk_take(dir, 2, 0, &w) == 0 && names_are(&w, "a b d/f ") &&
		w.truncated,
	    "two levels deep");
	walk_free(&w);
	ok(walk_take(dir, 1, 0, &w) == 0 && names_are(&w, "a b "),
	    "one level deep, twice the same descriptor");
	walk_free(&w);
}

static void
test_diff(int dir)
{
	struct walk was, is;
	struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	int n = 0;

	(void)utimensat(dir, "a", old, 0);
	(void)walk_take(dir, 10, 0, &was);
	(void)walk_take(dir, 10, 0, &is);
	ok(diff_is(&was, &is, 0, ""), "nothing has changed");
	walk_free(&is);

	(void)make("a", "33");
	(void)make("c", "1");
	(void)unlink("b");
	(void)rename("d/f", "d/h");
	(void)walk_take(dir, 10, 0, &is);
	ok(diff_is(&was, &is, 0, "a -b +c -d/f +d/h "),
	    "content of the same size, new and renamed files");
	ok(walk_diff(&was, &is, 0, stop, &n) == 7 && n == 2,
	    "the callback ends it");
	was.truncated = 1;
	ok(diff_is(&was, &is, INT64_MAX, "a -b -d/f "),
	    "what a bounded look may have missed is new only if it is young");
	ok(diff_is(&was, &is, 0, "a -b +c -d/f +d/h "), "and then it is");
	walk_free(&was);
	walk_free(&is);

	(void)make("new", "33");
	(void)utimensat(dir, "new", old, 0);
	(void)utimensat(dir, "a", old, 0);
	(void)walk_take(dir, 10, 0, &was);
	(void)rename("new", "a");
	(void)walk_take(dir, 10, 0, &is);
	ok(diff_is(&was, &is, 0, "a -new "),
	    "another file of the same size and time");
	walk_free(&was);
	walk_free(&is);
}

static void
test_bounds(int dir)
{
	struct walk w;
	char name[32];
	int i;

	for (i = 0; i < WALK_ENTRIES + 5; i++) {
		(void)snprintf(name, sizeof(name), "many%d", i);
		(void)make(name, "");
	}
	ok(walk_take(dir, 10, 0, &w) == 0 && w.truncated &&
		w.n <= WALK_ENTRIES && w.n > WALK_ENTRIES - 20,
	    "no more names than the bound");
	walk_free(&w);
	ok(w.e == NULL && w.n == 0, "freed");
	walk_free(&w);
}

int
main(void)
{
	char path[] = "/tmp/satchel-walk.XXXXXX";
	int dir, bad;

	if (mkdtemp(path) == NULL || chdir(path) ||
	    (dir = open(".", O_RDONLY | O_DIRECTORY)) == -1) {
		printf("# %s: %s\n", path, strerror(errno));
		return (1);
	}
	test_take(dir);
	test_diff(dir);
	test_bounds(dir);
	(void)close(dir);
	(void)chdir("/");

	/* Leave nothing behind. */
	bad = done_testing();
	(void)fflush(stdout);
	execlp("sh", "sh", "-c", "rm -rf \"$1\"; exit \"$2\"", "sh", path,
	    bad ? "1" : "0", NULL);
	return (1);
}
