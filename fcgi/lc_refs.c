#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/conf.h"
#include "base/jget.h"
#include "http/place.h"

#include "fcgi/lc.h"
#include "fcgi/lc_ptc.h"
#include "fcgi/lc_refs.h"
#include "fcgi/req.h"

#define SHORT 6 /* Characters of an id in the name of a file put aside. */

/* One reference, as the request says it. */
struct ref {
	size_t at; /* In the list. */
	const char *id, *session, *name;
	struct lc_said said;
};

static int
bad(struct req *r, size_t at, const char *what)
{

	(void)reply_problem(r, P_INVALID_VALUE, NULL, "files[%zu]%s", at, what);
	return (-1);
}

/* The text ${key} of ${o}, NULL if absent or null; -1 for another type. */
static int
text(json_object *o, const char *key, const char **s)
{
	enum jget rc = jget_str(o, key, s);

	if (rc != JGET_OK)
		*s = NULL;
	return (rc == JGET_TYPE || rc == JGET_RANGE ? -1 : 0);
}

/* The version, a number in JSON, as text. */
static int
version(json_object *o, const char **s)
{
	json_object *v;

	*s = NULL;
	if (!json_object_object_get_ex(o, "version", &v) || v == NULL)
		return (0);
	if (!json_object_is_type(v, json_type_int) &&
	    !json_object_is_type(v, json_type_double))
		return (-1);
	*s = json_object_to_json_string(v);
	return (0);
}

static int
read_ref(struct req *r, json_object *o, struct ref *ref)
{
	const char *old;

	if (!json_object_is_type(o, json_type_object))
		return (bad(r, ref->at, " is no object"));
	if (text(o, "id", &ref->id) || ref->id == NULL)
		return (bad(r, ref->at, ".id is missing"));
	if (text(o, "storage_session_id", &ref->session) ||
	    text(o, "session_id", &old))
		return (bad(r, ref->at, ".storage_session_id is no text"));
	if (ref->session == NULL)
		ref->session = old;
	if (text(o, "name", &ref->name))
		return (bad(r, ref->at, ".name is no text"));
	if (text(o, "kind", &ref->said.kind) ||
	    text(o, "resource_id", &ref->said.id))
		return (bad(r, ref->at, ".kind or .resource_id is no text"));
	if (version(o, &ref->said.version))
		return (bad(r, ref->at, ".version is no number"));
	if (ref->said.id == NULL)
		ref->said.id = ref->id;
	return (0);
}

/* One text for what is not there and what is another's. */
static int
unauthorized(struct req *r, const struct ref *ref)
{
	char where[64];

	if (r->lc_round) {
		(void)lc_ptc_error(r, LC_PTC_FAILED,
		    "An input file of the program is not there any more.\n",
		    NULL);
		return (-1);
	}
	(void)snprintf(where, sizeof(where),
	    "files[%zu] is not there, or not the caller's", ref->at);
	(void)lc_reply(r, 403, "Unauthorized file reference", where);
	return (-1);
}

/* May the caller have ${o} by what ${ref} says? */
static int
is_allowed(struct req *r, const struct ref *ref, const char *entity,
    const struct lc_object *o, const char **why)
{
	const struct lc_said old = {.entity = entity};
	struct lc_owner owner;

	if ((*why = lc_owner_why(r, &ref->said, 0, &owner)) != NULL)
		return (0);
	if (lc_owner_same(&owner, &o->owner))
		return (1);
	/* An old client names the entity once for all its files. */
	return (ref->said.kind == NULL && entity != NULL &&
	    lc_owner_why(r, &old, 0, &owner) == NULL &&
	    lc_owner_same(&owner, &o->owner));
}

/* A file of the same owner by its other name. */
static enum data_rc
find_file(struct req *r, const struct ref *ref, struct lc_object *o)
{
	char id[FILE_IDMAX + 1];
	struct lc_owner owner;
	struct file f;
	enum data_rc rc;

	if (file_id_parse(ref->id, id))
		return (DATA_NONE);
	rc = file_find(
	    r->srv->db, r->mem, &r->caller.owner, id, r->caller.now, &f);
	if (rc != DATA_OK)
		return (rc == DATA_EXPIRED ? DATA_NONE : rc);
	lc_owner_user(r, &owner);
	return (lc_name(r->srv->db, r->mem, &owner, &f, r->caller.now, o));
}

/* Find what ${ref} refers to.  Return 0, or -1 after answering. */
static int
resolve(struct req *r, const struct ref *ref, const char *entity,
    struct exec_input *in)
{
	const char *why;
	enum data_rc rc;

	if (ref->session != NULL && lc_id_ok(ref->session) && lc_id_ok(ref->id))
		rc = lc_find(r->srv->db, r->mem, ref->session, ref->id,
		    r->caller.now, &in->o);
	else if (ref->session == NULL)
		rc = find_file(r, ref, &in->o);
	else
		return (
		    bad(r, ref->at, ": an id is not 21 of A-Z a-z 0-9 _ -"));
	if (rc != DATA_OK && rc != DATA_NONE) {
		(void)reply_data(r, rc);
		return (-1);
	}
	if (lc_owner_why(r, &ref->said, 0, &(struct lc_owner){0}) != NULL) {
		(void)lc_owner_of(r, &ref->said, 0, &(struct lc_owner){0});
		return (-1);
	}
	if (rc == DATA_NONE || in->o.file.key == NULL ||
	    !is_allowed(r, ref, entity, &in->o, &why))
		return (unauthorized(r, ref));
	in->place = ref->name != NULL ? ref->name : in->o.place;
	return (0);
}

