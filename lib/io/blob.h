#ifndef IO_BLOB_H_
#define IO_BLOB_H_

#include <stddef.h>
#include <stdint.h>

/*
 * The bytes of a file: one regular file a blob under ${files.root}, which every
 * worker of every machine shares.  A blob's key is 32 random lower-case hex
 * digits, unrelated to file ids and names.  While it is written it is
 * tmp/KEY; finished it is KK/EE/KEY... (two levels of the key's first digits:
 * "ab/cd/abcd...").  It is either wholly there under its final name or not
 * there at all, and never modified.  A crash leaves at worst tmp/KEY or an
 * unreferenced final name, both found by the row that holds the key.  This
 * module knows nothing of owners, names or types: those are data/file.h's.
 */

#define BLOB_KEYLEN 32
#define BLOB_PATHMAX 512

/* A published blob may be read by its group, so that a web server may send it
 * from a store whose directory is set-group-id to that server's group. */
#define BLOB_MODE 0640

/* Opaque types. */
struct blob;
struct store;

enum blob_rc {
	BLOB_OK,
	BLOB_TOO_BIG, /* More bytes than blob_new() allowed. */
	BLOB_FULL,    /* No space or quota left on the filesystem. */
	BLOB_GONE,    /* No such blob. */
	BLOB_AWAY,    /* The store is missing, read-only or failing. */
	BLOB_FAIL     /* Anything else; blob.c has logged it. */
};

/**
 * store_open(root):
 * Return the store under the absolute directory ${root}, or NULL if memory ran
 * out.  The directory need not be there yet: each operation says BLOB_AWAY
 * until it is.  Safe for any number of threads.
 */
struct store *store_open(const char *);

/**
 * store_close(S):
 * Free ${S}.  NULL is allowed.
 */
void store_close(struct store *);

/**
 * store_ready(S):
 * Return BLOB_OK if a file can be made in and removed from ${S} now, else
 * BLOB_FULL or BLOB_AWAY.
 */
enum blob_rc store_ready(struct store *);

/**
 * blob_key(key):
 * Make a new random key.  Return 0, or -1 if the kernel gave no random bytes.
 */
int blob_key(char[static BLOB_KEYLEN + 1]);

/**
 * blob_new(S, key, max, B):
 * Begin the blob ${key} of at most ${max} bytes and set ${B}, to be ended by
 * blob_commit() or blob_abort().
 */
enum blob_rc blob_new(struct store *, const char *, uint64_t, struct blob **);

/**
 * blob_write(B, buf, len):
 * Append the ${len} bytes at ${buf}.  After any but BLOB_OK, ${B} accepts only
 * blob_abort().
 */
enum blob_rc blob_write(struct blob *, const void *, size_t);

/**
 * blob_commit(B):
 * Make ${B} durable under its final name (fsync of the bytes, link() or what
 * the filesystem offers instead, fsync of the directory) and free ${B},
 * whatever the outcome.  On BLOB_OK a row that names the key may be made live;
 * on anything else nothing is left under the final name.
 */
enum blob_rc blob_commit(struct blob *);

/**
 * blob_twin(S, key, of):
 * Give the blob ${of} the second name ${key}, durably: a blob like any other,
 * whose bytes are not stored again.  Return BLOB_OK; or something else where
 * the store cannot do that, and nothing is there under the name.
 */
enum blob_rc blob_twin(struct store *, const char *, const char *);

/**
 * blob_abort(B):
 * Drop ${B} and its bytes.  NULL is allowed.
 */
void blob_abort(struct blob *);

/**
 * blob_named(S, key):
 * Does the path of ${S} lead to the blob ${key} at this moment, for a program
 * that opens it by its name?  BLOB_OK; BLOB_AWAY.
 */
enum blob_rc blob_named(const struct store *, const char *);

/**
 * blob_open(S, key, bytes, fd):
 * Open the blob ${key} for reading, set ${bytes} to its length and ${fd} to a
 * descriptor that the caller must close.
 */
enum blob_rc blob_open(struct store *, const char *, uint64_t *, int *);

/**
 * blob_path(key, path):
 * Write the final name of ${key} relative to the root, as nginx is told it.
 * Return 0, or -1 if ${key} is no key.
 */
int blob_path(const char *, char[static BLOB_PATHMAX]);

/**
 * blob_remove(S, key):
 * Remove the blob ${key} under its final and its temporary name.  Already gone
 * is BLOB_OK.  Call it only once no live row names ${key}.
 */
enum blob_rc blob_remove(struct store *, const char *);

/**
 * blob_idle(S, key, seconds):
 * Set ${seconds} to how long ago the blob ${key} was last written, finished or
 * not, both times by the file server's clock.  BLOB_GONE if it is neither in
 * tmp/ nor under its final name.
 */
enum blob_rc blob_idle(struct store *, const char *, uint64_t *);

#endif /* !IO_BLOB_H_ */
