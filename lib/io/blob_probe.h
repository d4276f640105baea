#ifndef IO_BLOB_PROBE_H_
#define IO_BLOB_PROBE_H_

#include <stdint.h>

#include "io/blob.h"

/* How a store gives a finished blob its final name, best first. */
enum publish {
	PUBLISH_LINK,      /* link(), then unlink() of the temporary name. */
	PUBLISH_NOREPLACE, /* renameat2(RENAME_NOREPLACE) */
	PUBLISH_RENAME     /* rename() to the fresh random name. */
};

/* What store_probe() found out. */
struct store_probe {
	enum publish how;
	int dirsync;          /* fsync() of a directory works. */
	uint64_t bytes_free;  /* For an unprivileged user. */
	uint64_t inodes_free; /* UINT64_MAX: the filesystem does not count. */
	int64_t skew_ms;      /* The file server's clock less this host's. */
	int clock_ok;         /* They are within two seconds. */
};

/**
 * store_probe(S, p):
 * Make a small blob in ${S}, give it its final name in each way until one
 * works, remove it, and fill in ${p}.  BLOB_OK; BLOB_FULL or BLOB_AWAY with
 * ${p} zeroed.
 */
enum blob_rc store_probe(struct store *, struct store_probe *);

/**
 * publish_name(how):
 * Return the word for ${how}: "link", "noreplace" or "rename".
 */
const char *publish_name(enum publish);

#endif /* !IO_BLOB_PROBE_H_ */
