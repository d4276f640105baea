#ifndef IO_STORE_H_
#define IO_STORE_H_

#include <sys/types.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "io/blob.h"
#include "io/blob_probe.h"
#include "io/store_mark.h"

/*
 * What the files of the store share with each other; nobody else includes
 * this.  Everything is named relative to one descriptor of the root, whose
 * number never changes: when the root's path comes to mean another directory (a
 * mount that came late, a server that was replaced), dup3() puts the new one in
 * its place under the feet of the threads that use it.
 */

#define TMP_DIR "tmp"
#define SHARD_PATHLEN 6 /* "ab/cd" and a NUL. */

struct store {
	char root[BLOB_PATHMAX];
	char mark[STORE_MARKLEN + 1]; /* What the root must bear; "": any. */
	pthread_mutex_t lock;     /* Over the root and what is asked of it. */
	_Atomic int fd;           /* The root; -1 until first needed. */
	_Atomic uint64_t checked; /* When it was last compared, in ms. */
	_Atomic int how;          /* enum publish that worked last. */
	_Atomic int nodirsync;    /* Directories cannot be synced here. */
	_Atomic uint32_t made[65536 / 32]; /* Shards known to be durable. */
};

/**
 * store_root(S):
 * Return the descriptor of the root, after comparing it with the root's path if
 * that was last done over a second ago; or -1 with errno.
 */
int store_root(struct store *);

/**
 * store_moved(S):
 * After ENOENT or ESTALE beneath the root: is it now another directory, so that
 * the operation is worth one more try?  If not, errno stays as it was; or
 * becomes ENODEV if the root itself is missing.
 */
int store_moved(struct store *);

/**
 * store_mark_check(S, root):
 * Does the directory ${root} bear the mark that is expected?  Return 0; or -1
 * (ENODEV) after a line in the log.
 */
int store_mark_check(const struct store *, int);

/**
 * store_fail(S, what, key):
 * Log that ${what} failed for ${key} with errno, and return what that means.
 */
enum blob_rc store_fail(const struct store *, const char *, const char *);

/**
 * store_mkdir(root, path):
 * Make the directory ${path} unless it is there.  Return 0, or -1 with errno.
 */
int store_mkdir(int, const char *);

/**
 * store_temp(root, key, fd):
 * Create tmp/${key} in the directory ${root}, for writing, and set ${fd}.
 * Return 0, or -1 with errno.
 */
int store_temp(int, const char *, int *);

/**
 * store_temp_path(key, path):
 * Write the temporary name of ${key}.  Return 0, or -1 (EINVAL) if ${key} is no
 * key.
 */
int store_temp_path(const char *, char[static BLOB_PATHMAX]);

/**
 * store_sync_dir(S, root, path):
 * Make what is in the directory ${path} durable, where the filesystem can.
 * Return 0, or -1 with errno.
 */
int store_sync_dir(struct store *, int, const char *);

/**
 * store_clock(root, ms):
 * Set ${ms} to the file server's clock in Unix milliseconds.  Return 0, or -1
 * with errno.
 */
int store_clock(int, int64_t *);

/**
 * publish(S, root, key):
 * Give the finished tmp/${key} its final name, durably, and remove the
 * temporary one.  Return 0; or -1 with errno and nothing under the final name.
 */
int publish(struct store *, int, const char *);

#endif /* !IO_STORE_H_ */