static int
check_name(
    struct req *r, const struct ref *ref, const char *place, int reserved)
{

	if (!place_ok(place, strlen(place)))
		return (bad(r, ref->at,
		    ".name must be a relative path of 1 to 256 characters and "
		    "at most 10 segments, none of them empty, hidden, . or "
		    ".."));
	if (reserved && strcmp(place_base(place), LC_RESERVED) == 0) {
		(void)reply_problem(r, P_INVALID_VALUE, NULL,
		    "files[].name \"%s\" is reserved", place);
		return (-1);
	}
	return (0);
}

/* Is ${a} a directory above ${b}? */
static int
is_above(const char *a, const char *b)
{
	const size_t len = strlen(a);

	return (strncmp(a, b, len) == 0 && b[len] == '/');
}

/* Put ${in}, whose name a later one has, aside: stem-ID.ext. */
static int
put_aside(struct req *r, struct exec_input *in)
{
	const char *base = place_base(in->place), *dot = strrchr(base, '.');
	char place[PLACE_SIZE + LC_IDLEN + 2];
	int n;

	if (dot == NULL || dot == base)
		dot = base + strlen(base);
	n = snprintf(place, sizeof(place), "%.*s-%.*s%s",
	    (int)(dot - in->place), in->place, SHORT, in->o.object, dot);
	if (n >= (int)sizeof(place) || !place_ok(place, (size_t)n)) {
		(void)lc_reply(r, 400,
		    "Two of files[] have one name that is too long", NULL);
		return (-1);
	}
	in->place = arena_strndup(r->mem, place, (size_t)n);
	return (in->place == NULL ? -1 : 0);
}

/* Is the place of input ${i} that of another one, too? */
static int
is_twice(const struct exec_input *all, size_t n, size_t i)
{

	for (size_t k = 0; k < n; k++)
		if (k != i && strcmp(all[k].place, all[i].place) == 0)
			return (1);
	return (0);
}

/*
 * Put ${in} behind the ${n} inputs there are.  Return 1 if it is one of them, 0
 * if it is new, -1 after answering.
 */
static int
settle(struct req *r, struct exec_input *all, size_t n, struct exec_input *in,
    size_t at)
{

	for (size_t i = 0; i < n; i++) {
		if (is_above(all[i].place, in->place) ||
		    is_above(in->place, all[i].place))
			return (bad(r, at,
			    ".name: one file stands where another needs a "
			    "directory"));
		if (strcmp(all[i].place, in->place) != 0)
			continue;
		if (strcmp(all[i].o.object, in->o.object) == 0 &&
		    strcmp(all[i].o.session, in->o.session) == 0)
			return (1);
		if (put_aside(r, &all[i]))
			return (-1);
		if (is_twice(all, n, i))
			return (
			    bad(r, at, ".name: too many files have this name"));
	}
	return (0);
}

static int
take(struct req *r, json_object *list, const char *entity, int reserved,
    struct exec_input *all, size_t *n)
{
	struct exec_input *in;
	int there;

	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct ref ref = {.at = i};

		in = &all[*n];
		if (read_ref(r, json_object_array_get_idx(list, i), &ref) ||
		    (ref.name != NULL &&
			check_name(r, &ref, ref.name, reserved)) ||
		    resolve(r, &ref, entity, in) ||
		    check_name(r, &ref, in->place, reserved))
			return (-1);
		if ((there = settle(r, all, *n, in, i)) == -1)
			return (-1);
		if (there == 0)
			++*n;
	}
	return (0);
}

int
lc_refs(struct req *r, json_object *o, int reserved, struct exec_input **input,
    size_t *n)
{
	const char *entity;
	json_object *list;
	size_t len;
	enum jget rc;

	*n = 0;
	*input = NULL;
	if ((rc = jget_array(o, "files", &list)) == JGET_ABSENT ||
	    rc == JGET_NULL)
		return (0);
	if (rc != JGET_OK || text(o, "entity_id", &entity)) {
		(void)lc_reply(r, 400, "files must be a list", NULL);
		return (-1);
	}
	if ((len = json_object_array_length(list)) > LC_REFS_MAX) {
		(void)lc_reply(
		    r, 400, "files holds more than 256 references", NULL);
		return (-1);
	}
	if ((*input = arena_alloc(r->mem, (len + 1) * sizeof(**input))) == NULL)
		return (
		    reply_problem(r, P_SERVER, NULL, "Internal server error"),
		    -1);
	if (take(r, list, entity, reserved, *input, n))
		return (-1);
	for (size_t i = 0; i < *n; i++)
		(*input)[i].o.used =
		    lc_touch(r->srv->db, (*input)[i].o.session, r->caller.now,
			(*input)[i].o.used, r->srv->conf->lc_retention_s);
	return (0);
}
