#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

#include "io/store.h"

/* How long the root's path is believed to mean the same directory. */
#define CHECK_MS 1000

/* What an errno says about the store; those not here are BLOB_FAIL. */
static const struct {
	int err;
	enum blob_rc rc;
} meanings[] = {
    {ENOSPC, BLOB_FULL},
    {EDQUOT, BLOB_FULL},
    {EFBIG, BLOB_FULL},
    {EROFS, BLOB_AWAY},
    {EIO, BLOB_AWAY},
    {ENOENT, BLOB_AWAY},
    {EACCES, BLOB_AWAY},
    {EPERM, BLOB_AWAY},
    {ESTALE, BLOB_AWAY},
    {ENOTDIR, BLOB_AWAY},
    {ENODEV, BLOB_AWAY},
    {ENXIO, BLOB_AWAY},
    {ENOTCONN, BLOB_AWAY}, /* A FUSE server that died. */
    {ECONNABORTED, BLOB_AWAY},
    {ECONNREFUSED, BLOB_AWAY},
    {ETIMEDOUT, BLOB_AWAY},
    {EHOSTDOWN, BLOB_AWAY},
    {EHOSTUNREACH, BLOB_AWAY},
    {ESHUTDOWN, BLOB_AWAY},
    {EREMOTEIO, BLOB_AWAY},
};

struct store *
store_open(const char *root)
{
	struct store *S;

	if ((S = calloc(1, sizeof(*S))) == NULL)
		goto err0;
	if (snprintf(S->root, sizeof(S->root), "%s", root) >=
	    (int)sizeof(S->root))
		goto err1;
	if (pthread_mutex_init(&S->lock, NULL))
		goto err1;
	S->fd = -1;

	/* Success! */
	return (S);

err1:
	free(S);
err0:
	/* Failure! */
	return (NULL);
}

void
store_close(struct store *S)
{

	if (S == NULL)
		return;
	if (S->fd != -1)
		close(S->fd);
	pthread_mutex_destroy(&S->lock);
	free(S);
}

/*
 * Put the directory that the root's path means now behind S->fd; but a wrong
 * one not even for a moment, because threads write by it.
 */
