#include <sys/stat.h>
#include <sys/wait.h>

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "io/blob.h"
#include "io/blob_walk.h"

#include "tap.h"

static char root[] = "/tmp/walk-XXXXXX";

/* "${root}/...", good until the next but one call. */
static const char *
at(const char *fmt, ...)
{
	static char buf[2][512];
	static int turn;
	char tail[256], *s = buf[turn++ % 2];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(tail, sizeof(tail), fmt, ap);
	va_end(ap);
	(void)snprintf(s, sizeof(buf[0]), "%s/%s", root, tail);
	return (s);
}

static void
put(const char *path, const char *text, time_t age)
{
	struct timespec t[2] = {{.tv_nsec = UTIME_OMIT}};
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd == -1 || write(fd, text, strlen(text)) == -1)
		abort();
	clock_gettime(CLOCK_REALTIME, &t[1]);
	t[1].tv_sec -= age;
	futimens(fd, t);
	close(fd);
}

/* What a walk came upon. */
struct found {
	struct blob_seen seen[8];
	size_t n, max;
};

static int
note(void *cookie, const struct blob_seen *seen)
{
	struct found *f = cookie;

	f->seen[f->n++] = *seen;
	return (f->n < f->max ? 0 : -1);
}

#define K1 "ab12000000000000000000000000000a"
#define K2 "ab12000000000000000000000000000b"
#define K3 "cd34000000000000000000000000000c"

static void
test_temp(struct store *S)
{
	struct found f = {.max = 8};

	ok(blob_walk_temp(S, note, &f) == BLOB_OK && f.n == 0, "no tmp/ yet");
	mkdir(at("tmp"), 0750);
	put(at("tmp/" K1), "12345", 7200);
	put(at("tmp/README"), "", 7200);
	put(at("tmp/AB12000000000000000000000000000A"), "", 7200);
	mkdir(at("tmp/" K2), 0750);
	ok(symlink("/etc/passwd", at("tmp/" K3)) == 0, "odd things in tmp/");
	ok(blob_walk_temp(S, note, &f) == BLOB_OK && f.n == 1 &&
		!strcmp(f.seen[0].key, K1),
	    "only a regular file named as a key is seen");
	ok(f.seen[0].temp && f.seen[0].bytes == 5 && f.seen[0].idle >= 7199 &&
		f.seen[0].idle < 7210,
	    "with its length and age");
	rmdir(at("tmp/" K2));
	unlink(at("tmp/" K3));
}

static void
test_shards(struct store *S)
{
	struct found f = {.max = 8};
	unsigned int i;

	mkdir(at("ab"), 0750);
	mkdir(at("ab/12"), 0750);
	mkdir(at("ab/99"), 0750);
	mkdir(at("ab/lost+found"), 0750);
	mkdir(at("cd"), 0750);
	mkdir(at("cd/34"), 0750);
	put(at("ab/12/" K1), "1", 0);
	put(at("ab/12/" K2), "22", 90000);
	put(at("ab/99/" K2), "misplaced", 90000);
	put(at("ab/12/.stamp"), "", 0);
	put(at("cd/34/" K3), "333", 0);
	put(at("ef"), "a file where a shard might be", 0);
	ok(blob_walk_shard(S, 0xab, note, &f) == BLOB_OK && f.n == 2,
	    "a shard's blobs, and not what lies where it does not belong");
	ok(!f.seen[0].temp && f.seen[0].bytes + f.seen[1].bytes == 3,
	    "with their lengths");
	for (f.n = 0, i = 0; i < BLOB_SHARDS; i++)
		if (blob_walk_shard(S, i, note, &f) != BLOB_OK)
			break;
	ok(i == BLOB_SHARDS && f.n == 3, "all shards, most of them missing");
	f.n = 0;
	f.max = 1;
	ok(blob_walk_shard(S, 0xab, note, &f) == BLOB_OK && f.n == 1,
	    "the function may end the walk");
	unlink(at("ab/99/" K2));
}

static void
test_reclaim(struct store *S)
{
	struct blob_took t;

	ok(blob_look(S, K2, &t) == BLOB_OK && t.final && !t.temp &&
		t.bytes == 2 && blob_look(S, K2, &t) == BLOB_OK && t.final,
	    "to look at a blob does not remove it");
	ok(blob_reclaim(S, K2, &t) == BLOB_OK && t.final && !t.temp &&
		t.bytes == 2,
	    "a published blob: its name and bytes");
	ok(blob_reclaim(S, K2, &t) == BLOB_OK && !t.final && !t.temp &&
		t.bytes == 0,
	    "already gone: nothing is claimed");
	unlink(at("tmp/" K1));
	ok(link(at("ab/12/" K1), at("tmp/" K1)) == 0 &&
		blob_reclaim_temp(S, K1, &t) == BLOB_OK && t.temp && !t.final &&
		t.bytes == 0,
	    "the temporary name of a published blob frees no bytes");
	ok(link(at("ab/12/" K1), at("tmp/" K1)) == 0 &&
		blob_reclaim(S, K1, &t) == BLOB_OK && t.temp && t.final &&
		t.bytes == 1,
	    "both names of one blob: its bytes once");
	mkdir(at("ab/12/" K2), 0750);
	ok(blob_reclaim(S, K2, &t) != BLOB_OK && !t.final,
	    "a directory in a blob's place stays, and is an error");
	rmdir(at("ab/12/" K2));
	put(at("tmp/" K3), "4444", 0);
	ok(blob_reclaim(S, K3, &t) == BLOB_OK && t.temp && t.final &&
		t.bytes == 7,
	    "two files under the two names: both");
}

static void
test_mark(struct store *S)
{
	uint64_t age = 99;
	unsigned int n = 99;

	ok(store_mark_get(S, &n, &age) == BLOB_GONE && n == 99, "no mark yet");
	ok(store_mark_set(S, 200) == BLOB_OK && store_mark_set(S, 7) == BLOB_OK,
	    "set twice");
	ok(store_mark_get(S, &n, &age) == BLOB_OK && n == 7 && age < 5,
	    "the last one, just now");
	put(at(".swept"), "256\n", 7200);
	ok(store_mark_get(S, &n, &age) == BLOB_OK && n == 256 && age >= 7199 &&
		age < 7205,
	    "two hours ago");
	put(at(".swept"), "", 7200);
	ok(store_mark_get(S, &n, &age) == BLOB_GONE, "cut short: none");
}

int
main(void)
{
	struct store *S;
	pid_t pid;

	if (mkdtemp(root) == NULL || (S = store_open(root)) == NULL)
		return (1);
	test_temp(S);
	test_shards(S);
	test_reclaim(S);
	test_mark(S);
	store_close(S);
	if ((pid = fork()) == 0)
		execlp("rm", "rm", "-rf", root, (char *)NULL);
	ok(pid > 0 && waitpid(pid, NULL, 0) == pid, "tidied away");
	return (done_testing());
}
