#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/id.h"
#include "base/log.h"

#include "io/blob_walk.h"
#include "io/fault.h"
#include "io/store.h"

/*
 * The disk is told to begin on each stretch of this many bytes as it arrives,
 * so that the fsync() at the end of a big upload finds little left to do.
 */
#define STRETCH (16 << 20)

/* The names that a removal is to look for. */
#define NAME_TEMP 1
#define NAME_FINAL 2

struct blob {
	struct store *S;
	int fd;
	uint64_t left;  /* Bytes we may still take. */
	uint64_t bytes; /* Bytes written. */
	uint64_t told;  /* Of them, those the disk was told of. */
	char key[BLOB_KEYLEN + 1];
};

int
blob_key(char key[static BLOB_KEYLEN + 1])
{

	return (id_hex(key, BLOB_KEYLEN));
}

int
blob_path(const char *key, char path[static BLOB_PATHMAX])
{

	if (strlen(key) != BLOB_KEYLEN ||
	    strspn(key, "0123456789abcdef") != BLOB_KEYLEN)
		return (-1);
	(void)snprintf(path, BLOB_PATHMAX, "%.2s/%.2s/%s", key, key + 2, key);
	return (0);
}

enum blob_rc
blob_new(struct store *S, const char *key, uint64_t max, struct blob **Bp)
{
	struct blob *B;
	int root, tries = 0;

	if ((B = calloc(1, sizeof(*B))) == NULL)
		return (store_fail(S, "begin", key));
	B->S = S;
	B->left = max;
	(void)snprintf(B->key, sizeof(B->key), "%s", key);
	do {
		if ((root = store_root(S)) != -1 &&
		    store_temp(root, key, &B->fd) == 0) {
			*Bp = B;
			return (BLOB_OK);
		}
	} while (tries++ == 0 && store_moved(S));
	free(B);
	return (store_fail(S, "create", key));
}

enum blob_rc
blob_write(struct blob *B, const void *buf, size_t len)
{
	const char *p = buf;
	ssize_t n;

	if (len > B->left)
		return (BLOB_TOO_BIG);
	B->left -= len;
	while (len > 0) {
		if ((n = write(B->fd, p, len)) == -1) {
			if (errno == EINTR)
				continue;
			return (store_fail(B->S, "write", B->key));
		}
		p += n;
		len -= (size_t)n;
		B->bytes += (uint64_t)n;
	}
	if (B->bytes - B->told >= STRETCH) {
		(void)sync_file_range(B->fd, (off_t)B->told,
		    (off_t)(B->bytes - B->told), SYNC_FILE_RANGE_WRITE);
		B->told = B->bytes;
	}
	return (BLOB_OK);
}

/* Bytes to stable storage, descriptor closed: each may tell of a full disk. */
static enum blob_rc
finish(struct blob *B)
{
	enum blob_rc rc = BLOB_OK;
	int r;

	/* Not all filesystems have modes. */
	(void)fchmod(B->fd, BLOB_MODE);
	while ((r = fsync(B->fd)) == -1 && errno == EINTR)
		continue;
	if (fault("sync-enospc")) {
		errno = ENOSPC;
		r = -1;
	}
	if (r == -1)
		rc = store_fail(B->S, "sync", B->key);

	/* Linux has closed it after EINTR too, and it was synced. */
	r = close(B->fd);
	B->fd = -1;
	if (fault("close-edquot")) {
		errno = EDQUOT;
		r = -1;
	}
	if (r == -1 && errno != EINTR && rc == BLOB_OK)
		rc = store_fail(B->S, "close", B->key);
	return (rc);
}

enum blob_rc
blob_commit(struct blob *B)
{
	enum blob_rc rc;
	int root;

	if ((rc = finish(B)) == BLOB_OK &&
	    ((root = store_root(B->S)) == -1 || publish(B->S, root, B->key)))
		rc = store_fail(B->S, "publish", B->key);
	if (rc == BLOB_OK)
		free(B);
	else
		blob_abort(B);
	return (rc);
}

enum blob_rc
blob_twin(struct store *S, const char *key, const char *of)
{
	char from[BLOB_PATHMAX], tmp[BLOB_PATHMAX];
	int root;

	if (blob_path(of, from) || store_temp_path(key, tmp))
		return (BLOB_FAIL);
	if ((root = store_root(S)) == -1)
		return (BLOB_AWAY);
	if (linkat(root, from, root, tmp, 0))
		return (errno == ENOENT ? BLOB_GONE : BLOB_FAIL);
	if (publish(S, root, key)) {
		(void)unlinkat(root, tmp, 0);
		return (BLOB_FAIL);
	}
	return (BLOB_OK);
}

void
blob_abort(struct blob *B)
{
	char path[BLOB_PATHMAX];
	int root;

	if (B == NULL)
		return;
	if (B->fd != -1)
		close(B->fd);

	/* Also where the root has just been found to be away: what was written
	 * is behind the descriptor that is still open, and nowhere else. */
	if ((root = store_root(B->S)) == -1)
		root = B->S->fd;
	if (root != -1 && store_temp_path(B->key, path) == 0)
		(void)unlinkat(root, path, 0);
	free(B);
}

