#include <pthread.h>
#include <stdlib.h>

#include <openssl/evp.h>

#include "base/hash.h"
#include "base/log.h"

struct hash {
	EVP_MD_CTX *ctx;
	int bad;
};

/* Looked up once: each EVP_sha256() would be looked up at every use of it. */
static EVP_MD *fetched[2];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void
unfetch(void)
{

	EVP_MD_free(fetched[HASH_SHA256]);
	EVP_MD_free(fetched[HASH_MD5]);
}

static void
fetch(void)
{

	fetched[HASH_SHA256] = EVP_MD_fetch(NULL, "SHA256", NULL);
	fetched[HASH_MD5] = EVP_MD_fetch(NULL, "MD5", NULL);
	(void)atexit(unfetch);
}

struct hash *
hash_new(enum hash_kind kind)
{
	struct hash *h;

	(void)pthread_once(&once, fetch);
	if (fetched[kind] == NULL)
		goto err0;
	if ((h = calloc(1, sizeof(*h))) == NULL)
		goto err0;
	if ((h->ctx = EVP_MD_CTX_new()) == NULL)
		goto err1;
	if (EVP_DigestInit_ex(h->ctx, fetched[kind], NULL) != 1)
		goto err2;

	/* Success! */
	return (h);

err2:
	EVP_MD_CTX_free(h->ctx);
err1:
	free(h);
err0:
	log_err("hash: cannot begin");
	return (NULL);
}

void
hash_add(struct hash *h, const void *p, size_t len)
{

	if (EVP_DigestUpdate(h->ctx, p, len) != 1)
		h->bad = 1;
}

static void
hex_of(const unsigned char *p, size_t n, char *hex)
{
	static const char digit[] = "0123456789abcdef";

	for (; n > 0; n--, p++) {
		*hex++ = digit[*p >> 4];
		*hex++ = digit[*p & 15];
	}
	*hex = '\0';
}

int
hash_hex(struct hash *h, char hex[static HASH_SIZE])
{
	unsigned char md[EVP_MAX_MD_SIZE];
	unsigned int n;
	int rc = -1;

	*hex = '\0';
	if (!h->bad && EVP_DigestFinal_ex(h->ctx, md, &n) == 1 &&
	    n <= HASH_SHA256_HEX / 2) {
		hex_of(md, n, hex);
		rc = 0;
	} else {
		log_err("hash: cannot finish");
	}
	hash_free(h);
	return (rc);
}

void
hash_free(struct hash *h)
{

	if (h == NULL)
		return;
	EVP_MD_CTX_free(h->ctx);
	free(h);
}

int
hash_sha256(const void *p, size_t len, char hex[static HASH_SIZE])
{
	struct hash *h;

	*hex = '\0';
	if ((h = hash_new(HASH_SHA256)) == NULL)
		return (-1);
	hash_add(h, p, len);
	return (hash_hex(h, hex));
}
