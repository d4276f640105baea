#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/conf.h"
#include "base/jset.h"
#include "base/jspan.h"
#include "data/admin.h"

#include "fcgi/lc.h"
#include "fcgi/rate.h"
#include "fcgi/req.h"
#include "fcgi/routes.h"

#define RESOURCE_MAX 128
#define ENTITY_MAX 40
#define WORD                         \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZ" \
	"abcdefghijklmnopqrstuvwxyz" \
	"0123456789_-"

const char *const lc_body_keys[] = {
    "LIBRECHAT_CODE_API_KEY", "api_key", "apiKey", NULL};

json_object *
lc_error(const char *error, const char *message)
{
	json_object *o;

	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "error", jstr(error)) ||
	    (message != NULL && jset(o, "message", jstr(message)))) {
		json_object_put(o);
		return (NULL);
	}
	return (o);
}

int
lc_reply(struct req *r, int status, const char *error, const char *message)
{

	return (reply_json(r, status, lc_error(error, message)));
}

static void
put_json(void *o)
{

	json_object_put(o);
}

/* Has the object ${text} one of the credential's members twice? */
static int
is_ambiguous(struct jspan text)
{
	struct jspan_info info;
	struct jspan v;

	if (jspan_check(text.p, text.len, LC_JSON_DEPTH, &info) != JSPAN_OK)
		return (1);
	for (size_t i = 0; lc_body_keys[i] != NULL; i++)
		if (jspan_get(info.root, lc_body_keys[i], &v) > 1)
			return (1);
	return (0);
}

int
lc_ambiguous(struct req *r)
{

	(void)lc_reply(r, 400, "A credential stands in the body twice", NULL);
	return (-1);
}

int
lc_json(struct req *r, json_object **o)
{
	struct jspan text;

	if (r->json == NULL) {
		if (req_json_last(r, r->srv->conf->body_max_bytes,
			LC_JSON_DEPTH, o, &text.p, &text.len))
			return (-1);
		if (arena_cleanup(r->mem, put_json, *o)) {
			json_object_put(*o);
			(void)reply_problem(
			    r, P_SERVER, NULL, "Internal server error");
			return (-1);
		}
		if (is_ambiguous(text))
			return (lc_ambiguous(r));
		r->json = *o;
	}
	*o = r->json;
	return (0);
}

/* What the request counts as. */
static enum rate_kind
rate_kind(const struct req *r)
{

	if (r->route->pool == POOL_RUN)
		return (RATE_EXEC);
	if (r->route->flags & R_UPLOAD)
		return (RATE_UPLOAD);
	return (r->route->handle == lc_download ? RATE_DOWNLOAD : RATE_READ);
}

int
lc_rate_limited(struct req *r, unsigned int wait, const char *text)
{
	json_object *o;

	reply_header(r, "Retry-After", "%u", wait);
	if ((o = lc_error("rate_limited", text)) != NULL &&
	    jset(o, "retry_after_seconds", jint(wait))) {
		json_object_put(o);
		o = NULL;
	}
	return (reply_json(r, 429, o));
}

/* Count it against the user's rate.  Return 0, or -1 after answering 429. */
static int
check_rate(struct req *r)
{
	const enum rate_kind kind = rate_kind(r);
	const uint64_t most = r->srv->conf->lc_rate[kind];
	unsigned int wait;
	char text[128];

	if (r->lc_counted)
		return (0);
	r->lc_counted = 1;
	if ((wait = rate_take(r->srv->rates, kind, r->caller.owner.user, most,
		 r->caller.now)) == 0)
		return (0);
	(void)snprintf(text, sizeof(text),
	    "Too many %s. Please retry in %u seconds.", rate_noun(kind), wait);
	(void)lc_rate_limited(r, wait, text);
	return (-1);
}

int
lc_assume(struct req *r, const char *user)
{
	enum data_rc rc;

	if (r->lc_how == LC_HOW_JWT)
		return (share_enter_owner(r));
	if (user == NULL || *user == '\0')
		user = req_header(r, "User-Id");
	if (user == NULL || *user == '\0')
		user = r->lc_how == LC_HOW_LOCAL ? "local" : r->caller.user;
	if (!admin_name_ok(user)) {
		(void)lc_reply(r, 400, "The user id is not acceptable",
		    "It must be 1 to 255 bytes of UTF-8 without control "
		    "characters");
		return (-1);
	}
	rc = r->lc_how == LC_HOW_LOCAL
	    ? caller_local(r->srv->db, r->mem, user, &r->caller)
	    : caller_assert(r->srv->db, r->mem, &r->caller, user);
	if (rc == DATA_OK)
		return (share_enter_owner(r));
	if (rc == DATA_NONE)
		(void)lc_reply(r, 403, "This user is disabled", NULL);
	else
		(void)reply_data(r, rc);
	return (-1);
}