static int
adopt(struct store *S)
{
	size_t i;
	int fd;

	if ((fd = open(S->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1)
		return (-1);
	if (store_mark_check(S, fd)) {
		close(fd);
		return (-1);
	}
	if (S->fd == -1) {
		S->fd = fd;
	} else {
		if (dup3(fd, S->fd, O_CLOEXEC) == -1) {
			close(fd);
			return (-1);
		}
		close(fd);
	}

	/* What was learnt, was learnt of another filesystem. */
	S->how = PUBLISH_LINK;
	S->nodirsync = 0;
	for (i = 0; i < sizeof(S->made) / sizeof(S->made[0]); i++)
		S->made[i] = 0;
	return (0);
}

/* Compare descriptor and path.  0: the same; 1: replaced; -1: no root. */
static int
check(struct store *S, uint64_t now)
{
	struct stat a, b;
	int rc = -1;

	if (stat(S->root, &a))
		goto done;
	if (S->fd == -1 || fstat(S->fd, &b) || a.st_dev != b.st_dev ||
	    a.st_ino != b.st_ino)
		rc = adopt(S) ? -1 : 1;
	else
		rc = store_mark_check(S, S->fd);

done:
	S->checked = rc == -1 ? 0 : now;
	return (rc);
}

int
store_root(struct store *S)
{
	uint64_t now = clock_ms();
	int rc = 0;

	if (S->fd != -1 && now - S->checked < CHECK_MS)
		return (S->fd);
	pthread_mutex_lock(&S->lock);
	if (S->fd == -1 || now - S->checked >= CHECK_MS)
		rc = check(S, now);
	pthread_mutex_unlock(&S->lock);
	return (rc == -1 ? -1 : S->fd);
}

int
store_moved(struct store *S)
{
	int e = errno, rc;

	if (e != ENOENT && e != ESTALE)
		return (0);
	pthread_mutex_lock(&S->lock);
	rc = check(S, clock_ms());
	pthread_mutex_unlock(&S->lock);
	errno = rc == -1 ? ENODEV : e;
	return (rc == 1);
}

enum blob_rc
store_fail(const struct store *S, const char *what, const char *key)
{
	int e = errno;
	size_t i;

	log_err("store %s: %s %s: %s", S->root, what, key, strerror(e));
	for (i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++)
		if (meanings[i].err == e)
			return (meanings[i].rc);
	return (BLOB_FAIL);
}

int
store_temp_path(const char *key, char path[static BLOB_PATHMAX])
{
	char final[BLOB_PATHMAX];

	if (blob_path(key, final)) {
		errno = EINVAL;
		return (-1);
	}
	(void)snprintf(path, BLOB_PATHMAX, TMP_DIR "/%s", key);
	return (0);
}

/*
 * An operator who looks at the store as root must not leave behind directories
 * that the workers cannot use: they belong to whom the root belongs.
 */
int
store_mkdir(int root, const char *path)
{
	struct stat sb;

	if (mkdirat(root, path, 0750))
		return (errno == EEXIST ? 0 : -1);
	if (geteuid() == 0 && fstat(root, &sb) == 0 && sb.st_uid != 0)
		(void)fchownat(
		    root, path, sb.st_uid, sb.st_gid, AT_SYMLINK_NOFOLLOW);
	return (0);
}

int
store_temp(int root, const char *key, int *fd)
{
	const int how = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	char path[BLOB_PATHMAX];

	if (store_temp_path(key, path))
		return (-1);
	if ((*fd = openat(root, path, how, 0600)) != -1)
		return (0);
	if (errno != ENOENT || store_mkdir(root, TMP_DIR))
		return (-1);
	return ((*fd = openat(root, path, how, 0600)) == -1 ? -1 : 0);
}

int
store_sync_dir(struct store *S, int root, const char *path)
{
	int fd, rc, e;

	if (S->nodirsync)
		return (0);
	if ((fd = openat(root, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1)
		return (-1);
	while ((rc = fsync(fd)) == -1 && errno == EINTR)
		continue;
	e = errno;
	close(fd);
	errno = e;
	if (rc == 0)
		return (0);
	switch (e) {
	case EINVAL:
	case ENOSYS:
	case EOPNOTSUPP:
	case ENOTTY:
		S->nodirsync = 1;
		return (0);
	}
	return (-1);
}

/*
 * Touching the directory makes the server stamp it with its own time.  That
 * needs no space, so age can be judged on a full store too.
 */
int
store_clock(int root, int64_t *ms)
{
	struct stat sb;

	if (utimensat(root, TMP_DIR, NULL, 0)) {
		if (errno != ENOENT || store_mkdir(root, TMP_DIR) ||
		    utimensat(root, TMP_DIR, NULL, 0))
			return (-1);
	}
	if (fstatat(root, TMP_DIR, &sb, 0))
		return (-1);
	*ms = (int64_t)sb.st_mtim.tv_sec * 1000 + sb.st_mtim.tv_nsec / 1000000;
	return (0);
}

enum blob_rc
store_ready(struct store *S)
{
	char key[BLOB_KEYLEN + 1], path[BLOB_PATHMAX];
	enum blob_rc rc = BLOB_OK;
	int root, fd;

	if (blob_key(key) || store_temp_path(key, path))
		return (BLOB_FAIL);
	if ((root = store_root(S)) == -1)
		return (store_fail(S, "open the root of", key));
	if (store_temp(root, key, &fd))
		return (store_fail(S, "create", key));

	/* An empty file can often be made where there is no room for a byte. */
	if (write(fd, "", 1) != 1)
		rc = store_fail(S, "write", key);
	if (close(fd) && rc == BLOB_OK)
		rc = store_fail(S, "close", key);
	if (unlinkat(root, path, 0) && rc == BLOB_OK)
		rc = store_fail(S, "remove", key);
	return (rc);
}
