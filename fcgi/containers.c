#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/conf.h"
#include "base/jget.h"
#include "base/jset.h"
#include "data/policy.h"
#include "run/container_use.h"
#include "run/seed.h"
#include "speech/container_ask.h"
#include "speech/dialect.h"
#include "speech/refusal.h"

#include "fcgi/containers.h"
#include "fcgi/io.h"
#include "fcgi/page_ask.h"
#include "fcgi/req.h"
#include "fcgi/routes.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define BODY_MAX 65536
#define FILES_MAX 100 /* In file_ids. */
#define NAME_BYTES 255

/* ---- Shared */

int
containers_none(struct req *r)
{

	return (reply_problem(
	    r, P_CONTAINER, "id", "No such container: %s", r->arg[0]));
}

int
containers_find(struct req *r, struct container *c)
{
	const char *id = container_id_bare(r->arg[0]);
	enum data_rc rc = DATA_NONE;

	if (id != NULL)
		rc = container_find(
		    r->srv->db, r->mem, &r->caller.owner, id, r->caller.now, c);
	if (rc == DATA_OK || rc == DATA_EXPIRED)
		return (0);
	(void)(rc == DATA_NONE ? containers_none(r) : reply_data(r, rc));
	return (-1);
}

int
containers_refused(struct req *r, const struct refusal *why)
{

	if (why->kind == P_CONTAINER)
		return (containers_none(r));
	return (reply_row(r, problem_row(why->kind),
	    why->param[0] != '\0' ? why->param : NULL, why->message));
}

void
containers_env(struct req *r, struct run_env *env)
{

	*env = (struct run_env){.conf = r->srv->conf,
	    .db = r->srv->db,
	    .store = r->srv->store,
	    .leases = r->srv->leases,
	    .caller = &r->caller,
	    .mem = r->mem,
	    .gone_fd = io_fd(r->io)};
}

json_object *
containers_page(
    json_object *objects, const char *first, const char *last, int more)
{
	json_object *o;

	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "object", jstr("list"))) {
		json_object_put(objects);
		goto err0;
	}
	if (jset(o, "data", objects) || jtext(o, "first_id", first) ||
	    jtext(o, "last_id", last) || jset(o, "has_more", jbool(more)))
		goto err0;

	/* Success! */
	return (o);

err0:
	/* Failure! */
	json_object_put(o);
	return (NULL);
}

/* ---- The object */

static const char *
print_id(const struct container *c, char id[static CONTAINER_PRINTMAX])
{

	(void)snprintf(id, CONTAINER_PRINTMAX, "cntr_gw_%s", c->id);
	return (id);
}

static json_object *
expires_after(const struct container *c)
{
	json_object *o;

	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "anchor", jstr("last_active_at")) ||
	    jset(o, "minutes", jint((c->idle_s + 59) / 60))) {
		json_object_put(o);
		return (NULL);
	}
	return (o);
}

/* The policy that holds, whatever was asked for. */
static json_object *
no_network(void)
{
	json_object *o;

	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "type", jstr("disabled"))) {
		json_object_put(o);
		return (NULL);
	}
	return (o);
}

static json_object *
container_object(const struct req *r, const struct container *c)
{
	char id[CONTAINER_PRINTMAX];
	json_object *o;

	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "id", jstr(print_id(c, id))) ||
	    jset(o, "object", jstr("container")) ||
	    jset(o, "name", jstr(c->name)) ||
	    jset(o, "created_at", jint(c->created / 1000)) ||
	    jset(o, "last_active_at", jint(c->last_active / 1000)) ||
	    jset(o, "status",
		jstr(c->expires > r->caller.now ? "running" : "expired")) ||
	    jset(o, "expires_after", expires_after(c)) ||
	    jset(o, "memory_limit",
		jstr(container_memory(
		    c->memory, r->srv->conf->sandbox_session_memory))) ||
	    jset(o, "network_policy", no_network())) {
		json_object_put(o);
		return (NULL);
	}
	return (o);
}

/* ---- Making one */

static int
take_name(struct req *r, json_object *o, const char **name)
{
	enum jget rc;

	rc = jget_str(o, "name", name);
	if (rc == JGET_ABSENT || rc == JGET_NULL) {
		(void)reply_problem(
		    r, P_MISSING_PARAMETER, "name", "name is missing");
		return (-1);
	}
	if (rc != JGET_OK || **name == '\0' || strlen(*name) > NAME_BYTES)
		return (reply_invalid(r, "name", "a string of 1 to 255 bytes"));
	return (0);
}