int
lc_identify(struct req *r, const char *user)
{

	return (lc_assume(r, user) || check_rate(r) ? -1 : 0);
}

int
lc_version(const char *s, char out[static LC_VERSION_SIZE])
{
	char *end;
	double x;

	if (*s == '\0' || s[strspn(s, "0123456789.eE+-")] != '\0')
		return (-1);
	x = strtod(s, &end);
	if (*end != '\0' || !isfinite(x))
		return (-1);
	(void)snprintf(out, LC_VERSION_SIZE, "%.17g", x == 0 ? 0.0 : x);
	return (0);
}

static int
is_word(const char *s, const char *more, size_t max)
{
	size_t n = 0;

	while (s[n] != '\0' &&
	    (strchr(WORD, s[n]) != NULL || strchr(more, s[n]) != NULL))
		n++;
	return (s[n] == '\0' && n >= 1 && n <= max);
}

void
lc_owner_user(const struct req *r, struct lc_owner *owner)
{

	*owner = (struct lc_owner){.kind = LC_USER,
	    .workspace = r->caller.owner.workspace,
	    .names = r->caller.names,
	    .user = r->caller.owner.user,
	    .resource = r->caller.user,
	    .version = ""};
}

/* An owner key that its name space shares. */
static const char *
shared(struct req *r, const struct lc_said *said, enum lc_kind kind,
    struct lc_owner *owner)
{
	char version[LC_VERSION_SIZE] = "";
	const char *id = said->id;

	if (id == NULL || *id == '\0')
		return (kind == LC_SKILL ? "id is required for kind: 'skill'"
					 : "id is required for kind: 'agent'");
	if (!is_word(id, ".:", RESOURCE_MAX))
		return ("id must be 1 to 128 of A-Z a-z 0-9 _ . : -");
	if (kind == LC_SKILL &&
	    (said->version == NULL || *said->version == '\0'))
		return ("version is required for kind: 'skill'");
	if (said->version != NULL && lc_version(said->version, version))
		return ("version must be a finite number");
	owner->kind = kind;
	owner->resource = id;
	if (*version != '\0')
		owner->version =
		    arena_strndup(r->mem, version, strlen(version));
	if (r->srv->conf->lc_share)
		owner->user = 0;
	return (owner->version == NULL ? "out of memory" : NULL);
}

const char *
lc_owner_why(
    struct req *r, const struct lc_said *said, int need, struct lc_owner *owner)
{
	enum lc_kind kind = LC_USER;

	lc_owner_user(r, owner);
	if (said->kind == NULL && said->entity != NULL && *said->entity) {
		if (!is_word(said->entity, "", ENTITY_MAX))
			return ("entity_id must be 1 to 40 of "
				"A-Z a-z 0-9 _ -");
		owner->kind = LC_ENTITY;
		owner->resource = said->entity;
		if (r->srv->conf->lc_share)
			owner->user = 0;
		return (NULL);
	}
	if (said->kind == NULL ? need && r->lc_how == LC_HOW_JWT
			       : lc_kind_parse(said->kind, &kind) != 0)
		return ("kind must be one of: skill, agent, user");
	if (kind != LC_SKILL && said->version != NULL)
		return ("version is only allowed for kind: 'skill'");
	return (kind == LC_USER ? NULL : shared(r, said, kind, owner));
}

int
lc_owner_of(
    struct req *r, const struct lc_said *said, int need, struct lc_owner *owner)
{
	const char *why = lc_owner_why(r, said, need, owner);

	if (why == NULL)
		return (0);
	(void)lc_reply(r, 400, why, NULL);
	return (-1);
}

const char *
lc_time(uint64_t ms, char out[static LC_TIME_SIZE])
{
	const time_t t = (time_t)(ms / 1000);
	struct tm tm;
	size_t n;

	(void)gmtime_r(&t, &tm);
	n = strftime(out, LC_TIME_SIZE, "%Y-%m-%dT%H:%M:%S", &tm);
	(void)snprintf(
	    out + n, LC_TIME_SIZE - n, ".%03uZ", (unsigned int)(ms % 1000));
	return (out);
}
