#include <stdio.h>
#include <string.h>

#include "base/conf.h"
#include "base/jset.h"
#include "http/place.h"

#include "fcgi/content.h"
#include "fcgi/lc.h"
#include "fcgi/req.h"
#include "fcgi/routes.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define NAME_SIZE 128 /* "SESSION/OBJECT.ext" */
#define EXT_MAX 16

/* Who is asking, by the query. */
static int
identify(struct req *r, struct lc_said *said)
{

	*said = (struct lc_said){
	    .kind = query_get(r->query, "kind", 0),
	    .id = query_get(r->query, "id", 0),
	    .version = query_get(r->query, "version", 0),
	    .entity = query_get(r->query, "entity_id", 0),
	};
	return (lc_identify(r,
	    said->kind != NULL && strcmp(said->kind, "user") == 0 ? said->id
								  : NULL));
}

static int
forbidden(struct req *r)
{

	(void)lc_reply(r, 403, "Unauthorized", NULL);
	return (-1);
}

static int
not_found(struct req *r)
{
	json_object *o;

	if ((o = lc_error("File not found", NULL)) != NULL &&
	    jset(o, "details",
		jstr("The file may have expired or does not exist"))) {
		json_object_put(o);
		o = NULL;
	}
	(void)reply_json(r, 404, o);
	return (-1);
}

/*
 * The object that the path names, if it is the caller's; ${need}: a token's
 * caller must say of which kind it is.  Return 0, or -1 after answering.
 */
static int
find_object(struct req *r, int need, struct lc_object *o)
{
	struct lc_owner owner;
	struct lc_said said;
	enum data_rc rc;

	if (identify(r, &said) || lc_owner_of(r, &said, need, &owner))
		return (-1);
	rc =
	    lc_find(r->srv->db, r->mem, r->arg[0], r->arg[1], r->caller.now, o);
	if (rc == DATA_NONE)
		return (not_found(r));
	if (rc != DATA_OK) {
		(void)reply_data(r, rc);
		return (-1);
	}
	return (lc_owner_same(&owner, &o->owner) ? 0 : forbidden(r));
}

/* The object is used, and with it its session. */
static void
touch(struct req *r, struct lc_object *o)
{

	o->used = lc_touch(r->srv->db, o->session, r->caller.now, o->used,
	    r->srv->conf->lc_retention_s);
}

/* "SESSION/OBJECT.ext", as old hosts look for it. */
static const char *
storage_name(const struct lc_object *o, char name[static NAME_SIZE])
{
	const char *dot = strrchr(place_base(o->place), '.');
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "abcdefghijklmnopqrstuvwxyz0123456789";

	if (dot == NULL || strlen(dot + 1) > EXT_MAX ||
	    dot[1 + strspn(dot + 1, plain)] != '\0')
		dot = "";
	(void)snprintf(name, NAME_SIZE, "%s/%s%s", o->session, o->object, dot);
	return (name);
}

static json_object *
etag(const struct lc_object *o)
{
	char text[80];

	(void)snprintf(text, sizeof(text), "\"sha256-%s\"", o->file.sha256);
	return (jstr(text));
}

/* --- the list --- */

static int
put_names(json_object *e, const struct lc_object *o)
{

	return (jset(e, "id", jstr(o->object)) ||
	    jset(e, "storage_session_id", jstr(o->session)));
}

static int
put_simple(json_object *e, const struct lc_object *o)
{
	char path[PLACE_SIZE + 16];

	(void)snprintf(path, sizeof(path), "/mnt/data/%s", o->place);
	return (put_names(e, o) || jset(e, "name", jstr(o->place)) ||
	    jset(e, "session_id", jstr(o->session)) ||
	    jset(e, "path", jstr(path)));
}

static int
put_summary(json_object *e, const struct lc_object *o)
{
	char name[NAME_SIZE], when[LC_TIME_SIZE];

	return (jset(e, "name", jstr(storage_name(o, name))) ||
	    jset(e, "size", jint(o->file.bytes)) ||
	    jset(e, "lastModified", jstr(lc_time(o->used, when))) ||
	    jset(e, "etag", etag(o)));
}

static int
put_full(json_object *e, const struct lc_object *o)
{
	json_object *m;

	return (put_names(e, o) || put_summary(e, o) ||
	    jset(e, "session_id", jstr(o->session)) ||
	    jset(e, "metadata", m = json_object_new_object()) ||
	    jset(m, "content-type", jstr(o->file.mime)) ||
	    jset(m, "original-filename", jstr(o->place)) ||
	    jset(e, "contentType", jstr(o->file.mime)) ||
	    jnull(e, "versionId"));
}

static int
put_normalized(json_object *e, const struct lc_object *o)
{
	char when[LC_TIME_SIZE];

	return (put_names(e, o) || jset(e, "name", jstr(o->place)) ||
	    jset(e, "size", jint(o->file.bytes)) ||
	    jset(e, "contentType", jstr(o->file.mime)) ||
	    jset(e, "lastModified", jstr(lc_time(o->used, when))) ||
	    (o->read_only && jset(e, "read_only", jbool(1))));
}

