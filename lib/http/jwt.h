#ifndef HTTP_JWT_H_
#define HTTP_JWT_H_

#include <stdint.h>

/*
 * A JSON Web Token as LibreChat mints it for its code interpreter (librechat
 * contract 4.1): signed with EdDSA or RS256, short-lived, strictly encoded.
 */

/* Opaque types. */
struct arena;
struct jwk_ring;

#define JWT_MAX 8192     /* Bytes of a token. */
#define JWT_JTI_MAX 256  /* Bytes of its id. */
#define JWT_NAME_MAX 255 /* Bytes of its subject and of its tenant. */

enum jwt_rc {
	JWT_OK,
	JWT_BAD, /* Not a token to believe. */
	JWT_KEYS /* There are no keys to judge it by; logged. */
};

/* What a deployment believes. */
struct jwt_policy {
	struct jwk_ring *keys;
	const char *issuer, *audience;
	int eddsa, rs256;    /* Algorithms allowed. */
	uint64_t skew_s;     /* By which clocks may differ. */
	uint64_t lifetime_s; /* From iat to exp at most. */
	const char *tenant;  /* Of tokens that name none... */
	int tenant_required; /* ...if that is allowed. */
};

/* What a good token says. */
struct jwt_claims {
	const char *sub, *tenant;
	const char *worker; /* code_worker_id, or NULL. */
};

/**
 * jwt_looks(s):
 * Has ${s} the form of a token: three parts with dots between, the first of
 * which begins a JSON object?
 */
int jwt_looks(const char *);

/**
 * jwt_verify(p, mem, token, now_s, claims, why):
 * Judge ${token} at ${now_s} (Unix seconds) by ${p}.  JWT_OK with ${claims} in
 * ${mem}; JWT_BAD with ${why} a constant text for the log; or JWT_KEYS.
 */
enum jwt_rc jwt_verify(const struct jwt_policy *, struct arena *, const char *,
    uint64_t, struct jwt_claims *, const char **);

#endif /* !HTTP_JWT_H_ */
