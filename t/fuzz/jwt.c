/*
 * A key set and a token as they come: the first line is the key set, the second
 * the token, judged by the keys of the set.  Nothing may be believed that was
 * not signed, and no seed holds a good signature for its keys but one, whose
 * claims are known.
 */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/b64url.h"
#include "base/cidr.h"
#include "http/jwk.h"
#include "http/jwt.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
try_set(const char *text, size_t len)
{
	struct jwk_set *set;
	const char *why;

	if (jwk_set_parse(text, len, &set, &why) == 0) {
		(void)jwk_set_find(set, "a", "RSA");
		(void)jwk_set_find(set, NULL, "ED25519");
	} else if (set != NULL || why == NULL) {
		abort();
	}
	jwk_set_free(set);
}

/* The contract's public key, of which nobody here has the other half. */
static struct jwk_ring *
ring(void)
{
	static const struct jwk_source src = {
	    .jwks_file = "t/fuzz/corpus/jwt/jwks"};
	static struct jwk_ring *r;

	if (r == NULL)
		r = jwk_ring_new(&src);
	return (r);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct jwt_policy p = {.keys = ring(),
	    .issuer = "librechat",
	    .audience = "codeapi",
	    .eddsa = 1,
	    .rs256 = 1,
	    .skew_s = 30,
	    .lifetime_s = 300,
	    .tenant = "legacy"};
	struct arena *mem = arena_new(1 << 20);
	char *text = malloc(len + 1);
	unsigned char out[64];
	struct jwt_claims c;
	struct cidr cidr;
	const char *why;
	size_t n;

	if (mem == NULL || text == NULL)
		abort();
	if (len > 0)
		memcpy(text, data, len);
	text[len] = '\0';
	try_set(text, len);
	if (b64url_decode(text, len, out, sizeof(out), &n) == 0 &&
	    n > sizeof(out))
		abort();
	if (cidr_parse(text, &cidr) == 0)
		(void)cidr_holds(&cidr, text);
	if (jwt_verify(&p, mem, text, 1800000000, &c, &why) == JWT_OK &&
	    strcmp(c.sub, "65f0c0ffee65f0c0ffee00aa") != 0)
		abort();
	free(text);
	arena_free(mem);
	return (0);
}
