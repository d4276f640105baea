#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/stat.h>

#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>

#include "base/b64url.h"
#include "base/jget.h"

#include "http/jwk.h"

#define RSA_MIN_BITS 2048
#define RSA_MAX_BYTES 1024 /* Of a modulus. */
#define ED25519_BYTES 32

struct jwk_set {
	size_t n;
	struct jwk {
		char kid[JWK_KIDMAX + 1]; /* "": answers to any. */
		EVP_PKEY *key;
	} jwk[JWK_KEYS];
};

void
jwk_set_free(struct jwk_set *set)
{

	if (set == NULL)
		return;
	while (set->n > 0)
		EVP_PKEY_free(set->jwk[--set->n].key);
	free(set);
}

EVP_PKEY *
jwk_set_find(const struct jwk_set *set, const char *kid, const char *type)
{

	for (size_t i = 0; i < set->n; i++) {
		const struct jwk *k = &set->jwk[i];

		if ((k->kid[0] == '\0' ||
			(kid != NULL && strcmp(k->kid, kid) == 0)) &&
		    EVP_PKEY_is_a(k->key, type))
			return (k->key);
	}
	return (NULL);
}

/* Add ${key}, whose reference is consumed.  Return 0 or -1. */
static int
set_add(struct jwk_set *set, const char *kid, EVP_PKEY *key)
{
	struct jwk *k = &set->jwk[set->n];

	if (key == NULL || set->n == JWK_KEYS || strlen(kid) > JWK_KIDMAX) {
		EVP_PKEY_free(key);
		return (-1);
	}
	(void)snprintf(k->kid, sizeof(k->kid), "%s", kid);
	k->key = key;
	set->n++;
	return (0);
}

/* Would we believe a signature by ${key}? */
static int
is_strong(const EVP_PKEY *key)
{

	return (EVP_PKEY_is_a(key, "ED25519") ||
	    (EVP_PKEY_is_a(key, "RSA") &&
		EVP_PKEY_get_bits(key) >= RSA_MIN_BITS));
}

/* --- keys as JSON --- */

/* Decode the member ${name} of ${o} into at most ${max} bytes. */
static int
member(
    json_object *o, const char *name, unsigned char *p, size_t max, size_t *n)
{
	const char *s;

	return (jget_str(o, name, &s) != JGET_OK ||
		    b64url_decode(s, strlen(s), p, max, n)
		? -1
		: 0);
}

static EVP_PKEY *
read_ed25519(json_object *o)
{
	unsigned char x[ED25519_BYTES];
	size_t n;

	if (member(o, "x", x, sizeof(x), &n) || n != sizeof(x))
		return (NULL);
	return (EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, x, n));
}

static EVP_PKEY *
make_rsa(OSSL_PARAM *params)
{
	EVP_PKEY_CTX *ctx;
	EVP_PKEY *key = NULL;

	if ((ctx = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL)) == NULL)
		return (NULL);
	if (EVP_PKEY_fromdata_init(ctx) != 1 ||
	    EVP_PKEY_fromdata(ctx, &key, EVP_PKEY_PUBLIC_KEY, params) != 1)
		key = NULL;
	EVP_PKEY_CTX_free(ctx);
	return (key);
}

static EVP_PKEY *
read_rsa(json_object *o)
{
	unsigned char raw[RSA_MAX_BYTES], exp[8];
	size_t nraw, nexp;
	BIGNUM *n, *e;
	OSSL_PARAM_BLD *bld;
	OSSL_PARAM *params = NULL;
	EVP_PKEY *key = NULL;

	if (member(o, "n", raw, sizeof(raw), &nraw) ||
	    member(o, "e", exp, sizeof(exp), &nexp))
		return (NULL);
	n = BN_bin2bn(raw, (int)nraw, NULL);
	e = BN_bin2bn(exp, (int)nexp, NULL);
	bld = OSSL_PARAM_BLD_new();
	if (n != NULL && e != NULL && bld != NULL &&
	    OSSL_PARAM_BLD_push_BN(bld, OSSL_PKEY_PARAM_RSA_N, n) == 1 &&
	    OSSL_PARAM_BLD_push_BN(bld, OSSL_PKEY_PARAM_RSA_E, e) == 1 &&
	    (params = OSSL_PARAM_BLD_to_param(bld)) != NULL)
		key = make_rsa(params);
	OSSL_PARAM_free(params);
	OSSL_PARAM_BLD_free(bld);
	BN_free(n);
	BN_free(e);
	return (key);
}

/* Does the optional text ${name} of ${o} say ${want}, or nothing? */
static int
says(json_object *o, const char *name, const char *want)
{
	const char *s;
	const enum jget rc = jget_str(o, name, &s);

	return (rc == JGET_ABSENT || (rc == JGET_OK && strcmp(s, want) == 0));
}

