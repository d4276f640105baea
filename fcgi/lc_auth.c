#include <stdlib.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/cidr.h"
#include "base/conf.h"
#include "base/jset.h"
#include "base/jspan.h"
#include "base/log.h"
#include "data/admin.h"
#include "http/jwt.h"
#include "io/db.h"

#include "fcgi/auth.h"
#include "fcgi/lc.h"
#include "fcgi/req.h"
#include "fcgi/routes.h"

#define PEEK_MAX 65536 /* Of a body that a key is looked for in. */

/* What the request says of its caller; NULL where it does not. */
struct claim {
	const char *key, *jwt;
	int ambiguous;
};

/* The value of a header, or NULL if it is empty. */
static const char *
header(const struct req *r, const char *name)
{
	const char *s = req_header(r, name);

	return (s != NULL && *s != '\0' ? s : NULL);
}

/* What follows the ${scheme} in ${s}, or NULL. */
static const char *
after(const char *s, const char *scheme)
{
	const size_t len = strlen(scheme);

	if (strncasecmp(s, scheme, len) != 0 || s[len] != ' ')
		return (NULL);
	return (s + len + strspn(s + len, " "));
}

static void
read_headers(const struct req *r, struct claim *c)
{
	const char *key = header(r, "X-API-Key");
	const char *auth = header(r, "Authorization"), *s;

	*c = (struct claim){.key = key};
	if (auth == NULL)
		return;
	if ((s = after(auth, "Bearer")) != NULL && jwt_looks(s))
		c->jwt = s;
	else if (key != NULL)
		c->ambiguous = 1;
	else if (s != NULL || (s = after(auth, "ApiKey")) != NULL)
		c->key = s;
	else
		c->key = ""; /* No scheme of ours: a key that is none. */
	if (c->jwt != NULL && c->key != NULL)
		c->ambiguous = !r->srv->conf->lc_key_with_jwt;
}

/* The reason stands in the log only. */
static int
refuse(struct req *r, const char *text, const char *why)
{

	if (why != NULL)
		log_warn("librechat: a caller is refused: %s", why);
	reply_header(r, "WWW-Authenticate", "Bearer");
	(void)lc_reply(r, 401, text, NULL);
	return (-1);
}

/* Nothing was sent, or where it is not looked for. */
static int
refuse_nobody(struct req *r)
{

	if ((r->route->flags & R_BODY_KEY) && !r->has_peeked)
		return (refuse(r,
		    "Authentication is required: send the key as X-API-Key; "
		    "only JSON of at most 65536 bytes is searched for one",
		    NULL));
	return (refuse(r, "Authentication is required", NULL));
}

static int
check_key(struct req *r, const char *key)
{
	enum data_rc rc;
	char why[96];

	rc = caller_find(r->srv->db, r->mem, key, NULL, &r->caller, NULL, NULL);
	if (rc == DATA_NONE) {
		(void)snprintf(why, sizeof(why), "API key: %s (id %" PRIu64 ")",
		    caller_why(r->srv->db, r->mem, key, &r->caller),
		    r->caller.key);
		return (refuse(r, "Invalid API key", why));
	}
	if (rc != DATA_OK) {
		(void)reply_data(r, rc);
		return (-1);
	}
	r->lc_how = LC_HOW_KEY;
	return (0);
}

/* The deployment's policy, as its settings say it. */
static struct jwt_policy
policy(const struct server *srv)
{
	const struct conf *c = srv->conf;
	struct jwt_policy p = {.keys = srv->jwk,
	    .issuer = c->lc_issuer,
	    .audience = c->lc_audience,
	    .skew_s = c->lc_skew_s,
	    .lifetime_s = c->lc_lifetime_s,
	    .tenant = c->lc_tenant,
	    .tenant_required = c->lc_tenant_required};

	for (size_t i = 0; c->lc_algorithms[i] != NULL; i++) {
		p.eddsa |= strcmp(c->lc_algorithms[i], "EdDSA") == 0;
		p.rs256 |= strcmp(c->lc_algorithms[i], "RS256") == 0;
	}
	return (p);
}

static int
take_jwt(struct req *r, const struct jwt_claims *c)
{
	enum data_rc rc;

	if (!admin_name_ok(c->sub) || !admin_name_ok(c->tenant))
		return (refuse(
		    r, "Invalid bearer token", "sub or tenant_id is no name"));
	rc =
	    caller_of_tenant(r->srv->db, r->mem, c->tenant, c->sub, &r->caller);
	if (rc == DATA_NONE)
		return (refuse(r, "Invalid bearer token",
		    "the token's user or tenant is disabled"));
	if (rc != DATA_OK) {
		(void)reply_data(r, rc);
		return (-1);
	}
	r->lc_how = LC_HOW_JWT;
	if (c->worker == NULL)
		return (0);
	(void)lc_reply(r, 400, "unsupported_capability",
	    "This deployment has no code workers of its own");
	return (-1);
}

