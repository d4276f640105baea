#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/blob.h"
#include "io/blob_probe.h"

#include "tap.h"

/*
 * The calls that filesystems differ in, so that this one can be made to behave
 * like another.  A count of calls proves that they were made.
 */
static struct {
	int link, noreplace, rename, filesync,
	    dirsync;  /* errno to fail with. */
	size_t piece; /* Short writes. */
	_Atomic int dirsyncs, filesyncs, links, late_link; /* Counts. */
} fs;

int
fsync(int fd)
{
	struct stat sb;

	if (fstat(fd, &sb) == 0 && S_ISDIR(sb.st_mode)) {
		fs.dirsyncs++;
		errno = fs.dirsync;
	} else {
		fs.filesyncs++;
		fs.late_link += fs.links > 0;
		errno = fs.filesync;
	}
	return (errno ? -1 : (int)syscall(SYS_fsync, fd));
}

int
linkat(int a, const char *from, int b, const char *to, int flags)
{

	fs.links++;
	if ((errno = fs.link) != 0)
		return (-1);
	return ((int)syscall(SYS_linkat, a, from, b, to, flags));
}

int
renameat2(int a, const char *from, int b, const char *to, unsigned int flags)
{

	if ((errno = fs.noreplace) != 0)
		return (-1);
	return ((int)syscall(SYS_renameat2, a, from, b, to, flags));
}

int
renameat(int a, const char *from, int b, const char *to)
{

	if ((errno = fs.rename) != 0)
		return (-1);
	return ((int)syscall(SYS_renameat2, a, from, b, to, 0));
}

ssize_t
write(int fd, const void *p, size_t len)
{

	if (fs.piece != 0 && len > fs.piece)
		len = fs.piece;
	return (syscall(SYS_write, fd, p, len));
}

static char root[] = "/tmp/blob-XXXXXX";
static char *at_buf[4];

/* "${root}/..." */
static const char *
at(const char *fmt, ...)
{
	static int turn;
	char tail[256], **s = &at_buf[turn++ % 4];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(tail, sizeof(tail), fmt, ap);
	va_end(ap);
	free(*s);
	if (asprintf(s, "%s/%s", root, tail) == -1)
		abort();
	return (*s);
}

static const char *
final_of(const char *key)
{
	char path[BLOB_PATHMAX];

	return (blob_path(key, path) ? "" : at("%s", path));
}

static int
there(const char *path)
{
	struct stat sb;

	return (lstat(path, &sb) == 0);
}

static int
mode(const char *path)
{
	struct stat sb;

	return (lstat(path, &sb) ? -1 : (int)(sb.st_mode & 07777));
}

/* Make the blob ${key} with the bytes of ${text}. */
static enum blob_rc
make(struct store *S, const char *key, const char *text)
{
	struct blob *B;
	enum blob_rc rc;

	if ((rc = blob_new(S, key, 1 << 20, &B)) != BLOB_OK)
		return (rc);
	if ((rc = blob_write(B, text, strlen(text))) != BLOB_OK) {
		blob_abort(B);
		return (rc);
	}
	return (blob_commit(B));
}

/* Is the blob ${key} there with the bytes of ${text}? */
static int
holds(struct store *S, const char *key, const char *text)
{
	char buf[64];
	uint64_t n;
	ssize_t got;
	int fd;

	if (blob_open(S, key, &n, &fd) != BLOB_OK)
		return (0);
	got = read(fd, buf, sizeof(buf));
	close(fd);
	return (n == strlen(text) && got == (ssize_t)n &&
	    memcmp(buf, text, n) == 0);
}

