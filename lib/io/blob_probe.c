#include <sys/stat.h>
#include <sys/statvfs.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

#include "io/store.h"

#define CLOCK_SLACK_MS 2000

/* Begin the file to be published, and compare its time of birth with ours. */
static int
begin(int root, const char *key, struct store_probe *p)
{
	uint64_t before = clock_unix_ms(), after;
	struct stat sb;
	int fd, bad;

	if (store_temp(root, key, &fd))
		return (-1);
	after = clock_unix_ms();
	bad = write(fd, "", 1) != 1 || fstat(fd, &sb);
	if (close(fd) || bad)
		return (-1);
	p->skew_ms = (int64_t)sb.st_mtim.tv_sec * 1000 +
	    sb.st_mtim.tv_nsec / 1000000 - (int64_t)((before + after) / 2);
	p->clock_ok =
	    llabs(p->skew_ms) <= CLOCK_SLACK_MS + (int64_t)(after - before);
	return (0);
}

enum blob_rc
store_probe(struct store *S, struct store_probe *p)
{
	char key[BLOB_KEYLEN + 1];
	struct statvfs vfs;
	enum blob_rc rc;
	int root;

	memset(p, 0, sizeof(*p));
	if (blob_key(key))
		return (BLOB_FAIL);
	if ((root = store_root(S)) == -1 || fstatvfs(root, &vfs))
		return (store_fail(S, "open the root of", key));
	S->how = PUBLISH_LINK;
	S->nodirsync = 0;
	if (begin(root, key, p) || publish(S, root, key)) {
		rc = store_fail(S, "probe with", key);
		goto err1;
	}
	if ((rc = blob_remove(S, key)) != BLOB_OK)
		goto err0;
	p->how = (enum publish)S->how;
	p->dirsync = !S->nodirsync;
	p->bytes_free = (uint64_t)vfs.f_bavail * vfs.f_frsize;
	p->inodes_free = vfs.f_files == 0 ? UINT64_MAX : vfs.f_favail;

	/* Success! */
	return (BLOB_OK);

err1:
	(void)blob_remove(S, key);
err0:
	/* Failure! */
	memset(p, 0, sizeof(*p));
	return (rc);
}
