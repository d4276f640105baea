#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "jail/ws.h"

#include "tap.h"

#define RACE_MS 500

static int
path_is(const char *s, const char *want)
{
	char out[WS_PATH_SIZE];

	return (ws_path(s, out) == REPLY_OK && strcmp(out, want) == 0);
}

static enum reply
path_rc(const char *s)
{
	char out[WS_PATH_SIZE];

	return (ws_path(s, out));
}

static void
test_paths(void)
{
	char s[2 * WS_PATH_SIZE];

	ok(path_is("a", "a") && path_is("a/b", "a/b"), "plain paths");
	ok(path_is("./a//b/.", "a/b") && path_is("a/", "a"), "tidied");
	ok(path_is(".", ".") && path_is("./", ".") &&
		path_is("/mnt/data", ".") && path_is("/mnt/data/", "."),
	    "the workspace itself");
	ok(path_is("/mnt/data/a", "a") && path_is("/mnt/data//a", "a"),
	    "absolute");
	ok(path_is("..a", "..a") && path_is("a..", "a..") &&
		path_is("...", "..."),
	    "names with dots");
	ok(path_rc("..") == REPLY_OUTSIDE && path_rc("a/..") == REPLY_OUTSIDE &&
		path_rc("a/../b") == REPLY_OUTSIDE &&
		path_rc("/mnt/data/..") == REPLY_OUTSIDE,
	    "a way up");
	ok(path_rc("/") == REPLY_OUTSIDE && path_rc("/a") == REPLY_OUTSIDE &&
		path_rc("/mnt/datax") == REPLY_OUTSIDE &&
		path_rc("//mnt/data/a") == REPLY_OUTSIDE,
	    "absolute elsewhere");
	ok(path_rc("") == REPLY_NAME, "empty");
	memset(s, 'x', sizeof(s));
	s[255] = '\0';
	ok(path_rc(s) == REPLY_OK, "a part of 255 bytes");
	s[255] = 'x';
	s[256] = '\0';
	ok(path_rc(s) == REPLY_NAME, "a part of 256 bytes");
	memset(s, '/', sizeof(s));
	s[WS_PATH_SIZE] = '\0';
	ok(path_rc(s) == REPLY_NAME, "a path too long");

	ok(ws_hidden(".a") && ws_hidden("a/.b/c") && !ws_hidden("a.b/c.d") &&
		!ws_hidden("."),
	    "hidden");
	ok(ws_skipped("__pycache__") && ws_skipped("a.pyc") &&
		ws_skipped(".x") && !ws_skipped("a.py") && !ws_skipped("pyc"),
	    "left out");
}

static int
escaped_is(const char *s, const char *want)
{
	struct buf b = BUF_INIT(256);
	int same;

	same = ws_escape(&b, s) == 0 && strcmp(b.p, want) == 0;
	buf_free(&b);
	return (same);
}

static void
test_escape(void)
{

	ok(escaped_is("a b/\"'<>&#?%41", "a b/\"'<>&#?%41"),
	    "clean names stay");
	ok(escaped_is("\xc3\xa9", "\xc3\xa9"), "UTF-8 too");
	ok(escaped_is("a\nb", "a%0Ab") && escaped_is("\x7f", "%7F") &&
		escaped_is("\xc2\x85", "%C2%85"),
	    "control characters");
	ok(escaped_is("\xff\xc3\xa9\xc3", "%FF\xc3\xa9%C3"), "broken UTF-8");
	ok(escaped_is("50%\n", "50%25%0A"), "then a percent sign too");
}

/* Open ${path} and close it again. */
static enum reply
opens(int root, const char *path)
{
	enum reply rc;
	int fd;

	if ((rc = ws_open(root, path, O_RDONLY, &fd)) == REPLY_OK)
		(void)close(fd);
	return (rc);
}

static void
put(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (fd == -1 || write(fd, text, strlen(text)) == -1)
		printf("# %s: %s\n", name, strerror(errno));
	(void)close(fd);
}

