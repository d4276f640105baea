/*
 * Tokens: the vector of the contract, whose signature another program has
 * checked, and freshly signed ones with each claim broken in turn.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openssl/evp.h>
#include <openssl/pem.h>

#include "base/arena.h"
#include "base/b64url.h"
#include "base/buf.h"
#include "base/cidr.h"
#include "http/jwk.h"
#include "http/jwt.h"

#include "t/unit/tap.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

/* librechat-examples/14-jwt-vector.json */
#define VECTOR_JWKS                                               \
	"{\"keys\":[{\"crv\":\"Ed25519\",\"x\":"                  \
	"\"6kpsY-KcUgq-9VB7Ey7F-ZVHdq6-vnuSQh7qaRRG0iw\","        \
	"\"kty\":\"OKP\",\"kid\":\"lc-codeapi-2026-05\",\"alg\":" \
	"\"EdDSA\",\"use\":\"sig\"}]}"
#define VECTOR_PEM                                                       \
	"-----BEGIN PUBLIC KEY-----\n"                                   \
	"MCowBQYDK2VwAyEA6kpsY+KcUgq+9VB7Ey7F+ZVHdq6+vnuSQh7qaRRG0iw=\n" \
	"-----END PUBLIC KEY-----\n"
#define VECTOR_TOKEN                                                           \
	"eyJhbGciOiJFZERTQSIsInR5cCI6IkpXVCIsImtpZCI6ImxjLWNvZGVhcGktMjAyNi0w" \
	"NSJ9.eyJpc3MiOiJsaWJyZWNoYXQiLCJhdWQiOiJjb2RlYXBpIiwic3ViIjoiNjVmMGM" \
	"wZmZlZTY1ZjBjMGZmZWUwMGFhIiwiaWF0IjoxODAwMDAwMDAwLCJuYmYiOjE4MDAwMDA" \
	"wMDAsImV4cCI6MTgwMDAwMDMwMCwianRpIjoiMDAwMDAwMDAtMDAwMC00MDAwLTgwMDA" \
	"tMDAwMDAwMDAwMDAxIiwidGVuYW50X2lkIjoibGVnYWN5Iiwicm9sZSI6IlVTRVIiLCJ" \
	"wcmluY2lwYWxfc291cmNlIjoibGlicmVjaGF0X2p3dCIsImF1dGhfY29udGV4dF9oYXN" \
	"oIjoiNmM1M2IwZjEzOGMwMTE0NWUyYjY0Mjg5NTVkNTU2NDczOGQ3YjFkNTU2MGExNGI" \
	"3MzI3MTI4N2ZhODgyM2JmNSJ9.eroXxpUnrRM9Dhxu7kdyB1-rdI8lQnghpOWgiPatyx" \
	"FamFfsxw1eQl3UtfyXY-HAyAUCQph2CIMw1iFK0sv9Dw"
#define VECTOR_SUB "65f0c0ffee65f0c0ffee00aa"
#define VECTOR_IAT 1800000000
#define KID "lc-codeapi-2026-05"

static struct arena *mem;
static char dir[] = "/tmp/jwt.XXXXXX";

/* The file ${name} in our directory. */
static const char *
path_of(const char *name)
{
	static char path[128];

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	return (path);
}

static const char *
spew(const char *name, const char *text)
{
	FILE *f = fopen(path_of(name), "w");

	if (f == NULL || fputs(text, f) < 0 || fclose(f) != 0)
		exit(1);
	return (path_of(name));
}

/* Judge ${token} at ${now} by ${p}; the reason if it is bad. */
static const char *
judge(const struct jwt_policy *p, const char *token, uint64_t now,
    struct jwt_claims *c)
{
	const char *why;

	switch (jwt_verify(p, mem, token, now, c, &why)) {
	case JWT_OK:
		return ("good");
	case JWT_BAD:
		return (why);
	default:
		return ("no keys");
	}
}

static struct jwt_policy
policy(struct jwk_ring *ring)
{

	return ((struct jwt_policy){.keys = ring,
	    .issuer = "librechat",
	    .audience = "codeapi",
	    .eddsa = 1,
	    .rs256 = 1,
	    .skew_s = 30,
	    .lifetime_s = 300,
	    .tenant = "legacy"});
}

