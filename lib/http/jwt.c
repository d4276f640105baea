#include <string.h>

#include <openssl/evp.h>

#include "base/arena.h"
#include "base/b64url.h"
#include "base/jget.h"

#include "http/jwk.h"
#include "http/jwt.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define SIGNATURE_MAX 1024
#define TIME_MAX 9e15 /* Seconds that a double holds exactly. */

/* A token taken apart. */
struct token {
	const char *text;
	const char *head, *body, *sig; /* Its parts; the dots are not theirs. */
	size_t head_len, body_len, sig_len;
};

static int
split(const char *s, struct token *t)
{
	const char *a, *b;

	if (strlen(s) > JWT_MAX || (a = strchr(s, '.')) == NULL ||
	    (b = strchr(a + 1, '.')) == NULL || strchr(b + 1, '.') != NULL)
		return (-1);
	t->text = t->head = s;
	t->head_len = (size_t)(a - s);
	t->body = a + 1;
	t->body_len = (size_t)(b - t->body);
	t->sig = b + 1;
	t->sig_len = strlen(t->sig);
	return (0);
}

int
jwt_looks(const char *s)
{
	struct token t;

	/* "eyJ" is how base64 begins that of {" */
	return (split(s, &t) == 0 && strncmp(s, "eyJ", 3) == 0);
}

/* Decode one part, a JSON object, into ${o}, which the caller must put. */
static int
decode(const char *s, size_t len, json_object **o)
{
	unsigned char text[JWT_MAX];
	size_t n, at;

	*o = NULL;
	if (b64url_decode(s, len, text, sizeof(text), &n) ||
	    jget_parse((char *)text, n, o, &at) != JGET_PARSE_OK)
		return (-1);
	if (json_object_is_type(*o, json_type_object))
		return (0);
	json_object_put(*o);
	*o = NULL;
	return (-1);
}

/* --- the signature --- */

/* The algorithms: never "none", and none with a shared secret. */
static const struct alg {
	const char *name;
	const char *type;   /* Of key, in OpenSSL's words. */
	const char *digest; /* NULL: the algorithm's own. */
} algs[] = {
    {"EdDSA", "ED25519", NULL},
    {"RS256", "RSA", "SHA256"},
};
enum { EDDSA, RS256 };

static const struct alg *
find_alg(const struct jwt_policy *p, const char *name)
{

	for (size_t i = 0; i < NELEM(algs); i++) {
		if (strcmp(algs[i].name, name) == 0 &&
		    (i == EDDSA ? p->eddsa : p->rs256))
			return (&algs[i]);
	}
	return (NULL);
}

static int
is_signed(const struct token *t, const struct alg *alg, EVP_PKEY *key)
{
	unsigned char sig[SIGNATURE_MAX];
	EVP_MD_CTX *ctx;
	size_t n;
	int good = 0;

	if (b64url_decode(t->sig, t->sig_len, sig, sizeof(sig), &n) ||
	    (ctx = EVP_MD_CTX_new()) == NULL)
		return (0);
	if (EVP_DigestVerifyInit_ex(
		ctx, NULL, alg->digest, NULL, NULL, key, NULL) == 1)
		good = EVP_DigestVerify(ctx, sig, n,
			   (const unsigned char *)t->text,
			   t->head_len + 1 + t->body_len) == 1;
	EVP_MD_CTX_free(ctx);
	return (good);
}

/* Judge the header and by it the signature. */
static enum jwt_rc
check_head(const struct jwt_policy *p, const struct token *t, json_object *o,
    const char **why)
{
	const char *name, *kid = NULL, *typ;
	const struct alg *alg;
	enum jget rc;
	EVP_PKEY *key;
	int good;

	*why = "alg is not allowed";
	if (jget_str(o, "alg", &name) != JGET_OK ||
	    (alg = find_alg(p, name)) == NULL)
		return (JWT_BAD);
	*why = "typ is not JWT";
	if ((rc = jget_str(o, "typ", &typ)) != JGET_ABSENT &&
	    (rc != JGET_OK || strcmp(typ, "JWT") != 0))
		return (JWT_BAD);
	*why = "crit is not understood";
	if (json_object_object_get_ex(o, "crit", NULL))
		return (JWT_BAD);
	*why = "kid is unknown";
	if ((rc = jget_str(o, "kid", &kid)) != JGET_OK && rc != JGET_ABSENT)
		return (JWT_BAD);
	if (jwk_ring_find(p->keys, kid, alg->type, &key))
		return (JWT_KEYS);
	if (key == NULL)
		return (JWT_BAD);
	*why = "the signature is wrong";
	good = is_signed(t, alg, key);
	EVP_PKEY_free(key);
	return (good ? JWT_OK : JWT_BAD);
}

/* --- the claims --- */

