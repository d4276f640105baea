#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/fault.h"
#include "io/store.h"

/* A directory so much older than a file was synced by its maker or by time. */
#define SETTLED_S 3600

static int
as_link(int root, const char *from, const char *to)
{

	return (linkat(root, from, root, to, 0));
}

static int
as_noreplace(int root, const char *from, const char *to)
{

	return (renameat2(root, from, root, to, RENAME_NOREPLACE));
}

/* The name is random and fresh, so that looking first is enough. */
static int
as_rename(int root, const char *from, const char *to)
{
	struct stat sb;

	if (fstatat(root, to, &sb, AT_SYMLINK_NOFOLLOW) == 0) {
		errno = EEXIST;
		return (-1);
	}
	return (renameat(root, from, root, to));
}

/* clang-format off */
static const struct {
	const char *name;
	int (*move)(int, const char *, const char *);
} ways[] = {
	[PUBLISH_LINK]      = { "link",      as_link },
	[PUBLISH_NOREPLACE] = { "noreplace", as_noreplace },
	[PUBLISH_RENAME]    = { "rename",    as_rename },
};
/* clang-format on */

const char *
publish_name(enum publish how)
{

	return (ways[how].name);
}

/*
 * Did the move happen all the same?  A network filesystem that loses an answer
 * repeats the call, and then finds its own work in the way.
 */
static int
happened(int root, const char *from, const char *to)
{
	struct stat a, b;

	if (fstatat(root, to, &b, AT_SYMLINK_NOFOLLOW))
		return (0);
	if (fstatat(root, from, &a, AT_SYMLINK_NOFOLLOW))
		return (errno == ENOENT);
	return (a.st_dev == b.st_dev && a.st_ino == b.st_ino);
}

/* Move in the manner of ${how}.  1: this filesystem refuses that manner. */
static int
publish_as(enum publish how, int root, const char *from, const char *to)
{
	int e;

	if (ways[how].move(root, from, to) == 0)
		return (0);
	e = errno;
	if ((e == EEXIST || e == ENOENT) && happened(root, from, to))
		return (0);
	errno = e;
	switch (e) {
	case EPERM:
	case EACCES:
	case EOPNOTSUPP:
	case ENOSYS:
	case EMLINK:
	case EXDEV:
	case EINVAL:
		return (how == PUBLISH_RENAME ? -1 : 1);
	}
	return (-1);
}

/* Is the entry of the directory ${dir} surely on stable storage by now? */
static int
settled(int root, const char *dir, const char *tmp)
{
	struct statx d, f;

	if (statx(root, dir, 0, STATX_BTIME, &d) ||
	    statx(root, tmp, 0, STATX_MTIME, &f) || !(d.stx_mask & STATX_BTIME))
		return (0);
	return (d.stx_btime.tv_sec + SETTLED_S < f.stx_mtime.tv_sec);
}

/* Make the two directories above ${final}, and their entries durable. */
static int
make_shard(struct store *S, int root, const char *tmp, const char *final)
{
	char dir[SHARD_PATHLEN];
	size_t len;

	for (len = 2; len < SHARD_PATHLEN; len += 3) {
		(void)snprintf(dir, sizeof(dir), "%.*s", (int)len, final);
		if (store_mkdir(root, dir))
			return (-1);
		if (settled(root, dir, tmp))
			continue;
		dir[2] = '\0';
		if (store_sync_dir(S, root, len == 2 ? "." : dir))
			return (-1);
	}
	return (0);
}

/* The word and the bit of S->made for the shard of ${final}. */
static _Atomic uint32_t *
made_bit(struct store *S, const char *final, uint32_t *bit)
{
	char hex[5] = {final[0], final[1], final[3], final[4], '\0'};
	unsigned long n = strtoul(hex, NULL, 16) & 0xffff;

	*bit = (uint32_t)1 << (n % 32);
	return (&S->made[n / 32]);
}

/* Move in the best way that works, and remember which. */
static int
move(struct store *S, int root, const char *tmp, const char *final)
{
	enum publish how;
	int rc = 1;

	for (how = (enum publish)S->how; rc == 1; how++) {
		if ((rc = publish_as(how, root, tmp, final)) == 0)
			S->how = (int)how;
	}
	return (rc);
}

int
publish(struct store *S, int root, const char *key)
{
	char tmp[BLOB_PATHMAX], final[BLOB_PATHMAX], dir[SHARD_PATHLEN];
	_Atomic uint32_t *word;
	uint32_t bit;
	int e;

	if (store_temp_path(key, tmp) || blob_path(key, final))
		goto err0;
	word = made_bit(S, final, &bit);
	if (!(*word & bit) && make_shard(S, root, tmp, final))
		goto err0;
	if (move(S, root, tmp, final)) {
		/* Somebody may have tidied the directory away. */
		if (errno != ENOENT || make_shard(S, root, tmp, final) ||
		    move(S, root, tmp, final))
			goto err0;
	}
	fault_kill("kill-moved");
	(void)snprintf(dir, sizeof(dir), "%.5s", final);
	if (store_sync_dir(S, root, dir))
		goto err1;
	*word |= bit;
	(void)unlinkat(root, tmp, 0); /* link() left it. */

	/* Success! */
	return (0);

err1:
	e = errno;
	(void)unlinkat(root, final, 0);
	errno = e;
err0:
	/* Failure! */
	return (-1);
}