static void
test_life(struct store *S)
{
	char key[BLOB_KEYLEN + 1], other[BLOB_KEYLEN + 1], path[BLOB_PATHMAX];
	char want[BLOB_PATHMAX];
	struct blob *B;
	uint64_t n = 99;
	int fd = -7;

	ok(blob_new(S, "0123456789abcdef0123456789abcdef", 1, &B) == BLOB_AWAY,
	    "no root yet: the store is away");
	ok(store_ready(S) == BLOB_AWAY, "and not ready");
	ok(blob_open(S, "0123456789abcdef0123456789abcdef", &n, &fd) ==
		BLOB_AWAY,
	    "nor are its blobs said to be gone");
	ok(blob_remove(S, "0123456789abcdef0123456789abcdef") == BLOB_AWAY,
	    "nor taken for removed");
	ok(mkdir(root, 0750) == 0 && store_ready(S) == BLOB_OK,
	    "ready as soon as the root is there");
	ok(mode(at("tmp")) == 0750, "tmp/ made on demand, mode 0750");

	ok(blob_key(key) == 0 && blob_key(other) == 0 &&
		strlen(key) == BLOB_KEYLEN && strcmp(key, other) != 0,
	    "two keys differ");
	snprintf(want, sizeof(want), "%.2s/%.2s/%s", key, key + 2, key);
	ok(blob_path(key, path) == 0 && !strcmp(path, want),
	    "the path has two levels of the key's digits");

	ok(blob_new(S, key, 5, &B) == BLOB_OK, "begin");
	ok(mode(at("tmp/%s", key)) == 0600, "unfinished: mode 0600");
	ok(blob_write(B, "abc", 3) == BLOB_OK, "three bytes of five");
	ok(blob_write(B, "def", 3) == BLOB_TOO_BIG, "six of five");
	ok(!there(final_of(key)), "nothing under the final name");
	blob_abort(B);
	ok(!there(at("tmp/%s", key)), "abort removes the temporary name");
	ok(blob_open(S, key, &n, &fd) == BLOB_GONE && n == 99 && fd == -7,
	    "an absent blob is gone, results untouched");

	fs.links = fs.late_link = fs.filesyncs = fs.dirsyncs = 0;
	ok(make(S, key, "hello") == BLOB_OK, "commit");
	ok(fs.filesyncs == 1 && fs.late_link == 0 && fs.links == 1,
	    "bytes synced once, before link()");
	ok(fs.dirsyncs == 3, "new shard: root, first and second level synced");
	ok(holds(S, key, "hello"), "read back");
	ok(mode(final_of(key)) == 0640, "finished: mode 0640");
	ok(mode(at("%.2s", key)) == 0750 &&
		mode(at("%.2s/%.2s", key, key + 2)) == 0750,
	    "shards: mode 0750");
	ok(!there(at("tmp/%s", key)), "the temporary name is gone");
	snprintf(other, sizeof(other), "%.4s%.28s", key,
	    "0123456789abcdef0123456789ab");
	fs.dirsyncs = 0;
	ok(make(S, other, "again") == BLOB_OK && fs.dirsyncs == 1,
	    "a shard known: only itself is synced");

	ok(make(S, key, "other") == BLOB_FAIL, "a key in use is refused");
	ok(holds(S, key, "hello") && !there(at("tmp/%s", key)),
	    "the first stays, no temporary name either");
	ok(blob_remove(S, key) == BLOB_OK && !there(final_of(key)), "remove");
	ok(blob_remove(S, key) == BLOB_OK, "already gone is removed");
	ok(blob_remove(S, other) == BLOB_OK, "the other one too");
}

static void
test_keys(struct store *S)
{
	static const char *const bad[] = {"", "..", "../../../../etc/passwd",
	    "0123456789abcdef0123456789abcde",
	    "0123456789abcdef0123456789abcdef0",
	    "0123456789ABCDEF0123456789ABCDEF",
	    "0123456789abcdef/../456789abcdef"};
	char path[BLOB_PATHMAX];
	struct blob *B;
	uint64_t n;
	size_t i;
	int fd, good = 1;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		good = good && blob_path(bad[i], path) == -1 &&
		    blob_new(S, bad[i], 1, &B) == BLOB_FAIL &&
		    blob_open(S, bad[i], &n, &fd) == BLOB_GONE &&
		    blob_remove(S, bad[i]) == BLOB_FAIL &&
		    blob_idle(S, bad[i], &n) == BLOB_GONE;
	ok(good, "what is no key touches nothing");
}