enum blob_rc
blob_open(struct store *S, const char *key, uint64_t *bytes, int *fdp)
{
	const int how = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
	char path[BLOB_PATHMAX];
	enum blob_rc rc = BLOB_FAIL;
	struct stat sb;
	int root, fd = -1, tries = 0;

	if (blob_path(key, path))
		return (BLOB_GONE);
	do {
		if ((root = store_root(S)) == -1)
			return (store_fail(S, "open the root of", key));
		fd = openat(root, path, how);
	} while (fd == -1 && tries++ == 0 && store_moved(S));
	if (fd == -1)
		return (
		    errno == ENOENT ? BLOB_GONE : store_fail(S, "open", key));
	if (fstat(fd, &sb)) {
		rc = store_fail(S, "stat", key);
		goto err1;
	}
	if (!S_ISREG(sb.st_mode)) {
		log_err("store: %s is no regular file", key);
		goto err1;
	}
	*bytes = (uint64_t)sb.st_size;
	*fdp = fd;

	/* Success! */
	return (BLOB_OK);

err1:
	/* Failure! */
	close(fd);
	return (rc);
}

enum blob_rc
blob_named(const struct store *S, const char *key)
{
	char path[BLOB_PATHMAX], whole[2 * BLOB_PATHMAX];

	if (blob_path(key, path))
		return (BLOB_AWAY);
	(void)snprintf(whole, sizeof(whole), "%s/%s", S->root, path);
	if (access(whole, F_OK) == 0)
		return (BLOB_OK);
	log_err("store %s: no longer leads to %s: %s", S->root, key,
	    strerror(errno));
	return (BLOB_AWAY);
}

/* Count ${path} in ${n} and ${bytes} if it is there, and ${remove} it. */
static int
take(int root, const char *path, int remove, int *n, uint64_t *bytes)
{
	struct stat sb;

	if (fstatat(root, path, &sb, AT_SYMLINK_NOFOLLOW) ||
	    (remove && unlinkat(root, path, 0)))
		return (errno == ENOENT ? 0 : -1);
	*n = 1;

	/* A name that is left keeps the bytes. */
	if (sb.st_nlink < 2 || !remove)
		*bytes += (uint64_t)sb.st_size;
	return (0);
}

/*
 * The temporary name goes first: a writer that publishes it meanwhile either
 * comes too late, or leaves the final name for us to find.
 */
static enum blob_rc
each_name(struct store *S, const char *key, int names, int remove,
    struct blob_took *t)
{
	char temp[BLOB_PATHMAX], final[BLOB_PATHMAX];
	int root;

	memset(t, 0, sizeof(*t));
	if ((root = store_root(S)) == -1 || store_temp_path(key, temp) ||
	    blob_path(key, final) ||
	    ((names & NAME_TEMP) &&
		take(root, temp, remove, &t->temp, &t->bytes)) ||
	    ((names & NAME_FINAL) &&
		take(root, final, remove, &t->final, &t->bytes)))
		return (store_fail(S, remove ? "remove" : "look at", key));
	return (BLOB_OK);
}

enum blob_rc
blob_reclaim(struct store *S, const char *key, struct blob_took *t)
{

	return (each_name(S, key, NAME_TEMP | NAME_FINAL, 1, t));
}

enum blob_rc
blob_reclaim_temp(struct store *S, const char *key, struct blob_took *t)
{

	return (each_name(S, key, NAME_TEMP, 1, t));
}

enum blob_rc
blob_reclaim_final(struct store *S, const char *key, struct blob_took *t)
{

	return (each_name(S, key, NAME_FINAL, 1, t));
}

enum blob_rc
blob_look(struct store *S, const char *key, struct blob_took *t)
{

	return (each_name(S, key, NAME_TEMP | NAME_FINAL, 0, t));
}

enum blob_rc
blob_remove(struct store *S, const char *key)
{
	struct blob_took t;

	return (blob_reclaim(S, key, &t));
}

enum blob_rc
blob_idle(struct store *S, const char *key, uint64_t *seconds)
{
	char path[2][BLOB_PATHMAX];
	struct stat sb;
	int64_t now, then;
	int root, fd, i;

	if (store_temp_path(key, path[0]) || blob_path(key, path[1]))
		return (BLOB_GONE);
	if ((root = store_root(S)) == -1 || store_clock(root, &now))
		return (store_fail(S, "tell the time for", key));

	/* Opening it makes a network filesystem ask its server anew. */
	for (i = 0, fd = -1; i < 2 && fd == -1; i++)
		fd = openat(root, path[i],
		    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd == -1)
		return (
		    errno == ENOENT ? BLOB_GONE : store_fail(S, "open", key));
	if (fstat(fd, &sb)) {
		close(fd);
		return (store_fail(S, "stat", key));
	}
	close(fd);
	then = (int64_t)sb.st_mtim.tv_sec * 1000 + sb.st_mtim.tv_nsec / 1000000;
	*seconds = now > then ? (uint64_t)(now - then) / 1000 : 0;
	return (BLOB_OK);
}