static void
test_vector(void)
{
	struct jwk_source src = {.jwks_file = spew("jwks", VECTOR_JWKS)};
	char *file = strdup(src.jwks_file), bad[] = VECTOR_TOKEN;
	struct jwk_ring *ring;
	struct jwt_policy p;
	struct jwt_claims c;
	size_t i, len = strlen(bad), accepted = 0;

	src.jwks_file = file;
	ring = jwk_ring_new(&src);
	p = policy(ring);
#define AT(t) strcmp(judge(&p, VECTOR_TOKEN, (t), &c), "good")
	ok(AT(VECTOR_IAT) == 0, "the contract's token is good");
	ok(strcmp(c.sub, VECTOR_SUB) == 0 && strcmp(c.tenant, "legacy") == 0 &&
		c.worker == NULL,
	    "... and says who calls");
	ok(AT(VECTOR_IAT - 30) == 0 && AT(VECTOR_IAT - 31) != 0,
	    "nbf, with 30 seconds of grace");
	ok(AT(VECTOR_IAT + 329) == 0 && AT(VECTOR_IAT + 330) == 0 &&
		AT(VECTOR_IAT + 331) != 0,
	    "exp, with 30 seconds of grace");
#undef AT
	for (i = (size_t)(strrchr(bad, '.') - bad) + 1; i < len; i++) {
		bad[i] = bad[i] == 'A' ? 'B' : 'A';
		accepted += strcmp(judge(&p, bad, VECTOR_IAT, &c), "good") == 0;
		bad[i] = VECTOR_TOKEN[i];
	}
	ok(accepted == 0, "no character of the signature may change");
	p.eddsa = 0;
	ok(strcmp(judge(&p, VECTOR_TOKEN, VECTOR_IAT, &c),
	       "alg is not allowed") == 0,
	    "an algorithm that was switched off");
	ok(jwt_looks(VECTOR_TOKEN) && !jwt_looks("sk-satchel-abc") &&
		!jwt_looks("a.b.c"),
	    "what looks like a token");
	jwk_ring_free(ring);
	free(file);
}

static void
put_b64(struct buf *b, const void *p, size_t len)
{
	char text[8192];
	int n = EVP_EncodeBlock((unsigned char *)text, p, (int)len);

	for (int i = 0; i < n && text[i] != '='; i++) {
		char c = text[i] == '+' ? '-' : text[i] == '/' ? '_' : text[i];

		buf_put(b, &c, 1);
	}
}

/* A token of ${head} and ${body} signed by ${key}. */
static char *
sign(EVP_PKEY *key, const char *head, const char *body)
{
	struct buf b = BUF_INIT(16384);
	unsigned char sig[1024];
	size_t n = sizeof(sig);
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();

	put_b64(&b, head, strlen(head));
	buf_puts(&b, ".");
	put_b64(&b, body, strlen(body));
	if (EVP_DigestSignInit_ex(ctx, NULL,
		EVP_PKEY_is_a(key, "RSA") ? "SHA256" : NULL, NULL, NULL, key,
		NULL) != 1 ||
	    EVP_DigestSign(ctx, sig, &n, (unsigned char *)b.p, b.len) != 1)
		exit(1);
	EVP_MD_CTX_free(ctx);
	buf_puts(&b, ".");
	put_b64(&b, sig, n);
	return (b.p);
}

#define CLAIMS(iss, aud, sub, times, jti, src, hash, more) \
	"{" iss aud sub times jti src hash more "\"role\":\"USER\"}"
#define ISS "\"iss\":\"librechat\","
#define AUD "\"aud\":\"codeapi\","
#define SUB "\"sub\":\"u1\","
#define TIMES "\"iat\":1000,\"nbf\":1000,\"exp\":1300,"
#define JTI "\"jti\":\"x\","
#define SRC "\"principal_source\":\"librechat_jwt\","
#define HASH "\"auth_context_hash\":\"h\","
#define A16 "aaaaaaaaaaaaaaaa"
#define A256 A16 A16 A16 A16 A16 A16 A16 A16 A16 A16 A16 A16 A16 A16 A16 A16

