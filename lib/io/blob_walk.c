#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"

#include "io/blob_walk.h"
#include "io/store.h"

#define MARK ".swept"

/* One walk. */
struct walk {
	int64_t now; /* By the file server, in Unix ms. */
	int temp;
	blob_each *fn;
	void *cookie;
};

/* One entry of the directory ${dir}: 0 go on, 1 stop, -1 failed. */
typedef int entry(struct walk *, int dir, const char *name, const char *pre);

/* Call ${fn} for each entry of ${name} beneath ${at}, which may be missing. */
static int
each_entry(struct walk *w, int at, const char *name, const char *pre, entry *fn)
{
	struct dirent *d;
	DIR *dir;
	int fd, rc = 0, e;

	if ((fd = openat(at, name,
		 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) == -1)
		return (errno == ENOENT || errno == ENOTDIR ? 0 : -1);
	if ((dir = fdopendir(fd)) == NULL) {
		e = errno;
		close(fd);
		errno = e;
		return (-1);
	}
	while (errno = 0, rc == 0 && (d = readdir(dir)) != NULL)
		rc = fn(w, fd, d->d_name, pre);
	if (rc == 0 && errno != 0)
		rc = -1;
	e = errno;
	closedir(dir);
	errno = e;
	return (rc);
}

static int
file_entry(struct walk *w, int dir, const char *name, const char *pre)
{
	char path[BLOB_PATHMAX];
	struct blob_seen seen;
	struct stat sb;
	int64_t then;

	if (blob_path(name, path) || strncmp(path, pre, strlen(pre)) != 0)
		return (0);
	if (fstatat(dir, name, &sb, AT_SYMLINK_NOFOLLOW))
		return (errno == ENOENT ? 0 : -1);
	if (!S_ISREG(sb.st_mode))
		return (0);
	(void)snprintf(seen.key, sizeof(seen.key), "%s", name);
	seen.temp = w->temp;
	seen.bytes = (uint64_t)sb.st_size;
	then = (int64_t)sb.st_mtim.tv_sec * 1000 + sb.st_mtim.tv_nsec / 1000000;
	seen.idle = w->now > then ? (uint64_t)(w->now - then) / 1000 : 0;
	return (w->fn(w->cookie, &seen) ? 1 : 0);
}

static int
shard_entry(struct walk *w, int dir, const char *name, const char *pre)
{
	char both[8];

	if (strlen(name) != 2 || strspn(name, "0123456789abcdef") != 2)
		return (0);
	(void)snprintf(both, sizeof(both), "%.2s/%.2s/", pre, name);
	return (each_entry(w, dir, name, both, file_entry));
}

static enum blob_rc
walk(struct store *S, struct walk *w, const char *dir, entry *fn)
{
	int root;

	if ((root = store_root(S)) == -1 || store_clock(root, &w->now) ||
	    each_entry(w, root, dir, w->temp ? "" : dir, fn) == -1)
		return (store_fail(S, "walk", dir));
	return (BLOB_OK);
}

enum blob_rc
blob_walk_temp(struct store *S, blob_each *fn, void *cookie)
{
	struct walk w = {.temp = 1, .fn = fn, .cookie = cookie};

	return (walk(S, &w, TMP_DIR, file_entry));
}

enum blob_rc
blob_walk_shard(struct store *S, unsigned int n, blob_each *fn, void *cookie)
{
	struct walk w = {.temp = 0, .fn = fn, .cookie = cookie};
	char dir[3];

	(void)snprintf(dir, sizeof(dir), "%02x", n % BLOB_SHARDS);
	return (walk(S, &w, dir, shard_entry));
}

enum blob_rc
store_mark_get(struct store *S, unsigned int *n, uint64_t *age)
{
	char text[16] = "";
	struct stat sb;
	int64_t now;
	uint64_t x;
	int root, fd, bad;

	if ((root = store_root(S)) == -1 || store_clock(root, &now))
		return (store_fail(S, "tell the time for", MARK));
	if ((fd = openat(root, MARK, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)) == -1)
		return (
		    errno == ENOENT ? BLOB_GONE : store_fail(S, "open", MARK));
	bad = fstat(fd, &sb) || read(fd, text, sizeof(text) - 1) == -1;
	if (close(fd) || bad)
		return (store_fail(S, "read", MARK));

	/* One that was cut short by a crash is none. */
	text[strcspn(text, "\n")] = '\0';
	if (num_u64(text, 0, UINT32_MAX, &x))
		return (BLOB_GONE);
	*n = (unsigned int)x;
	*age = now / 1000 > sb.st_mtim.tv_sec
	    ? (uint64_t)(now / 1000 - sb.st_mtim.tv_sec)
	    : 0;
	return (BLOB_OK);
}

enum blob_rc
store_mark_set(struct store *S, unsigned int n)
{
	const int how = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
	int root, fd, bad;

	if ((root = store_root(S)) == -1)
		return (store_fail(S, "open the root of", MARK));

	/* The old one may be another account's; two at once may be two's. */
	(void)unlinkat(root, MARK, 0);
	if ((fd = openat(root, MARK, how, 0640)) == -1)
		return (
		    errno == EEXIST ? BLOB_OK : store_fail(S, "open", MARK));
	bad = dprintf(fd, "%u\n", n) < 0;
	if (close(fd) || bad)
		return (store_fail(S, "write", MARK));
	return (BLOB_OK);
}