/* A store that begins anew, for what the old one has learnt. */
static enum blob_rc
probe(struct store_probe *p)
{
	struct store *S = store_open(root);
	enum blob_rc rc = store_probe(S, p);

	store_close(S);
	return (rc);
}

static void
test_publish(void)
{
	static const int no_link[] = {
	    EPERM, EOPNOTSUPP, ENOSYS, EMLINK, EXDEV, EACCES};
	struct store *S = store_open(root);
	char key[BLOB_KEYLEN + 1];
	struct store_probe p;
	size_t i;
	int good = 1;

	ok(probe(&p) == BLOB_OK && p.how == PUBLISH_LINK && p.dirsync,
	    "here link() works, and fsync() of a directory");
	ok(p.clock_ok && p.bytes_free > 0 && p.inodes_free > 0,
	    "one clock, and room");
	for (i = 0; i < sizeof(no_link) / sizeof(no_link[0]); i++) {
		fs.link = no_link[i];
		good =
		    good && probe(&p) == BLOB_OK && p.how == PUBLISH_NOREPLACE;
	}
	ok(good, "link() refused in six ways: renameat2(RENAME_NOREPLACE)");
	fs.noreplace = EINVAL;
	ok(probe(&p) == BLOB_OK && p.how == PUBLISH_RENAME,
	    "that refused too: rename()");
	fs.links = 0;
	good = 1;
	for (i = 0; i < 3; i++)
		good = good && blob_key(key) == 0 &&
		    make(S, key, "renamed") == BLOB_OK &&
		    holds(S, key, "renamed") && !there(at("tmp/%s", key));
	ok(good && fs.links == 1, "what works is remembered");
	ok(make(S, key, "second") == BLOB_FAIL && holds(S, key, "renamed"),
	    "rename() does not replace a key in use");
	fs.rename = EROFS;
	blob_key(key);
	ok(make(S, key, "x") == BLOB_AWAY && !there(at("tmp/%s", key)),
	    "none works: away, nothing left");
	fs.link = fs.noreplace = fs.rename = 0;
	fs.dirsync = EINVAL;
	ok(probe(&p) == BLOB_OK && !p.dirsync,
	    "a filesystem that cannot sync directories is used all the same");
	fs.dirsync = 0;
	store_close(S);
}

static void
test_failures(struct store *S)
{
	static const struct {
		int err;
		enum blob_rc rc;
	} row[] = {{ENOSPC, BLOB_FULL}, {EDQUOT, BLOB_FULL}, {EIO, BLOB_AWAY},
	    {EROFS, BLOB_AWAY}, {ESTALE, BLOB_AWAY}, {ENOMEM, BLOB_FAIL}};
	char key[BLOB_KEYLEN + 1];
	int *const where[] = {&fs.filesync, &fs.dirsync, &fs.link};
	size_t i, j;
	int good = 1;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		for (j = 0; j < 3; j++) {
			blob_key(key);
			*where[j] = row[i].err;
			good = good && make(S, key, "lost") == row[i].rc &&
			    !there(at("tmp/%s", key)) && !there(final_of(key));
			*where[j] = 0;
		}
	ok(good,
	    "fsync, link, fsync of the directory: each error has its "
	    "meaning and leaves nothing");
}

/* The answer to link() or rename() got lost; the repeated call finds this. */
static void
test_lost_answer(struct store *S)
{
	char key[BLOB_KEYLEN + 1];
	struct blob *B;

	blob_key(key);
	ok(make(S, key, "x") == BLOB_OK && blob_remove(S, key) == BLOB_OK,
	    "a shard to work in");
	blob_new(S, key, 9, &B);
	blob_write(B, "linked", 6);
	ok(link(at("tmp/%s", key), final_of(key)) == 0 &&
		blob_commit(B) == BLOB_OK,
	    "link() that had worked already is no error");
	ok(holds(S, key, "linked") && !there(at("tmp/%s", key)),
	    "and ends the same");
	blob_remove(S, key);
	blob_new(S, key, 9, &B);
	blob_write(B, "moved", 5);
	ok(rename(at("tmp/%s", key), final_of(key)) == 0 &&
		blob_commit(B) == BLOB_OK && holds(S, key, "moved"),
	    "nor a rename() that had");
	blob_remove(S, key);
	blob_new(S, key, 9, &B);
	blob_write(B, "swept", 5);
	ok(unlink(at("tmp/%s", key)) == 0 && blob_commit(B) == BLOB_AWAY &&
		!there(final_of(key)),
	    "an upload that was swept away does not come back");
}

