#ifndef BASE_HASH_H_
#define BASE_HASH_H_

#include <stddef.h>

enum hash_kind { HASH_SHA256, HASH_MD5 };

#define HASH_SHA256_HEX 64
#define HASH_MD5_HEX 32
#define HASH_SIZE (HASH_SHA256_HEX + 1) /* Room for either and a NUL. */

/* Opaque type: a hash being computed. */
struct hash;

/**
 * hash_new(kind):
 * Begin a hash, to be ended by hash_hex() or hash_free().  Return NULL after
 * logging why not.
 */
struct hash *hash_new(enum hash_kind);

/**
 * hash_add(h, p, len):
 * Add the ${len} bytes at ${p}.  A failure shows in hash_hex().
 */
void hash_add(struct hash *, const void *, size_t);

/**
 * hash_hex(h, hex):
 * Write the hash of all that was added in lower-case hex and free ${h},
 * whatever the outcome.  Return 0; or -1, with ${hex} empty, after logging why
 * not.
 */
int hash_hex(struct hash *, char[static HASH_SIZE]);

/**
 * hash_free(h):
 * Drop ${h}.  NULL is allowed.
 */
void hash_free(struct hash *);

/**
 * hash_sha256(p, len, hex):
 * Write the SHA-256 of the ${len} bytes at ${p} in lower-case hex.  Return as
 * hash_hex().
 */
int hash_sha256(const void *, size_t, char[static HASH_SIZE]);

#endif /* !BASE_HASH_H_ */
