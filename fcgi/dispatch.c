#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/conf.h"
#include "base/log.h"

#include "fcgi/auth.h"
#include "fcgi/io.h"
#include "fcgi/req.h"
#include "fcgi/req_path.h"
#include "fcgi/route_match.h"
#include "fcgi/routes.h"

#define BETA_MAX 16384 /* Of all anthropic-beta headers together. */
#define PREFLIGHT_S "600"

/* Append one more anthropic-beta header; servers may pass several. */
static void
add_beta(void *cookie, const char *name, const char *value)
{

	if (strcmp(name, "HTTP_ANTHROPIC_BETA") == 0)
		(void)buf_printf(cookie, "%s,", value);
}

/*
 * The dialect is known before anything can go wrong: the route's own, else what
 * the headers say, never the form of the credential.
 */
static void
choose_dialect(struct req *r, const struct match *m)
{
	const struct route *rt = m->first != NULL ? m->first : m->misfit;
	struct buf beta = BUF_INIT(BETA_MAX);

	if (rt != NULL && (rt->flags & R_CODEAPI)) {
		r->dialect = &dialect_codeapi;
		reply_header(r, "X-CodeAPI-Execution-Profile", "default");
		return;
	}
	if (rt != NULL && (rt->flags & (R_OPENAI | R_ANTHROPIC))) {
		r->dialect =
		    rt->flags & R_OPENAI ? &dialect_openai : &dialect_anthropic;
		return;
	}
	io_param_each(r->io, add_beta, &beta);
	r->dialect = dialect_choose(req_header(r, "anthropic-version"), beta.p);
	buf_free(&beta);
}

/* What may be done here; to a browser, also who may do it. */
static int
answer_options(struct req *r, const struct match *m)
{
	const char *s;

	reply_header(r, "Allow", "%s", m->allow);
	if (r->srv->conf->cors_origin != NULL &&
	    req_header(r, "Access-Control-Request-Method") != NULL) {
		reply_header(r, "Access-Control-Allow-Methods", "%s", m->allow);
		if ((s = req_header(r, "Access-Control-Request-Headers")) !=
		    NULL)
			reply_header(
			    r, "Access-Control-Allow-Headers", "%s", s);
		reply_header(r, "Access-Control-Max-Age", PREFLIGHT_S);
	}
	return (reply_begin(r, 204, NULL, -1));
}

/*
 * No such path.  The vendors' SDKs differ in whether their base URL ends in
 * /v1, and whoever gave one the other's is told which is right.
 */
static int
answer_no_path(struct req *r)
{
	const int anthropic = r->dialect == &dialect_anthropic;
	const char *origin = req_base(r);

	if (origin == NULL || !match_meant(r))
		return (reply_problem(r, P_UNKNOWN_URL, NULL,
		    "There is no such endpoint: %s %.200s", r->method,
		    r->path));
	return (reply_problem(r, P_UNKNOWN_URL, NULL,
	    "There is no such endpoint: %s %.200s; %s %.200s%s", r->method,
	    r->path,
	    anthropic ? "an Anthropic SDK's base URL does not end in /v1:"
		      : "an OpenAI SDK's base URL ends in /v1, once:",
	    *origin != '\0' ? origin : "https://HOST", anthropic ? "" : "/v1"));
}

/* No route: say which kind of wrong that is. */
static int
answer_unrouted(struct req *r, const struct match *m)
{

	if (m->first != NULL && strcmp(r->method, "OPTIONS") == 0)
		return (answer_options(r, m));
	if (m->first != NULL) {
		reply_header(r, "Allow", "%s", m->allow);
		return (reply_problem(r, P_METHOD, NULL,
		    "This method is not supported here; use %s", m->allow));
	}
	if (m->misfit != NULL && (m->misfit->flags & R_CODEAPI))
		return (reply_problem(r, P_BAD_REQUEST, NULL,
		    "A session or file id is 21 of A-Z a-z 0-9 _ -"));
	if (m->misfit != NULL)
		return (reply_problem(
		    r, P_NOT_FOUND, "id", "There is nothing of this id"));
	return (answer_no_path(r));
}

/* What is wrong with the request whoever it comes from.  -1 after answering. */
static int
check_form(struct req *r)
{

	if ((r->query = query_parse(r->mem, io_param(r->io, "QUERY_STRING"))) ==
	    NULL) {
		(void)reply_problem(
		    r, P_BAD_REQUEST, NULL, "The query string is malformed");
		return (-1);
	}
	if (io_declared(r->io) < -1) {
		(void)reply_problem(
		    r, P_BAD_REQUEST, NULL, "Content-Length is not a number");
		return (-1);
	}
	return (0);
}

/* A body that would have to be unpacked is refused before it is read. */
static int
check_encoding(struct req *r)
{
	const char *s = req_header(r, "Content-Encoding");

	if (s == NULL || *s == '\0' || strcasecmp(s, "identity") == 0)
		return (0);
	(void)reply_problem(r, P_BODY_ENCODING, NULL,
	    "A request body with a Content-Encoding is not accepted");
	return (-1);
}

static int
switched_off(const struct req *r, const struct match *m)
{
	const struct route *rt = m->first != NULL ? m->first : m->misfit;

	return (rt != NULL && (rt->flags & R_FILES) &&
	    !r->srv->conf->files_enabled);
}

/* Only a caller who is known and has some of their share left goes on. */
static int
let_in(struct req *r)
{

	if (auth_check(r) || share_enter_key(r))
		return (-1);
	/* LibreChat's callers say later for whom it is. */
	return (r->route->who == WHO_LIBRECHAT ? 0 : share_enter_owner(r));
}

static int
answer(struct req *r)
{
	struct match m;

	match_find(r, &m);
	r->route = m.route;
	choose_dialect(r, &m);
	if (switched_off(r, &m))
		return (reply_problem(
		    r, P_SWITCHED_OFF, NULL, "Files are switched off here"));
	if (r->route == NULL)
		return (answer_unrouted(r, &m));
	/* A body to wait for, or something to be made durable. */
	if (strcmp(r->method, "GET") != 0)
		io_yield(r->io);
	if (check_form(r) || (r->route->who != WHO_ANY && let_in(r)) ||
	    check_encoding(r))
		return (0);
	return (r->route->handle(r));
}

void
dispatch(struct req *r)
{

	if (answer(r) == 0 || r->gone)
		return;
	if (r->status == 0) {
		buf_drop(&r->headers, r->headers.len);
		(void)reply_problem(r, P_SERVER, NULL, "Internal server error");
		return;
	}
	/* An answer that cannot be finished must not look finished. */
	io_abort(r->io);
	r->gone = 1;
}