/* clang-format off */
static const struct claims {
	const char *body, *why, *what;
} claims[] = {
	{ CLAIMS(ISS, AUD, SUB, TIMES, JTI, SRC, HASH, ""), "good", "all" },
	{ CLAIMS(ISS, "\"aud\":[\"x\",\"codeapi\"],", SUB, TIMES, JTI, SRC,
	    HASH, ""), "good", "aud as a list" },
	{ CLAIMS(ISS, AUD, SUB, TIMES, JTI,
	    "\"principal_source\":\"openid_reuse\",", HASH, ""), "good",
	    "the other source" },
	{ CLAIMS(ISS, AUD, SUB, TIMES, JTI, SRC, HASH,
	    "\"tenant_id\":\"acme\","), "good", "a tenant" },
	{ CLAIMS("", AUD, SUB, TIMES, JTI, SRC, HASH, ""), "iss is another",
	    "no iss" },
	{ CLAIMS("\"iss\":\"other\",", AUD, SUB, TIMES, JTI, SRC, HASH, ""),
	    "iss is another", "another iss" },
	{ CLAIMS(ISS, "", SUB, TIMES, JTI, SRC, HASH, ""), "aud is another",
	    "no aud" },
	{ CLAIMS(ISS, "\"aud\":\"x\",", SUB, TIMES, JTI, SRC, HASH, ""),
	    "aud is another", "another aud" },
	{ CLAIMS(ISS, "\"aud\":[\"codeapi\",1],", SUB, TIMES, JTI, SRC, HASH,
	    ""), "aud is another", "aud with a number in it" },
	{ CLAIMS(ISS, AUD, "", TIMES, JTI, SRC, HASH, ""),
	    "sub is missing or too long", "no sub" },
	{ CLAIMS(ISS, AUD, "\"sub\":\"\",", TIMES, JTI, SRC, HASH, ""),
	    "sub is missing or too long", "an empty sub" },
	{ CLAIMS(ISS, AUD, "\"sub\":\"a\\u0000b\",", TIMES, JTI, SRC, HASH,
	    ""), "sub is missing or too long", "a NUL in sub" },
	{ CLAIMS(ISS, AUD, SUB, "\"nbf\":1000,\"exp\":1300,", JTI, SRC, HASH,
	    ""), "iat, nbf or exp is missing or no number", "no iat" },
	{ CLAIMS(ISS, AUD, SUB, "\"iat\":1000,\"exp\":1300,", JTI, SRC, HASH,
	    ""), "iat, nbf or exp is missing or no number", "no nbf" },
	{ CLAIMS(ISS, AUD, SUB, "\"iat\":1000,\"nbf\":1000,", JTI, SRC, HASH,
	    ""), "iat, nbf or exp is missing or no number", "no exp" },
	{ CLAIMS(ISS, AUD, SUB,
	    "\"iat\":1000,\"nbf\":1000,\"exp\":\"1300\",", JTI, SRC, HASH, ""),
	    "iat, nbf or exp is missing or no number", "exp as text" },
	{ CLAIMS(ISS, AUD, SUB, "\"iat\":1000,\"nbf\":1000,\"exp\":1301,",
	    JTI, SRC, HASH, ""), "it lives longer than allowed",
	    "301 seconds of life" },
	{ CLAIMS(ISS, AUD, SUB, "\"iat\":1000,\"nbf\":1000,\"exp\":1000,",
	    JTI, SRC, HASH, ""), "it lives longer than allowed", "no life" },
	{ CLAIMS(ISS, AUD, SUB, "\"iat\":1000,\"nbf\":1131,\"exp\":1300,",
	    JTI, SRC, HASH, ""), "it is not valid yet", "nbf 31 s ahead" },
	{ CLAIMS(ISS, AUD, SUB, "\"iat\":1131,\"nbf\":1000,\"exp\":1300,",
	    JTI, SRC, HASH, ""), "it is not valid yet", "iat 31 s ahead" },
	{ CLAIMS(ISS, AUD, SUB, "\"iat\":800,\"nbf\":800,\"exp\":1069,",
	    JTI, SRC, HASH, ""), "it has expired", "exp 31 s past" },
	{ CLAIMS(ISS, AUD, SUB, TIMES, "", SRC, HASH, ""),
	    "jti is missing or too long", "no jti" },
	{ CLAIMS(ISS, AUD, SUB, TIMES, "\"jti\":\"" A256 "\",", SRC, HASH,
	    ""), "good", "jti of 256 characters" },
	{ CLAIMS(ISS, AUD, SUB, TIMES, "\"jti\":\"" A256 "a\",", SRC, HASH,
	    ""), "jti is missing or too long", "jti of 257 characters" },
	{ CLAIMS(ISS, AUD, SUB, TIMES, JTI, "", HASH, ""),
	    "principal_source is another", "no principal_source" },
	{ CLAIMS(ISS, AUD, SUB, TIMES, JTI, "\"principal_source\":\"x\",",
	    HASH, ""), "principal_source is another", "another source" },
	{ CLAIMS(ISS, AUD, SUB, TIMES, JTI, SRC, "", ""),
	    "auth_context_hash is missing", "no auth_context_hash" },
	{ CLAIMS(ISS, AUD, SUB, TIMES, JTI, SRC, HASH, "\"tenant_id\":7,"),
	    "tenant_id is empty, too long or no text", "tenant as number" },
	{ CLAIMS(ISS, AUD, SUB, TIMES, JTI, SRC, HASH, ISS),
	    "its claims are no JSON object", "a claim twice" },
	{ "[]", "its claims are no JSON object", "claims as a list" },
};

