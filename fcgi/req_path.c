#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/conf.h"

#include "fcgi/io.h"
#include "fcgi/req.h"
#include "fcgi/req_path.h"

/* The parameter ${name} if it is there and not empty, else NULL. */
static const char *
param(const struct req *r, const char *name)
{
	const char *s = io_param(r->io, name);

	return (s != NULL && *s != '\0' ? s : NULL);
}

/* What follows "scheme://host" in ${url}; "" if nothing does. */
static const char *
after_host(const char *url)
{
	const char *s = strstr(url, "://");

	s = s != NULL ? s + 3 : url;
	return (s + strcspn(s, "/"));
}

/* The length of the mount point ${mount}, without a slash at its end. */
static size_t
mount_len(const char *mount)
{
	size_t len = strlen(mount);

	while (len > 0 && mount[len - 1] == '/')
		len--;
	return (len);
}

/* Cut ${mount} off ${path}; return ${path} itself if it is not below it. */
static const char *
cut(const char *path, const char *mount)
{
	size_t len = mount_len(mount);

	if (strncmp(path, mount, len) != 0 ||
	    (path[len] != '/' && path[len] != '\0'))
		return (path);
	return (path[len] == '\0' ? "/" : path + len);
}

/*
 * Does a route of ours begin with ${script}?  A server that hands all paths to
 * a FastCGI worker takes the first piece of each for the program's name.
 */
static int
is_route(const char *script)
{
	static const char *const begins[] = {"/v1", "/api", "/api/v1",
	    "/upload", "/exec", "/files", "/sessions", "/download", "/metrics",
	    "/healthz", "/readyz", "/health", "/ready"};
	size_t i;

	for (i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (strcmp(script, begins[i]) == 0)
			return (1);
	return (0);
}

/*
 * The program's own path, as CGI has it.  Some servers put the whole path into
 * SCRIPT_NAME; then PATH_INFO, if there is one at all, is the same again.
 */
static const char *
script_name(const struct req *r)
{
	const char *script = param(r, "SCRIPT_NAME");
	const char *info = param(r, "PATH_INFO");

	if (script == NULL || info == NULL || is_route(script) ||
	    strncmp(info, script, strlen(script)) == 0)
		return ("");
	return (script);
}

/*
 * Set r->path to ${path} without what the web server has put before it: what it
 * says, else what the settings say, else what looks like it.  The web server
 * guards some paths, as it knows them: only below the mount point that it told,
 * or without one if it told none.
 */
static void
unmount(struct req *r, const char *path)
{
	const char *url = r->srv->conf->public_url;
	const char *mount = param(r, "SATCHEL_MOUNT");

	if (mount != NULL) {
		r->path = cut(path, mount);
		r->as_told = r->path != path || mount_len(mount) == 0;
		return;
	}
	r->path = path;
	if (url != NULL && mount_len(after_host(url)) > 0)
		r->path = cut(path, after_host(url));
	if (r->path == path)
		r->path = cut(path, script_name(r));
	r->as_told = r->path == path;
}

int
req_path(struct req *r)
{
	const char *s;

	/* Raw, and maybe as "http://host/path". */
	if ((s = param(r, "REQUEST_URI")) != NULL) {
		if (*s != '/')
			s = after_host(s);
		s = arena_strndup(r->mem, s, strcspn(s, "?#"));
		if (s == NULL)
			return (-1);
		unmount(r, s);
		return (0);
	}
	r->decoded = 1;
	if ((s = param(r, "PATH_INFO")) == NULL &&
	    (s = param(r, "DOCUMENT_URI")) == NULL)
		s = "/";
	unmount(r, s);
	return (0);
}

/* Is it a name or an address, with a port or without? */
static int
is_host(const char *s)
{

	return (s != NULL &&
	    s[strspn(s,
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		"0123456789.-_:[]")] == '\0');
}

const char *
req_base(struct req *r)
{
	const char *url = r->srv->conf->public_url, *host, *scheme, *mount;
	struct buf b = BUF_INIT(4096);
	const char *base = NULL;

	if (url != NULL && url[0] != '\0')
		return (arena_strndup(r->mem, url, mount_len(url)));
	if (!is_host(host = param(r, "HTTP_HOST")))
		return ("");
	scheme = param(r, "REQUEST_SCHEME");
	if ((mount = param(r, "SATCHEL_MOUNT")) == NULL)
		mount = script_name(r);
	buf_printf(&b, "%s://%s",
	    scheme != NULL && strcmp(scheme, "https") == 0 ? "https" : "http",
	    host);
	if (buf_put(&b, mount, mount_len(mount)) == 0)
		base = arena_strndup(r->mem, b.p, b.len);
	buf_free(&b);
	return (base);
}
