#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/jset.h"
#include "base/log.h"

#include "jail/language.h"
#include "jail/packages.h"
#include "jail/plain.h"
#include "jail/ready.h"
#include "jail/users.h"

#include "fcgi/sandbox.h"

#define BODY_MAX 65536

json_object *
sbx_seconds(uint64_t ms)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%" PRIu64 ".%03u", ms / 1000,
	    (unsigned int)(ms % 1000));
	return (json_object_new_double_s((double)ms / 1000, text));
}

static json_object *
handle(const struct session *s)
{
	json_object *o;

	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "session_id", jstr(s->id)) ||
	    jset(o, "created_at", sbx_seconds(s->created_ms)) ||
	    jset(o, "last_activity_at", sbx_seconds(s->used_ms)) ||
	    jset(o, "idle_timeout_seconds", jint(s->idle_s)) ||
	    jset(o, "max_lifetime_seconds", jint(s->lifetime_s))) {
		json_object_put(o);
		return (NULL);
	}
	return (o);
}

/*
 * The caller's hint under ${key}: a whole number, at least 1, or null.  It can
 * only shorten what is configured, which ${x} holds.
 */
static int
hint(json_object *o, const char *key, uint64_t *x)
{
	json_object *v;
	double d;

	if (o == NULL || !json_object_object_get_ex(o, key, &v) || v == NULL)
		return (0);
	if (!json_object_is_type(v, json_type_int) &&
	    !json_object_is_type(v, json_type_double))
		return (-1);
	d = json_object_get_double(v);
	if (!(d >= 1))
		return (-1);
	if (d >= (double)*x)
		return (d < 1e15 && d != (double)(uint64_t)d ? -1 : 0);
	if (d != (double)(uint64_t)d)
		return (-1);
	*x = (uint64_t)d;
	return (0);
}

int
sbx_create(struct sbx_req *r)
{
	struct limits l = r->srv->limits;
	struct session s;
	json_object *o;
	int bad;

	if (sbx_json(r, BODY_MAX, &o))
		return (0);
	bad = hint(o, "idle_timeout_seconds", &l.idle_s) ||
	    hint(o, "max_lifetime_seconds", &l.lifetime_s);
	json_object_put(o);
	if (bad)
		return (sbx_fail(r, 422, "invalid",
		    "a time is a whole number of seconds, at least 1"));
	switch (session_create(r->srv->host, &l, &s)) {
	case SESSION_OK:
		return (sbx_reply(r, 201, handle(&s)));
	case SESSION_FULL:
		return (sbx_fail(r, 503, "session_full",
		    "this host has no room for another session"));
	default:
		return (-1);
	}
}

int
sbx_retrieve(struct sbx_req *r)
{
	struct session s;

	if (session_find(r->srv->host, r->id, &s) != SESSION_OK)
		return (sbx_fail(r, 404, "not_found", "no such session"));
	return (sbx_reply(r, 200, handle(&s)));
}

int
sbx_destroy(struct sbx_req *r)
{

	/* One that has gone already is what the caller wants. */
	if (session_destroy(r->srv->host, r->id) == SESSION_FAIL)
		return (sbx_fail(r, 500, "failed", "see the sandbox's log"));
	(void)sbx_begin(r, 204, NULL, 0);
	return (0);
}

/* What is served beyond version 1. */
static json_object *
extensions(void)
{
	static const char *const names[] = {
	    "run", "manifest", "calls", "stream", "edit", NULL};
	json_object *a = json_object_new_array();
	size_t i;

	for (i = 0; a != NULL && names[i] != NULL; i++) {
		if (jadd(a, jstr(names[i]))) {
			json_object_put(a);
			a = NULL;
		}
	}
	return (a);
}

/* The languages that can run here. */
static json_object *
languages(const struct languages *L, const char *root)
{
	json_object *a = json_object_new_array();
	const struct language *l;
	size_t i;

	for (i = 0; a != NULL && (l = languages_get(L, i)) != NULL; i++) {
		if (language_absent(l, root) == NULL &&
		    jadd(a, jstr(l->name))) {
			json_object_put(a);
			a = NULL;
		}
	}
	return (a);
}

/* The packages that Python programs find here. */
static json_object *
python_packages(const char *root)
{
	json_object *a = json_object_new_array();
	const struct package *p;

	for (p = packages; a != NULL && p->name != NULL; p++) {
		if (package_is_python(p) && package_is_there(p, root) &&
		    jadd(a, jstr(p->name))) {
			json_object_put(a);
			a = NULL;
		}
	}
	return (a);
}

/* What makes sessions before they are asked for. */
static json_object *
keeper(const struct host *H)
{
	int idle = ready_open(host_dir(H), 0), runs, serves;
	json_object *o;

	runs = idle != -1 && ready_held(idle, "keeper");
	serves = runs && ready_held(idle, "served");
	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "runs", json_object_new_boolean(runs)) ||
	    jset(o, "serves", json_object_new_boolean(serves)) ||
	    jset(o, "ready",
		jint(idle == -1 ? 0 : ready_count(idle, NULL, NULL)))) {
		json_object_put(o);
		o = NULL;
	}
	if (idle != -1)
		(void)close(idle);
	return (o);
}

int
sbx_health(struct sbx_req *r)
{
	json_object *o;

	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "status", jstr("ok")) ||
	    jset(o, "session_count", jint(host_count(r->srv->host))) ||
	    jset(o, "max_sessions", jint(host_most(r->srv->host))) ||
	    jset(o, "extensions", extensions()) ||
	    jset(o, "keeper", keeper(r->srv->host)) ||
	    jset(o, "own_users",
		json_object_new_boolean(users_apart(&r->srv->limits))) ||
	    jset(o, "workspace", jstr(plain_path(&r->srv->limits))) ||
	    jset(o, "packages", python_packages(r->srv->limits.rootfs)) ||
	    jset(o, "languages",
		languages(r->srv->languages, r->srv->limits.rootfs))) {
		json_object_put(o);
		o = NULL;
	}
	return (sbx_reply(r, 200, o));
}
