#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jail/landlock.h"
#include "jail/plain.h"

#include "tap.h"

#define DEPTH 100

/* A file of ${bytes}, which are written. */
static int
make(const char *path, size_t bytes)
{
	static char piece[65536];
	int fd;

	if ((fd = open(path, O_WRONLY | O_CREAT, 0644)) == -1)
		return (-1);
	for (; bytes > 0; bytes -= sizeof(piece))
		if (write(fd, piece, sizeof(piece)) != (ssize_t)sizeof(piece))
			break;
	return (fd);
}

static void
abis(void)
{

	ok(strcmp(landlock_lacks(0), "files") == 0, "no rules at all");
	ok(strcmp(landlock_lacks(3), "TCP") == 0, "as of Linux 6.2");
	ok(strcmp(landlock_lacks(5), "signals and abstract unix sockets") == 0,
	    "as of Linux 6.10");
	ok(landlock_lacks(6) == NULL && landlock_lacks(99) == NULL,
	    "nothing since 6.12");
}

static void
words(const struct land *land)
{
	char **w = malloc(7 * sizeof(*w));
	char want[2 * LIMITS_PATH + 64];

	if (w == NULL)
		return;
	w[0] = (char[]){"/tmp/program/code"};
	w[1] = (char[]){"-I/mnt/data"};
	w[2] = (char[]){"HOME=/mnt/data/x"};
	w[3] = (char[]){"/mnt/database"};
	w[4] = (char[]){"x/tmp/y"};
	w[5] = (char[]){""};
	w[6] = (char[]){"PYTHONPATH=/mnt/data:/tmp/program:/mnt/database"};
	if ((w = plain_words(land, w, 7)) == NULL)
		return;
	(void)snprintf(want, sizeof(want), "%s/program/code", land->tmp);
	ok(strcmp(w[0], want) == 0, "a path of /tmp");
	(void)snprintf(want, sizeof(want), "-I%s", land->work);
	ok(strcmp(w[1], want) == 0, "an option with the workspace");
	(void)snprintf(want, sizeof(want), "HOME=%s/x", land->work);
	ok(strcmp(w[2], want) == 0, "a variable");
	ok(strcmp(w[3], "/mnt/database") == 0, "another path that begins so");
	ok(strcmp(w[4], "x/tmp/y") == 0, "one that ends so");
	ok(strcmp(w[5], "") == 0, "an empty word");
	(void)snprintf(want, sizeof(want),
	    "PYTHONPATH=%s:%s/program:/mnt/database", land->work, land->tmp);
	ok(strcmp(w[6], want) == 0, "a list of paths");
	ok(w[7] == NULL, "the end");
	free(w);
}

/* Go down, by names too long for a path. */
static int
dig(void)
{
	char name[200];
	int i;

	memset(name, 'd', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	for (i = 0; i < DEPTH; i++)
		if (mkdir(name, 0700) || chdir(name))
			return (-1);
	(void)close(make("deep", 65536));
	return (i);
}

static void
trees(const struct land *land, int dir)
{
	struct plain_use use;
	struct rlimit rl;
	struct stat st;
	int fd, shut;

	plain_look(land, &use);
	ok(use.bytes == 0 && use.files == 0 && !use.odd, "nothing yet");
	if (chdir(land->work) || mkdir("shut", 0700) ||
	    (shut = make("shut/f", 65536)) == -1 || symlink("/usr", "link") ||
	    chmod("shut", 0))
		return;
	plain_look(land, &use);
	ok(use.files == 3 && use.bytes >= 65536 && use.bytes < 100000 &&
		!use.odd,
	    "what a closed directory holds, and no link followed");
	ok(stat("shut", &st) == 0 && (st.st_mode & 0777) == 0,
	    "which is closed again");
	ok(dig() == DEPTH, "deeper than a path is long");
	plain_look(land, &use);
	ok(use.files == 3 + DEPTH + 1 && !use.odd, "is seen to the end");

	plain_bound(land, use.bytes + 65536);
	if ((fd = make("more", 1 << 20)) != -1) {
		ok(lseek(fd, 0, SEEK_END) == 65536,
		    "we write no more than is left");
		(void)close(fd);
	}
	if (getrlimit(RLIMIT_FSIZE, &rl) == 0) {
		rl.rlim_cur = rl.rlim_max;
		(void)setrlimit(RLIMIT_FSIZE, &rl);
	}
	ok(dig() == DEPTH && dig() == DEPTH, "three times as deep");
	plain_look(land, &use);
	ok(use.odd, "cannot be looked at, which is told");
	(void)close(shut);
	if (fchdir(dir))
		return;
	plain_remove(dir);
	ok(access(land->work, F_OK) == -1 && access(land->tmp, F_OK) == -1,
	    "all of it is removed");
	plain_remove(dir); /* What is not there is no matter. */
}

int
main(void)
{
	char path[] = "/tmp/satchel-plain.XXXXXX";
	struct ns_fail f = {0};
	struct land land;
	int dir, lock;

	abis();
	if (landlock_lacks(landlock_abi()) != NULL) {
		fprintf(stderr,
		    "# not run: the kernel lacks Landlock ABI 6 "
		    "(Linux 6.12)\n");
		return (done_testing());
	}
	if (mkdtemp(path) == NULL ||
	    (dir = open(path, O_RDONLY | O_DIRECTORY)) == -1 ||
	    (lock = openat(dir, "lock", O_RDWR | O_CREAT, 0600)) == -1 ||
	    plain_make(lock, &land, &f))
		return (1);

	/* Only what we may signal is ours to look at. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || landlock_apart(&f))
		return (1);
	words(&land);
	trees(&land, dir);
	(void)unlinkat(dir, "lock", 0);
	ok(rmdir(path) == 0, "nothing is left");
	return (done_testing());
}