static int
take_expiry(struct req *r, json_object *o, uint64_t *idle_s)
{
	const uint64_t most = r->srv->conf->sandbox_lifetime_s / 60;
	const char *anchor;
	json_object *e;
	uint64_t n;
	enum jget rc;

	*idle_s = r->srv->conf->sandbox_idle_s;
	rc = jget_object(o, "expires_after", &e);
	if (rc == JGET_ABSENT || rc == JGET_NULL)
		return (0);
	if (rc != JGET_OK || jget_str(e, "anchor", &anchor) != JGET_OK ||
	    strcmp(anchor, "last_active_at") != 0)
		return (
		    reply_invalid(r, "expires_after.anchor", "last_active_at"));
	if (jget_u64(e, "minutes", 1, most > 0 ? most : 1, &n) != JGET_OK) {
		(void)reply_problem(r, P_INVALID_VALUE, "expires_after.minutes",
		    "expires_after.minutes must be a whole number from 1 to "
		    "%" PRIu64,
		    most > 0 ? most : 1);
		return (-1);
	}
	*idle_s = n * 60;
	return (0);
}

/* What else is asked of it; the answer shows what of that holds. */
static int
take_rest(struct req *r, struct jspan text, json_object *o, const char **memory)
{
	struct jspan_info info;
	const char *why, *member;

	*memory = "1g";
	if (jspan_check(text.p, text.len, JGET_DEPTH, &info) != JSPAN_OK)
		return (reply_invalid(r, "the body", "JSON"));
	if ((why = container_ask_wrong(info.root, &member)) != NULL) {
		(void)reply_problem(
		    r, P_INVALID_VALUE, member, "%s: %s", member, why);
		return (-1);
	}
	(void)jget_str(o, "memory_limit", memory);
	return (0);
}

/* Find one file that is to lie there from the beginning. */
static int
take_file(struct req *r, json_object *v, struct seed *s, struct seeds *all)
{
	char id[FILE_IDMAX + 1];
	enum data_rc rc = DATA_NONE;

	if (!json_object_is_type(v, json_type_string))
		return (reply_invalid(r, "file_ids", "a list of file ids"));
	if (file_id_parse(json_object_get_string(v), id) == 0)
		rc = file_find(r->srv->db, r->mem, &r->caller.owner, id,
		    r->caller.now, &s->file);
	if (rc == DATA_NONE || rc == DATA_EXPIRED) {
		(void)reply_problem(r, P_FILE_REFERENCE, "file_ids",
		    "file_ids: there is no file %.128s",
		    json_object_get_string(v));
		return (-1);
	}
	if (rc == DATA_OK)
		s->name = seed_name(r->mem, all, s->file.name);
	if (rc != DATA_OK || s->name == NULL) {
		(void)reply_data(r, rc != DATA_OK ? rc : DATA_FAIL);
		return (-1);
	}
	*all->end = s;
	all->end = &s->next;
	return (0);
}

static int
take_files(struct req *r, json_object *o, struct seeds *all)
{
	json_object *a;
	struct seed *s;
	enum jget rc;
	size_t i, n;

	rc = jget_array(o, "file_ids", &a);
	if (rc == JGET_ABSENT || rc == JGET_NULL)
		return (0);
	n = rc == JGET_OK ? json_object_array_length(a) : FILES_MAX + 1;
	if (n > FILES_MAX)
		return (reply_invalid(
		    r, "file_ids", "a list of at most 100 file ids"));
	if ((s = arena_alloc(r->mem, (n + 1) * sizeof(*s))) == NULL) {
		(void)reply_data(r, DATA_FAIL);
		return (-1);
	}
	memset(s, 0, (n + 1) * sizeof(*s));
	for (i = 0; i < n; i++)
		if (take_file(r, json_object_array_get_idx(a, i), &s[i], all))
			return (-1);
	return (0);
}

/* May this workspace have code run here at all? */
static int
check_allowed(struct req *r)
{
	struct policy_in_force f;
	enum data_rc rc;

	if (r->srv->conf->sandbox_url == NULL) {
		(void)reply_problem(r, P_NO_SANDBOX, NULL,
		    "No sandbox is configured here, so no code can be run.");
		return (-1);
	}
	rc = policy_in_force(r->srv->db, r->mem, r->caller.owner.workspace, &f);
	if (rc == DATA_OK && f.policy.enabled)
		return (0);
	if (rc == DATA_OK)
		(void)reply_problem(r, P_POLICY, NULL,
		    "Code execution is turned off for this workspace.");
	else
		(void)reply_data(r, rc);
	return (-1);
}