static int
check_jwt(struct req *r, const char *token)
{
	const struct jwt_policy p = policy(r->srv);
	struct jwt_claims c;
	const char *why;
	uint64_t now;

	if (p.keys == NULL)
		return (refuse(r, "Invalid bearer token",
		    "a token came, but librechat.jwt names no keys"));
	if (db_now(r->srv->db, &now) != DB_OK) {
		(void)reply_data(r, DATA_DOWN);
		return (-1);
	}
	switch (jwt_verify(&p, r->mem, token, now / 1000, &c, &why)) {
	case JWT_OK:
		return (take_jwt(r, &c));
	case JWT_BAD:
		return (refuse(r, "Invalid bearer token", why));
	case JWT_KEYS:
		break;
	}
	(void)reply_problem(r, P_SERVER, NULL, "Internal server error");
	return (-1);
}

/* Is the peer, as the web server saw it, in a network that is trusted? */
static int
is_trusted(const struct req *r)
{
	char **list = r->srv->conf->lc_trusted;
	const char *peer = io_param(r->io, "REMOTE_ADDR");
	struct cidr c;

	for (; peer != NULL && list != NULL && *list != NULL; list++) {
		if (cidr_parse(*list, &c) == 0 && cidr_holds(&c, peer))
			return (1);
	}
	return (0);
}

/* A string of the JSON text ${v}, if it is one and not blank; else NULL. */
static const char *
filled(struct req *r, struct jspan v)
{
	struct buf b = BUF_INIT(PEEK_MAX);
	const char *s = NULL;

	if (*v.p == '"' && jspan_str(&b, v) == 0 && b.len > 0 &&
	    memchr(b.p, '\0', b.len) == NULL)
		s = arena_strndup(r->mem, b.p, b.len);
	buf_free(&b);
	return (s != NULL && s[strspn(s, " \t\r\n")] != '\0' ? s : NULL);
}

/*
 * A key inside the JSON body, where older hosts' tools put it.  Whoever has not
 * shown one yet gets no tree made of a body, and only a small one read.
 */
static int
body_key(struct req *r, const char **key)
{
	struct jspan_info info;
	struct jspan text, v;
	size_t n;
	int rc;

	*key = NULL;
	if (!(r->route->flags & R_BODY_KEY))
		return (0);
	if ((rc = req_peek(r, PEEK_MAX, &text.p, &text.len)) != 0)
		return (rc < 0 ? -1 : 0);
	if (jspan_check(text.p, text.len, LC_JSON_DEPTH, &info) != JSPAN_OK)
		return (0);
	for (size_t i = 0; lc_body_keys[i] != NULL; i++) {
		n = jspan_get(info.root, lc_body_keys[i], &v);
		if (n > 1)
			return (lc_ambiguous(r));
		if (*key == NULL && n == 1)
			*key = filled(r, v);
	}
	return (0);
}

/* A profile other than ours, or a worker: a client must hear of it at once. */
static int
check_wishes(struct req *r)
{
	const char *profile = header(r, "X-CodeAPI-Expected-Profile");
	json_object *o;

	if (header(r, "X-LibreChat-Code-Worker-ID") != NULL) {
		(void)lc_reply(r, 400, "unsupported_capability",
		    "This deployment has no code workers of its own");
		return (-1);
	}
	if (header(r, "X-LibreChat-Code-Workspace-ID") != NULL) {
		(void)lc_reply(r, 400, "stateful_workspace_unsupported",
		    "This deployment has no attached workspaces");
		return (-1);
	}
	if (profile == NULL || strcmp(profile, "default") == 0)
		return (0);
	if (strcmp(profile, "stateful") != 0) {
		(void)lc_reply(r, 400, "invalid_execution_profile",
		    "X-CodeAPI-Expected-Profile must be default");
		return (-1);
	}
	if ((o = lc_error("execution_profile_mismatch",
		 "Expected stateful, this deployment serves default")) ==
		NULL ||
	    jset(o, "expected_profile", jstr("stateful")) ||
	    jset(o, "actual_profile", jstr("default"))) {
		json_object_put(o);
		o = NULL;
	}
	(void)reply_json(r, 409, o);
	return (-1);
}

int
lc_auth(struct req *r)
{
	struct claim c;

	read_headers(r, &c);
	if (c.ambiguous) {
		(void)lc_reply(
		    r, 400, "Ambiguous authentication headers", NULL);
		return (-1);
	}
	if (c.key == NULL && c.jwt == NULL) {
		if (is_trusted(r))
			r->lc_how = LC_HOW_LOCAL;
		else if (body_key(r, &c.key))
			return (-1);
		else if (c.key == NULL)
			return (refuse_nobody(r));
	}
	if (auth_schema(r) || (c.key != NULL && check_key(r, c.key)) ||
	    (c.jwt != NULL && check_jwt(r, c.jwt)))
		return (-1);
	return (check_wishes(r));
}