static void
test_open(int root)
{

	put("plain", "x");
	put("nl\nx", "x");
	put("nl%0Ay", "x");
	(void)mkdir("dir", 0755);
	put("dir/in", "x");
	(void)symlink("plain", "link");
	(void)symlink("dir", "dirlink");
	(void)symlink("/etc/passwd", "abs");
	(void)symlink("/proc/self/environ", "magic");
	(void)mkfifo("fifo", 0600);
	ok(opens(root, "plain") == REPLY_OK &&
		opens(root, "dir/in") == REPLY_OK,
	    "files");
	ok(opens(root, "nosuch") == REPLY_NONE &&
		opens(root, "plain/x") == REPLY_NONE,
	    "what is not there");
	ok(opens(root, "link") == REPLY_OUTSIDE &&
		opens(root, "dirlink/in") == REPLY_OUTSIDE &&
		opens(root, "abs") == REPLY_OUTSIDE &&
		opens(root, "magic") == REPLY_OUTSIDE,
	    "links are not followed");
	ok(opens(root, "../x") == REPLY_OUTSIDE &&
		opens(root, "/etc/passwd") == REPLY_OUTSIDE,
	    "nor any way out");
	ok(opens(root, "fifo") == REPLY_OK, "a FIFO does not wait");
	ok(opens(root, "nl%0Ax") == REPLY_OK, "by its escaped name");
	ok(opens(root, "nl%0Ay") == REPLY_OK, "by a name that looks so");
	ok(opens(root, "pl%61in") == REPLY_NONE &&
		opens(root, "nl%0ax") == REPLY_NONE &&
		opens(root, "a%") == REPLY_NONE &&
		opens(root, "a%0") == REPLY_NONE &&
		opens(root, "a%00%0A") == REPLY_NONE &&
		opens(root, "dir%2Fin%0A") == REPLY_NONE,
	    "only what the escape writes is undone");
	ok(opens(root, "%2E%2E%0A") == REPLY_NONE, "not even dots");
}

static void
test_parents(int root)
{
	const char *base;
	struct stat st;
	int dir;

	ok(ws_parents(root, "p/q/r", &dir, &base) == REPLY_OK &&
		strcmp(base, "r") == 0 && stat("p/q", &st) == 0 &&
		S_ISDIR(st.st_mode),
	    "parents are made");
	ok(ws_replaceable(dir, base) == REPLY_OK, "nothing is there");
	(void)close(dir);
	ok(ws_parents(root, "dirlink/x", &dir, &base) == REPLY_OUTSIDE &&
		dir == -1,
	    "not through a link");
	ok(ws_parents(root, "plain/x", &dir, &base) == REPLY_NONE,
	    "nor through a file");
	ok(ws_replaceable(root, "plain") == REPLY_OK &&
		ws_replaceable(root, "link") == REPLY_OUTSIDE &&
		ws_replaceable(root, "dir") == REPLY_DIRECTORY,
	    "what may be replaced");
}

/* Swap "race" between a file and a link to one outside, for ever. */
static void
swap(void)
{

	for (;;) {
		put("t1", "mine");
		(void)rename("t1", "race");
		(void)symlink("../secret", "t2");
		(void)rename("t2", "race");
	}
}

static void
test_race(int root)
{
	uint64_t until = clock_ms() + RACE_MS;
	int fd, opened = 0, refused = 0, leaked = 0;
	enum reply rc;
	char text[8];
	pid_t pid;

	put("../secret", "SECRET");
	if ((pid = fork()) == 0)
		swap();
	while (clock_ms() < until) {
		rc = ws_open(root, "race", O_RDONLY, &fd);
		if (rc == REPLY_OK) {
			opened++;
			memset(text, 0, sizeof(text));
			(void)!read(fd, text, 6);
			leaked += strcmp(text, "SECRET") == 0;
			(void)close(fd);
		} else if (rc == REPLY_OUTSIDE) {
			refused++;
		}
	}
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	printf("# %d opened, %d refused\n", opened, refused);
	ok(opened > 0 && refused > 0, "a file and a link take turns");
	ok(leaked == 0, "what is outside is never read");
}

int
main(void)
{
	char path[] = "/tmp/satchel-ws.XXXXXX";
	int root, bad;

	if (mkdtemp(path) == NULL || chdir(path) || mkdir("w", 0755) ||
	    chdir("w") || (root = open(".", O_RDONLY | O_DIRECTORY)) == -1) {
		printf("# %s: %s\n", path, strerror(errno));
		return (1);
	}
	test_paths();
	test_escape();
	test_open(root);
	test_parents(root);
	test_race(root);
	(void)close(root);
	(void)chdir("/");

	/* Leave nothing behind. */
	bad = done_testing();
	(void)fflush(stdout);
	execlp("sh", "sh", "-c", "rm -rf \"$1\"; exit \"$2\"", "sh", path,
	    bad ? "1" : "0", NULL);
	return (1);
}
