#ifndef HTTP_JWK_H_
#define HTTP_JWK_H_

#include <stddef.h>
#include <stdint.h>

#include <openssl/evp.h>

/*
 * The public keys by which tokens are verified: Ed25519, and RSA of 2,048 bits
 * or more.  They are read again as an operator replaces them; a change that
 * cannot be read leaves the keys that were there in force, and is logged.
 */

/* Opaque types. */
struct jwk_ring;
struct jwk_set;

#define JWK_KEYS 64        /* In one set. */
#define JWK_FILE_MAX 65536 /* Bytes of one file. */
#define JWK_KIDMAX 128

/* Where keys come from: one of the first three, the others NULL. */
struct jwk_source {
	const char *jwks_file; /* A JSON Web Key Set. */
	const char *pem_dir;   /* KID.pem, each a public key. */
	const char *pem_file;  /* One public key... */
	const char *kid;       /* ...of this id; NULL: of any. */
};

/**
 * jwk_set_parse(text, len, set, why):
 * Read the JSON Web Key Set of ${len} bytes at ${text} into ${set}.  Keys that
 * are of another kind, or not for signatures, are left out.  Return 0; or -1
 * with ${why} set to a constant text, also if no key is left.
 */
int jwk_set_parse(const char *, size_t, struct jwk_set **, const char **);

/**
 * jwk_set_load(src, set, why):
 * Read the keys of ${src}, as jwk_set_parse().
 */
int jwk_set_load(const struct jwk_source *, struct jwk_set **, const char **);

/**
 * jwk_set_find(set, kid, type):
 * The key ${kid} (NULL: the token names none) of the OpenSSL type ${type}
 * ("ED25519" or "RSA"), or NULL.  It belongs to ${set}.
 */
EVP_PKEY *jwk_set_find(const struct jwk_set *, const char *, const char *);

/**
 * jwk_set_free(set):
 * Free ${set}.  NULL is allowed.
 */
void jwk_set_free(struct jwk_set *);

/**
 * jwk_ring_new(src):
 * Return a ring that reads ${src}, whose texts must outlive it, when it is
 * first asked; or NULL if memory ran out.
 */
struct jwk_ring *jwk_ring_new(const struct jwk_source *);

/**
 * jwk_ring_find(ring, kid, type, key):
 * As jwk_set_find() in ${ring}, read anew if that was five seconds ago; set
 * ${key} to a reference that the caller must free, or to NULL if there is no
 * such key.  Return 0, or -1 if no keys could ever be read.  Safe from any
 * thread.
 */
int jwk_ring_find(struct jwk_ring *, const char *, const char *, EVP_PKEY **);

/**
 * jwk_ring_free(ring):
 * Free ${ring}, which no thread may be using.  NULL is allowed.
 */
void jwk_ring_free(struct jwk_ring *);

#endif /* !HTTP_JWK_H_ */