static const struct heads {
	const char *head, *why;
} heads[] = {
	{ "{\"alg\":\"EdDSA\",\"kid\":\"" KID "\"}", "good" },
	{ "{\"alg\":\"EdDSA\",\"typ\":\"JWT\",\"kid\":\"other\"}",
	    "kid is unknown" },
	{ "{\"alg\":\"EdDSA\",\"typ\":\"JWT\"}", "kid is unknown" },
	{ "{\"alg\":\"EdDSA\",\"typ\":\"JWS\",\"kid\":\"" KID "\"}",
	    "typ is not JWT" },
	{ "{\"alg\":\"none\",\"kid\":\"" KID "\"}", "alg is not allowed" },
	{ "{\"alg\":\"HS256\",\"kid\":\"" KID "\"}", "alg is not allowed" },
	{ "{\"alg\":\"RS256\",\"kid\":\"" KID "\"}", "kid is unknown" },
	{ "{\"alg\":\"EdDSA\",\"crit\":[\"x\"],\"kid\":\"" KID "\"}",
	    "crit is not understood" },
};
/* clang-format on */

#define HEAD heads[0].head

static void
test_claims(struct jwt_policy *p, EVP_PKEY *key)
{
	struct jwt_claims c;
	const char *why;
	char *token, name[128];
	size_t i;

	for (i = 0; i < NELEM(claims); i++) {
		token = sign(key, HEAD, claims[i].body);
		why = judge(p, token, 1100, &c);
		(void)snprintf(
		    name, sizeof(name), "%s: %s", claims[i].what, why);
		ok(strcmp(why, claims[i].why) == 0, name);
		free(token);
	}
	for (i = 0; i < NELEM(heads); i++) {
		token = sign(key, heads[i].head, claims[0].body);
		why = judge(p, token, 1100, &c);
		ok(strcmp(why, heads[i].why) == 0, heads[i].head);
		free(token);
	}
	token = sign(key, HEAD, claims[3].body);
	ok(strcmp(judge(p, token, 1100, &c), "good") == 0 &&
		strcmp(c.tenant, "acme") == 0,
	    "the tenant is told");
	free(token);
	p->tenant_required = 1;
	token = sign(key, HEAD, claims[0].body);
	ok(strcmp(judge(p, token, 1100, &c), "tenant_id is missing") == 0,
	    "where every token must name its tenant");
	free(token);
}

static void
write_pem(const char *name, EVP_PKEY *key)
{
	FILE *f = fopen(path_of(name), "w");

	if (f == NULL || PEM_write_PUBKEY(f, key) != 1 || fclose(f) != 0)
		exit(1);
}

static void
test_keys(void)
{
	EVP_PKEY *ed = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
	EVP_PKEY *rsa = EVP_PKEY_Q_keygen(NULL, NULL, "RSA", (size_t)2048);
	EVP_PKEY *weak = EVP_PKEY_Q_keygen(NULL, NULL, "RSA", (size_t)1024);
	struct jwk_source src = {.pem_dir = dir};
	struct jwk_ring *ring;
	struct jwk_set *set;
	struct jwt_policy p;
	struct jwt_claims c;
	const char *why;
	char *token;

	write_pem(KID ".pem", ed);
	write_pem("rsa.pem", rsa);
	ring = jwk_ring_new(&src);
	p = policy(ring);
	test_claims(&p, ed);
	p.tenant_required = 0;
	token =
	    sign(rsa, "{\"alg\":\"RS256\",\"kid\":\"rsa\"}", claims[0].body);
	ok(strcmp(judge(&p, token, 1100, &c), "good") == 0, "RS256");
	free(token);
	token = sign(ed, "{\"alg\":\"EdDSA\",\"kid\":\"rsa\"}", claims[0].body);
	ok(strcmp(judge(&p, token, 1100, &c), "kid is unknown") == 0,
	    "a key of another type than the algorithm's");
	free(token);
	write_pem("weak.pem", weak);
	ok(jwk_set_load(&src, &set, &why) == -1 && set == NULL,
	    "a weak key spoils the directory");
	jwk_ring_free(ring);
	(void)unlink(path_of("weak.pem"));
	EVP_PKEY_free(ed);
	EVP_PKEY_free(rsa);
	EVP_PKEY_free(weak);
}

