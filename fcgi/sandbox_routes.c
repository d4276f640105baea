#include <openssl/crypto.h>

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/conf.h"
#include "base/id.h"
#include "base/log.h"
#include "http/query.h"

#include "fcgi/sandbox.h"

#define ARENA_MAX (64U << 20)
#define ID_MAX 64 /* Characters of another's request id. */
#define PATH_MAX_LEN 8192

/* clang-format off */
static const struct sbx_route {
	const char *method, *path;
	sbx_handler *handle;
} routes[] = {
	{ "POST",   "/sessions",		 sbx_create },
	{ "GET",    "/sessions/{id}",		 sbx_retrieve },
	{ "DELETE", "/sessions/{id}",		 sbx_destroy },
	{ "POST",   "/sessions/{id}/exec",	 sbx_exec },
	{ "GET",    "/sessions/{id}/files/list", sbx_list },
	{ "GET",    "/sessions/{id}/files",	 sbx_get },
	{ "POST",   "/sessions/{id}/files",	 sbx_put },
	{ "GET",    "/health",			 sbx_health },
	{ NULL, NULL, NULL }
};
/* clang-format on */

/* Does ${path} fit ${pattern}?  Then note its {id}. */
static int
fits(struct sbx_req *r, const char *pattern, const char *path)
{
	static const char name[] = "{id}";
	const char *at = strstr(pattern, name);
	size_t len;

	if (at == NULL)
		return (strcmp(pattern, path) == 0);
	if (strncmp(pattern, path, (size_t)(at - pattern)) != 0)
		return (0);
	path += at - pattern;
	len = strcspn(path, "/");
	if (len == 0 || strcmp(path + len, at + sizeof(name) - 1) != 0)
		return (0);
	r->id = arena_strndup(r->mem, path, len);
	return (r->id != NULL);
}

static const struct sbx_route *
find(struct sbx_req *r, const char *path, int *known)
{
	size_t i;

	*known = 0;
	for (i = 0; routes[i].method != NULL; i++) {
		if (!fits(r, routes[i].path, path))
			continue;
		*known = 1;
		if (strcmp(routes[i].method, r->method) == 0)
			return (&routes[i]);
	}
	return (NULL);
}

/* Did the request come from this machine? */
static int
is_local(const struct sbx_req *r)
{
	const char *peer = io_param(r->io, "REMOTE_ADDR");

	return (peer != NULL &&
	    (strncmp(peer, "127.", 4) == 0 || strcmp(peer, "::1") == 0 ||
		strncmp(peer, "unix:", 5) == 0));
}

/* Compared in a time that says nothing of what is right. */
static int
may(const struct sbx_req *r)
{
	const char *token = r->srv->conf->sandbox_token;
	const char *said = io_param(r->io, "HTTP_AUTHORIZATION");

	if (token == NULL || *token == '\0')
		return (is_local(r));
	if (said == NULL || strncasecmp(said, "Bearer ", 7) != 0)
		return (0);
	said += 7;
	return (strlen(said) == strlen(token) &&
	    CRYPTO_memcmp(said, token, strlen(token)) == 0);
}

/* Split REQUEST_URI into ${path} and r->query. */
static int
split(struct sbx_req *r, const char **path)
{
	const char *uri = io_param(r->io, "REQUEST_URI");
	size_t len;

	if (uri == NULL || *uri != '/' || strlen(uri) > PATH_MAX_LEN)
		return (-1);
	len = strcspn(uri, "?");
	if ((*path = arena_strndup(r->mem, uri, len)) == NULL)
		return (-1);
	r->query = query_parse(r->mem, uri[len] == '?' ? uri + len + 1 : NULL);
	return (r->query != NULL ? 0 : -1);
}

/* Answer ${r}; return the pattern of the route it took. */
static const char *
answer(struct sbx_req *r)
{
	const struct sbx_route *rt;
	const char *path;
	int known;

	if (r->method == NULL || split(r, &path)) {
		(void)sbx_fail(r, 400, "bad_request", "a broken address");
		return ("-");
	}
	if (!may(r)) {
		(void)sbx_fail(r, 401, "unauthorized",
		    r->srv->conf->sandbox_token != NULL
			? "a bearer token is needed"
			: "without sandbox.token only this machine is served");
		return ("-");
	}
	if ((rt = find(r, path, &known)) == NULL) {
		(void)sbx_fail(r, known ? 405 : 404,
		    known ? "method_not_allowed" : "not_found",
		    known ? "not with this method" : "no such address");
		return ("-");
	}
	if (rt->handle(r) && (r->status == 0 || r->events))
		(void)sbx_fail(r, 500, "failed", "see the sandbox's log");
	return (rt->path);
}

/*
 * The id under which the lines of a request are: that which the gateway has
 * given the one it serves, or ${own}.
 */
static const char *
line_id(struct io *io, const char *own)
{
	const char *id = io_param(io, "HTTP_X_REQUEST_ID");

	return (id != NULL && *id != '\0' && strlen(id) <= ID_MAX &&
		    strspn(id,
			"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
			"0123456789-_.") == strlen(id)
		? id
		: own);
}

void
sbx_dispatch(struct io *io, void *cookie)
{
	struct sbx_req r = {.srv = cookie, .io = io};
	uint64_t began = clock_ms();
	struct log_access a = {.key = 0};
	char id[32] = "sreq_";

	if (id_hex(id + 5, 16) || (r.mem = arena_new(ARENA_MAX)) == NULL) {
		log_err("sandbox: no memory for a request");
		io_abort(io);
		return;
	}
	log_request(line_id(io, id));
	r.method = io_param(io, "REQUEST_METHOD");
	a.route = answer(&r);
	a.method = r.method != NULL ? r.method : "-";
	a.status = r.status;
	a.ms = (double)(clock_ms() - began);
	a.bytes_in = r.bytes_in;
	a.bytes_out = r.bytes_out;
	a.aborted = r.gone;
	log_access(&a);
	log_request(NULL);
	arena_free(r.mem);
}