/* Is the text ${name} of ${o} exactly one of the ${n} texts ${want}? */
static int
is_one_of(json_object *o, const char *name, const char *const *want, size_t n)
{
	const char *s;

	if (jget_str(o, name, &s) != JGET_OK)
		return (0);
	while (n > 0) {
		if (strcmp(s, want[--n]) == 0)
			return (1);
	}
	return (0);
}

/* Is it for us?  aud is a text, or a list of nothing but texts. */
static int
is_for(json_object *o, const char *audience)
{
	json_object *a, *x;
	int found = 0;

	if (is_one_of(o, "aud", &audience, 1))
		return (1);
	if (jget_array(o, "aud", &a) != JGET_OK)
		return (0);
	for (size_t i = 0; i < json_object_array_length(a); i++) {
		x = json_object_array_get_idx(a, i);
		if (!json_object_is_type(x, json_type_string))
			return (0);
		if (strcmp(json_object_get_string(x), audience) == 0)
			found = 1;
	}
	return (found);
}

static const char *
check_times(const struct jwt_policy *p, json_object *o, uint64_t now_s)
{
	const double now = (double)now_s, skew = (double)p->skew_s;
	double iat, nbf, exp;

	if (jget_num(o, "iat", 0, TIME_MAX, &iat) != JGET_OK ||
	    jget_num(o, "nbf", 0, TIME_MAX, &nbf) != JGET_OK ||
	    jget_num(o, "exp", 0, TIME_MAX, &exp) != JGET_OK)
		return ("iat, nbf or exp is missing or no number");
	if (exp <= iat || exp - iat > (double)p->lifetime_s)
		return ("it lives longer than allowed");
	if (iat > now + skew || nbf > now + skew)
		return ("it is not valid yet");
	if (exp + skew < now)
		return ("it has expired");
	return (NULL);
}

/* Copy the text ${name} of ${o}, 1 to ${max} bytes, to ${mem}.  NULL: it is not
 * such a text. */
static const char *
take(struct arena *mem, json_object *o, const char *name, size_t max)
{
	const char *s;

	if (jget_str(o, name, &s) != JGET_OK || *s == '\0' || strlen(s) > max)
		return (NULL);
	return (arena_strndup(mem, s, strlen(s)));
}

/* Who it speaks of. */
static const char *
take_claims(const struct jwt_policy *p, struct arena *mem, json_object *o,
    struct jwt_claims *c)
{

	if ((c->sub = take(mem, o, "sub", JWT_NAME_MAX)) == NULL)
		return ("sub is missing or too long");
	c->worker = NULL;
	if (json_object_object_get_ex(o, "code_worker_id", NULL) &&
	    (c->worker = take(mem, o, "code_worker_id", JWT_NAME_MAX)) == NULL)
		return ("code_worker_id is no text");
	c->tenant = p->tenant;
	if (!json_object_object_get_ex(o, "tenant_id", NULL))
		return (p->tenant_required ? "tenant_id is missing" : NULL);
	if ((c->tenant = take(mem, o, "tenant_id", JWT_NAME_MAX)) == NULL)
		return ("tenant_id is empty, too long or no text");
	return (NULL);
}

static const char *
check_body(const struct jwt_policy *p, struct arena *mem, json_object *o,
    uint64_t now_s, struct jwt_claims *c)
{
	static const char *const sources[] = {"librechat_jwt", "openid_reuse"};
	const char *why;

	if (!is_one_of(o, "iss", &p->issuer, 1))
		return ("iss is another");
	if (!is_for(o, p->audience))
		return ("aud is another");
	if ((why = check_times(p, o, now_s)) != NULL)
		return (why);
	if (take(mem, o, "jti", JWT_JTI_MAX) == NULL)
		return ("jti is missing or too long");
	if (!is_one_of(o, "principal_source", sources, NELEM(sources)))
		return ("principal_source is another");
	if (take(mem, o, "auth_context_hash", JWT_MAX) == NULL)
		return ("auth_context_hash is missing");
	return (take_claims(p, mem, o, c));
}

enum jwt_rc
jwt_verify(const struct jwt_policy *p, struct arena *mem, const char *text,
    uint64_t now_s, struct jwt_claims *c, const char **why)
{
	json_object *head = NULL, *body = NULL;
	enum jwt_rc rc = JWT_BAD;
	struct token t;

	*why = "it is no JSON Web Token";
	if (split(text, &t) || decode(t.head, t.head_len, &head))
		goto done;
	if ((rc = check_head(p, &t, head, why)) != JWT_OK)
		goto done;
	rc = JWT_BAD;
	*why = "its claims are no JSON object";
	if (decode(t.body, t.body_len, &body))
		goto done;
	if ((*why = check_body(p, mem, body, now_s, c)) == NULL)
		rc = JWT_OK;

done:
	json_object_put(body);
	json_object_put(head);
	return (rc);
}
