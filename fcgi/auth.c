#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/conf.h"
#include "base/log.h"
#include "data/mark.h"
#include "data/schema.h"

#include "fcgi/auth.h"
#include "fcgi/lc.h"
#include "fcgi/req.h"
#include "fcgi/routes.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

/* Ask this often whether a schema of another number has been put right. */
#define SCHEMA_MS 5000
#define FAILED_MS 500 /* Not when nothing is known of it. */

#define BEARER "Bearer "

/* Skip the scheme "Bearer" in any letter case and the spaces after it. */
static const char *
skip_bearer(const char *s)
{

	if (strncasecmp(s, BEARER, sizeof(BEARER) - 1) != 0)
		return (NULL);
	return (s + sizeof(BEARER) - 1 + strspn(s + sizeof(BEARER) - 1, " "));
}

/* A credential that may say "Bearer" before the token. */
static const char *
token_lenient(const char *s)
{
	const char *t = skip_bearer(s);

	return (t != NULL ? t : s);
}

static const char *
token_bare(const char *s)
{

	return (s);
}

/* Where a credential may stand.  The first header that is there decides. */
static const struct credential {
	const char *header;
	const char *(*token)(const char *); /* NULL: malformed. */
} credentials[] = {
    {"Otari-Key", token_lenient},
    {"Authorization", skip_bearer},
    {"x-api-key", token_bare},
};

/* The token of the request, or NULL; and the header that it stands in, NULL if
 * there is none.  An empty header is none: web servers set variables for those
 * that were not sent. */
static const char *
find_token(const struct req *r, const char **header)
{
	const char *s;

	*header = NULL;
	for (size_t i = 0; i < NELEM(credentials); i++) {
		s = req_header(r, credentials[i].header);
		if (s == NULL || *s == '\0')
			continue;
		*header = credentials[i].header;
		s = credentials[i].token(s);
		return (s != NULL && *s != '\0' ? s : NULL);
	}
	return (NULL);
}

/* One text for every key in ${header} that is not valid, so that none can be
 * told apart. */
static int
refuse(struct req *r, const char *header)
{
	static const char *const how =
	    "Send Authorization: Bearer KEY or x-api-key: KEY.";

	if (header == NULL)
		(void)reply_problem(
		    r, P_AUTH, NULL, "No API key was sent. %s", how);
	else
		(void)reply_problem(r, P_AUTH, NULL,
		    "The header %s holds no valid API key. %s", header, how);
	return (-1);
}

/*
 * The database was not there, or not right, when this process started: rows are
 * touched only once the schema's number has been seen to fit, and bytes once it
 * is known which store is its.
 */
int
auth_schema(struct req *r)
{
	struct server *srv = r->srv;
	enum data_rc rc = DATA_DOWN;

	if (srv->schema)
		return (0);
	if (clock_ms() >= srv->schema_next) {
		if ((rc = schema_check(srv->db)) == DATA_OK &&
		    (rc = mark_learn(srv->db, srv->store)) == DATA_OK) {
			srv->schema = 1;
			return (0);
		}
		if (rc != DATA_DOWN)
			srv->schema_next = clock_ms() +
			    (rc == DATA_STATE ? SCHEMA_MS : FAILED_MS);
	}
	(void)reply_data(r, DATA_DOWN);
	return (-1);
}

/* Look up the file again, now that another user is its owner. */
static void
find_file(struct req *r)
{

	if (r->file_id[0] != '\0')
		r->file_rc = file_find(r->srv->db, r->mem, &r->caller.owner,
		    r->file_id, r->caller.now, &r->file);
}

/* A management key acts for ${user}. */
static int
act_as(struct req *r, const char *user, const char *workspace)
{

	if (user == NULL || *user == '\0') {
		(void)reply_problem(r, P_MISSING_PARAMETER, "user",
		    "A management key must name the user it acts for");
		return (-1);
	}
	if (workspace != NULL && *workspace == '\0')
		workspace = NULL;
	switch (
	    caller_act_as(r->srv->db, r->mem, &r->caller, user, workspace)) {
	case DATA_OK:
		find_file(r);
		return (0);
	case DATA_NONE:
		(void)reply_problem(
		    r, P_INVALID_VALUE, "user", "There is no such user");
		return (-1);
	case DATA_STATE:
		(void)reply_problem(r, P_INVALID_VALUE, "user",
		    "Several workspaces have a user of that name: name one "
		    "with workspace_id");
		return (-1);
	case DATA_DOWN:
		(void)reply_data(r, DATA_DOWN);
		return (-1);
	default:
		(void)reply_data(r, DATA_FAIL);
		return (-1);
	}
}

int
req_act_as(struct req *r, const char *user, const char *workspace)
{

	if (r->caller.role == ROLE_MANAGEMENT)
		return (act_as(r, user, workspace));
	if (user == NULL || *user == '\0' ||
	    strcmp(user, r->caller.user) == 0 ||
	    r->srv->conf->auth_lenient_user)
		return (0);
	(void)reply_problem(
	    r, P_DENIED, "user", "This key may not act for another user");
	return (-1);
}

/* One vendor's callers may say which workspace they mean. */
static int
check_workspace(struct req *r)
{
	const char *s = req_header(r, "anthropic-workspace-id");

	if (r->dialect != &dialect_anthropic || s == NULL || *s == '\0' ||
	    strcmp(s, r->caller.workspace) == 0)
		return (0);
	(void)reply_problem(
	    r, P_DENIED, NULL, "This key belongs to another workspace");
	return (-1);
}

int
auth_check(struct req *r)
{
	const char *token, *header,
	    *id = r->file_id[0] != '\0' ? r->file_id : NULL;
	enum data_rc rc;

	if (r->route->who == WHO_LIBRECHAT)
		return (lc_auth(r));
	if ((token = find_token(r, &header)) == NULL)
		return (refuse(r, header));
	if (auth_schema(r))
		return (-1);
	rc = caller_find(
	    r->srv->db, r->mem, token, id, &r->caller, &r->file, &r->file_rc);
	if (rc == DATA_NONE) {
		/* The caller is not told which. */
		log_warn("auth: a key is refused: %s (id %" PRIu64 ", in %s)",
		    caller_why(r->srv->db, r->mem, token, &r->caller),
		    r->caller.key, header);
		return (refuse(r, header));
	}
	if (rc != DATA_OK) {
		(void)reply_data(r, rc);
		return (-1);
	}
	if (r->route->who == WHO_MANAGEMENT) {
		if (r->caller.role == ROLE_MANAGEMENT)
			return (0);
		(void)reply_problem(
		    r, P_DENIED, NULL, "This needs a management key");
		return (-1);
	}
	if (r->route->who == WHO_ADMIN)
		return (check_workspace(r));
	if (!(r->route->flags & R_FORM_USER) &&
	    req_act_as(r, query_get(r->query, "user", 0),
		query_get(r->query, "workspace_id", 0)))
		return (-1);
	return (check_workspace(r));
}
