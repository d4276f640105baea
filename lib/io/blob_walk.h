#ifndef IO_BLOB_WALK_H_
#define IO_BLOB_WALK_H_

#include <stdint.h>

#include "io/blob.h"

/*
 * The store as the sweep and fsck see it: what names are there, and what is
 * freed when one goes.
 */

/* A name in the store that looks like a blob's. */
struct blob_seen {
	char key[BLOB_KEYLEN + 1];
	int temp;       /* It is in tmp/. */
	uint64_t bytes; /* Its length. */
	uint64_t idle;  /* Seconds since its last write, by the file server. */
};

/**
 * One name for a walk.  Return 0 to go on, -1 to stop.
 */
typedef int blob_each(void *, const struct blob_seen *);

/* The shards of a store are walked one by one, 0 to BLOB_SHARDS - 1. */
#define BLOB_SHARDS 256

/**
 * blob_walk_temp(S, fn, cookie):
 * Call ${fn}(${cookie}, seen) for each regular file in tmp/ whose name is a
 * key.  Other names are passed over.  BLOB_OK, also if there is no tmp/ or
 * ${fn} stopped the walk; BLOB_AWAY or BLOB_FAIL.
 */
enum blob_rc blob_walk_temp(struct store *, blob_each *, void *);

/**
 * blob_walk_shard(S, n, fn, cookie):
 * The same for the published blobs of shard ${n}: those whose key begins with
 * the two digits of ${n}.
 */
enum blob_rc blob_walk_shard(struct store *, unsigned int, blob_each *, void *);

/* What a removal really removed. */
struct blob_took {
	int temp;       /* The temporary name. */
	int final;      /* The final one. */
	uint64_t bytes; /* Freed with them. */
};

/**
 * blob_reclaim(S, key, t), blob_reclaim_temp(S, key, t),
 * blob_reclaim_final(S, key, t):
 * Remove the blob ${key}, or only its temporary or final name, as blob_remove()
 * does, and say in ${t} what was there.  On failure ${t} tells what went before
 * it.
 */
enum blob_rc blob_reclaim(struct store *, const char *, struct blob_took *);
enum blob_rc
blob_reclaim_temp(struct store *, const char *, struct blob_took *);
enum blob_rc
blob_reclaim_final(struct store *, const char *, struct blob_took *);

/**
 * blob_look(S, key, t):
 * Say in ${t} what blob_reclaim() would remove.
 */
enum blob_rc blob_look(struct store *, const char *, struct blob_took *);

/**
 * store_mark_get(S, n, age):
 * Read the number that store_mark_set() left in the store and how many seconds
 * ago, by the file server's clock.  BLOB_GONE if there is none.
 */
enum blob_rc store_mark_get(struct store *, unsigned int *, uint64_t *);

/**
 * store_mark_set(S, n):
 * Leave the number ${n} in the store: how far whoever walks it has come.
 */
enum blob_rc store_mark_set(struct store *, unsigned int);

#endif /* !IO_BLOB_WALK_H_ */