static void
on_alarm(int sig)
{

	(void)sig;
}

static void
test_write(struct store *S)
{
	struct rlimit old, small = {.rlim_cur = 100000};
	static char big[3 << 20], back[3 << 20];
	char key[BLOB_KEYLEN + 1];
	struct blob *B;
	uint64_t n;
	size_t i, got = 0;
	ssize_t r;
	int fd;

	for (i = 0; i < sizeof(big); i++)
		big[i] = (char)(i * 2654435761U >> 13);
	blob_key(key);
	fs.piece = 65521;
	ok(blob_new(S, key, sizeof(big), &B) == BLOB_OK &&
		blob_write(B, big, sizeof(big)) == BLOB_OK &&
		blob_commit(B) == BLOB_OK,
	    "3 MiB in short writes");
	fs.piece = 0;
	ok(blob_open(S, key, &n, &fd) == BLOB_OK && n == sizeof(big), "open");
	while ((r = read(fd, back + got, sizeof(back) - got)) > 0)
		got += (size_t)r;
	close(fd);
	ok(got == sizeof(big) && !memcmp(big, back, got), "byte for byte");
	blob_remove(S, key);

	/* A full disk that needs no root: the limit on a file's size. */
	getrlimit(RLIMIT_FSIZE, &old);
	small.rlim_max = old.rlim_max;
	signal(SIGXFSZ, on_alarm);
	setrlimit(RLIMIT_FSIZE, &small);
	blob_new(S, key, sizeof(big), &B);
	ok(blob_write(B, big, 99999) == BLOB_OK &&
		blob_write(B, big, 2) == BLOB_FULL,
	    "no room for the last byte: full");
	blob_abort(B);
	setrlimit(RLIMIT_FSIZE, &old);
	ok(!there(at("tmp/%s", key)), "nothing left of it");
}

static void
test_root_moves(void)
{
	struct store *S = store_open(root);
	char key[BLOB_KEYLEN + 1], away[64];

	snprintf(away, sizeof(away), "%s.away", root);
	blob_key(key);
	ok(make(S, key, "old") == BLOB_OK, "a blob in the old root");
	rename(root, away);
	mkdir(root, 0750);
	usleep(1100000);
	ok(!holds(S, key, "old") && make(S, key, "new") == BLOB_OK &&
		there(final_of(key)),
	    "another directory under the root's path is noticed in a second");
	ok(blob_remove(S, key) == BLOB_OK, "and worked in");
	rmdir(at("tmp"));
	rmdir(at("%.2s/%.2s", key, key + 2));
	rmdir(at("%.2s", key));
	rmdir(root);
	rename(away, root);
	ok(holds(S, key, "old"), "a root that vanished is looked for at once");
	blob_remove(S, key);
	store_close(S);
}

static void
test_twin(struct store *S)
{
	char of[BLOB_KEYLEN + 1], key[BLOB_KEYLEN + 1], other[BLOB_KEYLEN + 1];
	struct stat a, b;

	blob_key(of);
	blob_key(key);
	blob_key(other);
	ok(blob_twin(S, key, of) == BLOB_GONE, "no blob, no twin");
	ok(blob_twin(S, key, "../etc") == BLOB_FAIL, "nor of what is no key");
	(void)make(S, of, "twice");
	ok(blob_twin(S, key, of) == BLOB_OK && holds(S, key, "twice"),
	    "a twin has the bytes");
	ok(stat(final_of(of), &a) == 0 && stat(final_of(key), &b) == 0 &&
		a.st_ino == b.st_ino && a.st_nlink == 2,
	    "which are there once, and nothing is left in tmp");
	(void)make(S, other, "other");
	ok(blob_twin(S, other, of) != BLOB_OK && holds(S, other, "other"),
	    "a name that is taken stays as it is");
	blob_remove(S, other);
	blob_remove(S, of);
	ok(holds(S, key, "twice"), "it outlives the first");
	blob_remove(S, key);
}