/* Add the key ${o}, if it is one for signatures that we know. */
static int
read_jwk(struct jwk_set *set, json_object *o)
{
	static const struct {
		const char *kty, *crv, *alg;
		EVP_PKEY *(*read)(json_object *);
	} kinds[] = {
	    {"OKP", "Ed25519", "EdDSA", read_ed25519},
	    {"RSA", NULL, "RS256", read_rsa},
	};
	const char *kty, *kid;
	EVP_PKEY *key;

	if (jget_str(o, "kty", &kty) != JGET_OK ||
	    jget_str(o, "kid", &kid) != JGET_OK || *kid == '\0' ||
	    !says(o, "use", "sig"))
		return (0);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kty, kinds[i].kty) != 0 ||
		    !says(o, "alg", kinds[i].alg) ||
		    (kinds[i].crv != NULL && !says(o, "crv", kinds[i].crv)))
			continue;
		key = kinds[i].read(o);
		if (key != NULL && is_strong(key))
			return (set_add(set, kid, key));
		EVP_PKEY_free(key);
		return (-1);
	}
	return (0);
}

int
jwk_set_parse(
    const char *text, size_t len, struct jwk_set **set, const char **why)
{
	json_object *o = NULL, *keys;
	size_t at, i;

	*why = "is no JSON Web Key Set";
	if ((*set = calloc(1, sizeof(**set))) == NULL) {
		*why = "out of memory";
		return (-1);
	}
	if (jget_parse(text, len, &o, &at) != JGET_PARSE_OK ||
	    !json_object_is_type(o, json_type_object) ||
	    jget_array(o, "keys", &keys) != JGET_OK)
		goto err1;
	for (i = 0; i < json_object_array_length(keys); i++) {
		*why = "holds a broken, weak or surplus key";
		if (!json_object_is_type(
			json_object_array_get_idx(keys, i), json_type_object) ||
		    read_jwk(*set, json_object_array_get_idx(keys, i)))
			goto err1;
	}
	*why = "holds no Ed25519 or RSA key for signatures";
	if ((*set)->n == 0)
		goto err1;
	json_object_put(o);

	/* Success! */
	return (0);

err1:
	json_object_put(o);
	jwk_set_free(*set);
	*set = NULL;
	/* Failure! */
	return (-1);
}

/* --- files --- */

/* Read the file ${path} whole, at most JWK_FILE_MAX bytes. */
static int
read_file(const char *path, char text[static JWK_FILE_MAX], size_t *len)
{
	struct stat sb;
	ssize_t n;
	int fd;

	*len = 0;
	if ((fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) == -1)
		return (-1);
	if (fstat(fd, &sb) == -1 || !S_ISREG(sb.st_mode) ||
	    sb.st_size > JWK_FILE_MAX)
		goto err1;
	while ((n = read(fd, text + *len, JWK_FILE_MAX - *len)) > 0)
		*len += (size_t)n;
	if (n < 0)
		goto err1;
	(void)close(fd);
	return (0);

err1:
	(void)close(fd);
	return (-1);
}

static int
load_pem(struct jwk_set *set, const char *path, const char *kid)
{
	char text[JWK_FILE_MAX];
	EVP_PKEY *key = NULL;
	size_t len;
	BIO *bio;

	if (read_file(path, text, &len))
		return (-1);
	if ((bio = BIO_new_mem_buf(text, (int)len)) == NULL)
		return (-1);
	key = PEM_read_bio_PUBKEY(bio, NULL, NULL, NULL);
	BIO_free(bio);
	if (key == NULL || !is_strong(key)) {
		EVP_PKEY_free(key);
		return (-1);
	}
	return (set_add(set, kid, key));
}

static int
load_dir(struct jwk_set *set, const char *dir)
{
	char path[4096], kid[JWK_KIDMAX + 1];
	struct dirent *e;
	size_t len;
	int rc = 0;
	DIR *d;

	if ((d = opendir(dir)) == NULL)
		return (-1);
	while (rc == 0 && (e = readdir(d)) != NULL) {
		len = strlen(e->d_name);
		if (len <= 4 || len - 4 > JWK_KIDMAX || e->d_name[0] == '.' ||
		    strcmp(e->d_name + len - 4, ".pem") != 0)
			continue;
		(void)snprintf(
		    kid, sizeof(kid), "%.*s", (int)len - 4, e->d_name);
		(void)snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		rc = load_pem(set, path, kid);
	}
	(void)closedir(d);
	return (rc);
}

int
jwk_set_load(
    const struct jwk_source *src, struct jwk_set **set, const char **why)
{
	char text[JWK_FILE_MAX];
	size_t len;
	int rc;

	if (src->jwks_file != NULL) {
		*why = "cannot be read";
		if (read_file(src->jwks_file, text, &len))
			return (-1);
		return (jwk_set_parse(text, len, set, why));
	}
	*why = "out of memory";
	if ((*set = calloc(1, sizeof(**set))) == NULL)
		return (-1);
	if (src->pem_dir != NULL) {
		*why = "cannot be read, or holds a .pem file that is no public "
		       "Ed25519 or RSA key of 2048 bits";
		rc = load_dir(*set, src->pem_dir);
	} else {
		*why = "is no public Ed25519 or RSA key of 2048 bits in PEM";
		rc = load_pem(
		    *set, src->pem_file, src->kid != NULL ? src->kid : "");
	}
	if (rc == 0 && (*set)->n == 0) {
		*why = "holds no .pem file";
		rc = -1;
	}
	if (rc == 0)
		return (0);
	jwk_set_free(*set);
	*set = NULL;
	return (-1);
}