static void
test_one_pem(void)
{
	char *path = strdup(spew("one", VECTOR_PEM));
	struct jwk_source src = {.pem_file = path};
	struct jwk_source named = {.pem_file = path, .kid = "x"};
	struct jwk_source none = {.pem_file = "/nonexistent"};
	const struct jwk_source *const all[] = {&src, &named, &none};
	const char *const want[] = {"good", "kid is unknown", "no keys"};
	struct jwt_claims c;

	for (size_t i = 0; i < NELEM(all); i++) {
		struct jwk_ring *ring = jwk_ring_new(all[i]);
		const struct jwt_policy p = policy(ring);

		ok(strcmp(judge(&p, VECTOR_TOKEN, VECTOR_IAT, &c), want[i]) ==
			0,
		    want[i]);
		jwk_ring_free(ring);
	}
	free(path);
}

static void
test_b64url(void)
{
	unsigned char out[8];
	size_t n;

	ok(b64url_decode("-_8", 3, out, 8, &n) == 0 && n == 2 &&
		memcmp(out, "\xfb\xff", 2) == 0,
	    "base64url");
	ok(b64url_decode("-_9", 3, out, 8, &n) == -1, "spare bits");
	ok(b64url_decode("-_8=", 4, out, 8, &n) == -1, "padding");
	ok(b64url_decode("+/8", 3, out, 8, &n) == -1, "plain base64");
	ok(b64url_decode("A", 1, out, 8, &n) == -1, "a length of no bytes");
	ok(b64url_decode("AAAAAAAAAAAA", 12, out, 8, &n) == -1, "too long");
}

static void
test_cidr(void)
{
	struct cidr c;

	ok(cidr_parse("10.1.0.0/16", &c) == 0 && cidr_holds(&c, "10.1.2.3") &&
		!cidr_holds(&c, "10.2.0.0") && !cidr_holds(&c, "::1"),
	    "an IPv4 network");
	ok(cidr_holds(&c, "::ffff:10.1.0.9"), "... as IPv6 spells it");
	ok(cidr_parse("fd00::/8", &c) == 0 && cidr_holds(&c, "fdff::1") &&
		!cidr_holds(&c, "fe00::1") && !cidr_holds(&c, "10.1.2.3"),
	    "an IPv6 network");
	ok(cidr_parse("127.0.0.1", &c) == 0 && cidr_holds(&c, "127.0.0.1") &&
		!cidr_holds(&c, "127.0.0.2"),
	    "one address");
	ok(cidr_parse("0.0.0.0/0", &c) == 0 && !cidr_holds(&c, "::1") &&
		!cidr_holds(&c, "unix:"),
	    "all of IPv4 and nothing else");
	ok(cidr_parse("10.1.0.1/16", &c) && cidr_parse("10.0.0.0/33", &c) &&
		cidr_parse("x", &c) && cidr_parse("10.0.0.0/", &c) &&
		cidr_parse("", &c),
	    "what is none");
}

int
main(void)
{
	char command[64];

	if (mkdtemp(dir) == NULL || (mem = arena_new(1 << 20)) == NULL)
		return (1);
	test_vector();
	test_keys();
	test_one_pem();
	test_b64url();
	test_cidr();
	arena_free(mem);
	for (const char *const *f = (const char *const[]){"jwks", KID ".pem",
		 "rsa.pem", "one", NULL};
	     *f != NULL; f++)
		(void)unlink(path_of(*f));
	(void)snprintf(command, sizeof(command), "%s", dir);
	(void)rmdir(command);
	return (done_testing());
}