static void
test_idle(struct store *S)
{
	struct timespec old[2] = {{.tv_nsec = UTIME_OMIT}};
	char key[BLOB_KEYLEN + 1];
	struct blob *B;
	uint64_t s = 77;

	blob_key(key);
	ok(blob_idle(S, key, &s) == BLOB_GONE && s == 77, "no such blob");
	blob_new(S, key, 9, &B);
	ok(blob_idle(S, key, &s) == BLOB_OK && s < 5, "just begun");
	clock_gettime(CLOCK_REALTIME, &old[1]);
	old[1].tv_sec -= 7200;
	utimensat(AT_FDCWD, at("tmp/%s", key), old, 0);
	ok(blob_idle(S, key, &s) == BLOB_OK && s >= 7199 && s < 7205,
	    "last written two hours ago");
	blob_write(B, "x", 1);
	ok(blob_idle(S, key, &s) == BLOB_OK && s < 5, "a write counts");
	blob_commit(B);
	ok(blob_idle(S, key, &s) == BLOB_OK && s < 5,
	    "published but a moment ago");
	old[1].tv_sec += 72000;
	utimensat(AT_FDCWD, final_of(key), old, 0);
	ok(blob_idle(S, key, &s) == BLOB_OK && s == 0, "written tomorrow: now");
	blob_remove(S, key);
}

static void *
maker(void *cookie)
{
	struct store *S = cookie;
	char key[BLOB_KEYLEN + 1];
	long bad = 0;
	int i;

	for (i = 0; i < 40; i++)
		bad += blob_key(key) || make(S, key, key) != BLOB_OK ||
		    !holds(S, key, key) || blob_remove(S, key) != BLOB_OK;
	return ((void *)bad);
}

static void
test_threads(void)
{
	struct store *S = store_open(root);
	pthread_t t[4];
	void *bad;
	long sum = 0;
	int i;

	for (i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, maker, S);
	for (i = 0; i < 4; i++) {
		pthread_join(t[i], &bad);
		sum += (long)bad;
	}
	ok(sum == 0, "four threads, forty blobs each");
	store_close(S);
}

static void
test_odd_files(struct store *S)
{
	char key[BLOB_KEYLEN + 1];
	uint64_t n;
	int fd;

	blob_key(key);
	make(S, key, "x");
	unlink(final_of(key));
	ok(symlink("/etc/passwd", final_of(key)) == 0 &&
		blob_open(S, key, &n, &fd) == BLOB_FAIL,
	    "a symbolic link is not followed");
	ok(blob_remove(S, key) == BLOB_OK && !there(final_of(key)),
	    "only removed");
	ok(mkfifo(final_of(key), 0600) == 0 &&
		blob_open(S, key, &n, &fd) == BLOB_FAIL,
	    "a pipe is no blob, and nobody waits for it");
	unlink(final_of(key));
}

int
main(void)
{
	struct store *S;
	pid_t pid;
	int i;

	umask(022);
	if (mkdtemp(root) == NULL || rmdir(root))
		return (1);
	ok((S = store_open(root)) != NULL, "open");
	test_life(S);
	test_keys(S);
	test_publish();
	test_failures(S);
	test_lost_answer(S);
	test_write(S);
	test_root_moves();
	test_twin(S);
	test_idle(S);
	test_odd_files(S);
	fs.link = fs.noreplace = fs.rename = 0;
	test_threads();
	store_close(S);
	store_close(NULL);
	blob_abort(NULL);
	ok(rmdir(at("tmp")) == 0, "tmp/ is empty at the end");
	if ((pid = fork()) == 0)
		execlp("rm", "rm", "-rf", root, (char *)NULL);
	ok(pid > 0 && waitpid(pid, NULL, 0) == pid, "tidied away");
	for (i = 0; i < 4; i++)
		free(at_buf[i]);
	return (done_testing());
}