static const struct detail {
	const char *name;
	int (*put)(json_object *, const struct lc_object *);
} details[] = {
    {"simple", put_simple}, /* Also for any word that is none of them. */
    {"summary", put_summary},
    {"full", put_full},
    {"normalized", put_normalized},
};

static json_object *
list_json(const struct detail *d, const struct lc_object *o, size_t n)
{
	json_object *a, *e;

	if ((a = json_object_new_array()) == NULL)
		return (NULL);
	for (size_t i = 0; i < n; i++) {
		if ((e = json_object_new_object()) != NULL &&
		    d->put(e, &o[i])) {
			json_object_put(e);
			e = NULL;
		}
		if (jadd(a, e)) {
			json_object_put(a);
			return (NULL);
		}
	}
	return (a);
}

/*
 * GET /v1/files/{session}
 *
 * 200: its objects, [] if there are none.  A run that made no files has left no
 * row of its session, so one that is not known is empty too.
 * 400, 403: no owner key, or another than the session's.
 */
int
lc_list(struct req *r)
{
	const struct detail *d = &details[0];
	const char *word = query_get(r->query, "detail", 0);
	struct lc_owner owner, have;
	struct lc_object *o;
	struct lc_said said;
	enum data_rc rc;
	uint64_t used;
	size_t n = 0;

	for (size_t i = 0; word != NULL && i < NELEM(details); i++)
		if (strcmp(word, details[i].name) == 0)
			d = &details[i];
	if (identify(r, &said) || lc_owner_of(r, &said, 1, &owner))
		return (0);
	rc = lc_session_find(r->srv->db, r->mem, r->arg[0], &have, &used);
	if (rc == DATA_NONE)
		return (reply_json(r, 200, list_json(d, NULL, 0)));
	if (rc == DATA_OK && !lc_owner_same(&owner, &have))
		return (lc_reply(r, 403, "Unauthorized", NULL));
	if (rc == DATA_OK)
		rc = lc_list_objects(
		    r->srv->db, r->mem, r->arg[0], r->caller.now, &o, &n);
	if (rc != DATA_OK)
		return (reply_data(r, rc));
	for (size_t i = 0; i < n; i++)
		o[i].used = used;
	return (reply_json(r, 200, list_json(d, o, n)));
}

/*
 * GET /v1/sessions/{session}/objects/{object}
 *
 * 200: what a host reads before it uses an object again; that uses it.
 * 403, 404: another owner's; none.
 */
int
lc_metadata(struct req *r)
{
	char name[NAME_SIZE], when[LC_TIME_SIZE];
	struct lc_object o;
	json_object *e;

	if (find_object(r, 1, &o))
		return (0);
	touch(r, &o);
	if ((e = json_object_new_object()) == NULL ||
	    jset(e, "name", jstr(storage_name(&o, name))) ||
	    jset(e, "originalFilename", jstr(o.place)) ||
	    jset(e, "size", jint(o.file.bytes)) ||
	    jset(e, "lastModified", jstr(lc_time(o.used, when))) ||
	    jset(e, "etag", etag(&o)) ||
	    jset(e, "contentType", jstr(o.file.mime)) ||
	    jset(e, "readOnly", jbool(o.read_only))) {
		json_object_put(e);
		e = NULL;
	}
	return (reply_json(r, 200, e));
}

/*
 * GET /v1/download/{session}/{object}
 *
 * 200, 206, 304: the bytes, as content.h has it.
 * 403, 404: another owner's; none.
 */
int
lc_download(struct req *r)
{
	struct lc_object o;

	if (find_object(r, 1, &o))
		return (0);
	touch(r, &o);
	r->file = o.file;
	return (content_send(r));
}

/*
 * DELETE /v1/sessions/{session}/objects/{object}, /v1/files/{session}/{object}
 *
 * 200: it is gone for everybody; its bytes go later.
 * 403, 404: another owner's; none, or none any more.
 */
int
lc_delete(struct req *r)
{
	struct lc_object o;
	json_object *e;
	enum data_rc rc;

	if (find_object(r, 0, &o))
		return (0);
	rc = file_delete(r->srv->db, &o.of, o.file.id, r->caller.now);
	if (rc == DATA_NONE) {
		(void)not_found(r);
		return (0);
	}
	if (rc != DATA_OK)
		return (reply_data(r, rc));
	if ((e = json_object_new_object()) == NULL ||
	    jset(e, "message", jstr("File deleted successfully")) ||
	    jset(e, "session_id", jstr(o.session)) ||
	    jset(e, "fileId", jstr(o.object))) {
		json_object_put(e);
		e = NULL;
	}
	return (reply_json(r, 200, e));
}