static int
create(struct req *r, const struct container_new *new, const struct seeds *all)
{
	struct container_put *put;
	const struct seed *s;
	struct container c;
	enum data_rc rc;
	size_t n = 0;

	for (s = all->first; s != NULL; s = s->next)
		n++;
	if ((put = arena_alloc(r->mem, (n + 1) * sizeof(*put))) == NULL)
		return (reply_data(r, DATA_FAIL));
	for (n = 0, s = all->first; s != NULL; s = s->next)
		put[n++] = (struct container_put){s->file.id, s->name, 0};
	rc = container_create(
	    r->srv->db, r->mem, &r->caller.owner, new, r->caller.now, &c);
	if (rc == DATA_OK)
		rc = container_file_put(
		    r->srv->db, c.row, put, n, r->caller.now);
	if (rc != DATA_OK)
		return (reply_data(r, rc));
	return (reply_json(r, 200, container_object(r, &c)));
}

/*
 * POST /v1/containers
 *
 * 200: the container; nothing runs in it yet.
 * 400, 403: a field, no sandbox; switched off by policy.
 * 404: a file that is not the caller's.
 */
int
containers_create(struct req *r)
{
	struct container_new new = {.life_s = r->srv->conf->sandbox_lifetime_s};
	struct seeds all = {0};
	struct jspan text;
	json_object *o;
	int answered = 0;

	all.end = &all.first;
	if (check_allowed(r) || req_json(r, BODY_MAX, &o, &text.p, &text.len))
		return (0);
	if (take_name(r, o, &new.name) == 0 &&
	    take_expiry(r, o, &new.idle_s) == 0 &&
	    take_rest(r, text, o, &new.memory) == 0 &&
	    take_files(r, o, &all) == 0)
		answered = create(r, &new, &all);
	json_object_put(o);
	return (answered);
}

/* ---- The others */

/*
 * GET /v1/containers
 *
 * 200: a page of those that are alive.
 * 400: limit, order or after.
 */
int
containers_list(struct req *r)
{
	struct container *c;
	struct page_ask ask;
	struct container_query q = {
	    .owner = &r->caller.owner, .now = r->caller.now};
	char first[CONTAINER_PRINTMAX], last[CONTAINER_PRINTMAX];
	json_object *a;
	size_t i, n = 0;
	enum data_rc rc = DATA_NONE;

	if (page_ask_read(r, CONTAINERS_DEFAULT, CONTAINERS_PAGE, &ask))
		return (0);
	q.ascending = ask.ascending;
	q.limit = ask.limit + 1;
	if ((c = arena_alloc(r->mem, q.limit * sizeof(*c))) == NULL)
		return (-1);
	if (ask.after == NULL ||
	    (q.after = container_id_bare(ask.after)) != NULL)
		rc = container_list(r->srv->db, r->mem, &q, c, &n);
	if (rc == DATA_NONE)
		return (
		    reply_problem(r, P_NOT_FOUND, "after", "No such cursor"));
	if (rc != DATA_OK)
		return (reply_data(r, rc));
	if ((a = json_object_new_array()) == NULL)
		return (-1);
	for (i = 0; i < n && i < ask.limit; i++)
		if (jadd(a, container_object(r, &c[i]))) {
			json_object_put(a);
			return (-1);
		}
	return (reply_json(r, 200,
	    containers_page(a, i > 0 ? print_id(&c[0], first) : NULL,
		i > 0 ? print_id(&c[i - 1], last) : NULL, n > ask.limit)));
}

/*
 * GET /v1/containers/{id}
 *
 * 200: the container, for a day also one that has expired.
 * 404: none of the caller's.
 */
int
containers_get(struct req *r)
{
	struct container c;

	if (containers_find(r, &c))
		return (0);
	return (reply_json(r, 200, container_object(r, &c)));
}

/*
 * DELETE /v1/containers/{id}
 *
 * 200: it is gone for everybody; files that it produced stay.
 * 404: as above, and for the second of two deletes.
 */
int
containers_delete(struct req *r)
{
	const struct sandbox sb = {.url = r->srv->conf->sandbox_url,
	    .token = r->srv->conf->sandbox_token,
	    .gone_fd = -1};
	struct container c;
	json_object *o;
	char id[CONTAINER_PRINTMAX];
	enum data_rc rc;

	if (containers_find(r, &c))
		return (0);
	rc =
	    container_delete(r->srv->db, &r->caller.owner, c.id, r->caller.now);
	if (rc == DATA_NONE)
		return (containers_none(r));
	if (rc != DATA_OK)
		return (reply_data(r, rc));
	if (c.session != NULL && *c.session != '\0' && sb.url != NULL)
		(void)sandbox_destroy(&sb, c.session);
	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "id", jstr(print_id(&c, id))) ||
	    jset(o, "object", jstr("container.deleted")) ||
	    jset(o, "deleted", jbool(1))) {
		json_object_put(o);
		o = NULL;
	}
	return (reply_json(r, 200, o));
}
