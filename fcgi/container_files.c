#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/conf.h"
#include "base/jget.h"
#include "base/jset.h"
#include "data/file.h"
#include "http/filename.h"
#include "http/mediatype.h"
#include "http/multipart.h"
#include "run/container_use.h"
#include "speech/dialect.h"
#include "speech/refusal.h"

#include "fcgi/containers.h"
#include "fcgi/file_fields.h"
#include "fcgi/page_ask.h"
#include "fcgi/req.h"
#include "fcgi/routes.h"
#include "fcgi/upload_body.h"

#define BODY_MAX 65536
#define PURPOSE "user_data" /* Of a file that comes this way. */

/* ---- The object */

static const char *
print_file(const char *id, char out[static FILE_PRINTMAX])
{

	(void)snprintf(out, FILE_PRINTMAX, "cfile_%s", id);
	return (strlen(id) == FILE_IDLEN ? out : id);
}

static json_object *
file_object(const struct req *r, const struct container_file *f)
{
	const char *bare = container_id_bare(r->arg[0]);
	char id[FILE_PRINTMAX], container[CONTAINER_PRINTMAX];
	char path[CONTAINER_PATHMAX + 16];
	json_object *o;

	(void)snprintf(container, sizeof(container), "cntr_gw_%.20s", bare);
	(void)snprintf(path, sizeof(path), "/mnt/data/%s", f->path);
	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "id", jstr(print_file(f->id, id))) ||
	    jset(o, "object", jstr("container.file")) ||
	    jset(o, "container_id", jstr(container)) ||
	    jset(o, "created_at", jint(f->created / 1000)) ||
	    jset(o, "bytes", jint(f->file.bytes)) ||
	    jset(o, "path", jstr(path)) ||
	    jset(o, "source", jstr(f->produced ? "assistant" : "user"))) {
		json_object_put(o);
		return (NULL);
	}
	return (o);
}

/* ---- Finding */

static int
no_file(struct req *r)
{

	return (reply_problem(r, P_NOT_FOUND, "id",
	    "No such file in the container: %s", r->arg[1]));
}

/* The container, alive.  Return 0, or -1 after answering. */
static int
find_alive(struct req *r, struct container *c)
{

	if (containers_find(r, c))
		return (-1);
	if (c->expires > r->caller.now)
		return (0);
	(void)reply_problem(
	    r, P_CONTAINER_EXPIRED, "id", "Container is expired.");
	return (-1);
}

/* The file that the path names, in the container that it names. */
static int
find_file(struct req *r, struct container_file *f)
{
	struct container c;
	enum data_rc rc;

	if (find_alive(r, &c))
		return (-1);
	rc = container_file_find(r->srv->db, r->mem, &r->caller.owner, c.row,
	    r->file_id, r->caller.now, f);
	if (rc == DATA_OK)
		return (0);
	(void)(rc == DATA_NONE ? no_file(r) : reply_data(r, rc));
	return (-1);
}

/* ---- Putting one there */

/* Put ${f} into the container and answer. */
static int
put_there(struct req *r, const struct file *f)
{
	const char *id = container_id_bare(r->arg[0]);
	struct container_file out;
	struct run_env env;
	struct refusal why;

	containers_env(r, &env);
	switch (container_add(&env, id, f, &out, &why)) {
	case RUN_OK:
		return (reply_json(r, 200, file_object(r, &out)));
	case RUN_GONE:
		r->gone = 1;
		return (-1);
	case RUN_REFUSED:
		break;
	}
	return (containers_refused(r, &why));
}

/* Put the stored file there that is called ${s}, NULL for none. */
static int
put_stored(struct req *r, const char *s)
{
	char id[FILE_IDMAX + 1];
	struct file f;
	enum data_rc rc = DATA_NONE;

	if (s == NULL)
		return (reply_problem(r, P_MISSING_PARAMETER, "file_id",
		    "file_id is missing, or is no string"));
	if (file_id_parse(s, id) == 0)
		rc = file_find(r->srv->db, r->mem, &r->caller.owner, id,
		    r->caller.now, &f);
	if (rc == DATA_NONE || rc == DATA_EXPIRED ||
	    (rc == DATA_OK && f.key == NULL))
		return (reply_problem(r, P_FILE_REFERENCE, "file_id",
		    "file_id: there is no such file"));
	return (rc == DATA_OK ? put_there(r, &f) : reply_data(r, rc));
}

/* {"file_id": ...} */
static int
add_stored(struct req *r)
{
	const char *s = NULL;
	json_object *o;
	int rc;

	if (req_json(r, BODY_MAX, &o, NULL, NULL))
		return (0);
	(void)jget_str(o, "file_id", &s);
	rc = put_stored(r, s);
	json_object_put(o);
	return (rc);
}

/* A file being uploaded. */
struct intake {
	char name[FILENAME_SIZE], mime[MEDIATYPE_SIZE];
};

static int
intake_header(struct req *r, void *cookie, const struct multipart_part *part)
{
	struct intake *in = cookie;

	return (upload_body_name(r, part, in->name, in->mime));
}

static int
publish(struct req *r, const struct intake *in, struct upload_body *u)
{
	const struct file_new new = {.name = in->name,
	    .mime = in->mime,
	    .purpose = PURPOSE,
	    .sha256 = u->sha256,
	    .bytes = u->bytes,
	    .lifetime_s = r->srv->conf->files_retention_s,
	    .origin = FILE_UPLOAD,
	    .quota = r->srv->conf->files_quota_user_bytes};
	struct file f;
	enum data_rc rc;
	int answered;

	rc = file_publish(
	    r->srv->db, r->mem, &r->caller.owner, u->row, &new, &f);
	if (rc == DATA_OK) {
		answered = put_there(r, &f);
		/* Nobody was told of it. */
		if (r->status != 200)
			(void)file_delete(
			    r->srv->db, &r->caller.owner, f.id, r->caller.now);
		return (answered);
	}
	if (rc != DATA_UNSURE)
		upload_body_undo(u);
	return (reply_data(r, rc));
}

static int
add_uploaded(struct req *r)
{
	static const struct upload_hooks hooks = {
	    intake_header, upload_file_begin, upload_file_drop};
	struct intake in = {0};
	struct upload_field stored = {.name = "file_id"};
	struct upload_body u = {
	    .r = r,
	    .part = "file",
	    .max = r->srv->conf->files_max_bytes,
	    .field = &stored,
	    .nfields = 1,
	    .instead = &stored,
	    .hooks = &hooks,
	    .cookie = &in,
	};
	int rc = 0;

	if (upload_body_read(&u) == 0) {
		if (u.seen == 0)
			rc = put_stored(r, stored.value);
		else if (upload_body_commit(&u) == 0)
			rc = publish(r, &in, &u);
	}
	upload_body_free(&u);
	return (rc);
}

/*
 * POST /v1/containers/{id}/files
 *
 * 200: the file lies in the container.
 * 400, 413: a form or body that is not valid; an expired container.
 * 404: no such container, or no such file.
 * 409: code is running there.
 */
int
container_files_create(struct req *r)
{
	static const char json[] = "application/json";
	const char *type = req_header(r, "Content-Type");
	struct container c;

	if (find_alive(r, &c))
		return (0);
	if (type != NULL && strncasecmp(type, json, sizeof(json) - 1) == 0)
		return (add_stored(r));
	return (add_uploaded(r));
}

/* ---- The others */

/*
 * GET /v1/containers/{id}/files
 *
 * 200: a page of what was put there and what code wrote.
 */
int
container_files_list(struct req *r)
{
	struct container c;
	struct container_file *f;
	struct page_ask ask;
	struct container_query q = {
	    .owner = &r->caller.owner, .now = r->caller.now};
	char first[FILE_PRINTMAX], last[FILE_PRINTMAX], id[FILE_IDMAX + 1];
	json_object *a;
	size_t i, n = 0;
	enum data_rc rc = DATA_NONE;

	if (page_ask_read(r, CONTAINERS_DEFAULT, CONTAINERS_PAGE, &ask) ||
	    find_alive(r, &c))
		return (0);
	q.ascending = ask.ascending;
	q.limit = ask.limit + 1;
	q.after = ask.after != NULL ? id : NULL;
	if ((f = arena_alloc(r->mem, q.limit * sizeof(*f))) == NULL)
		return (-1);
	if (ask.after == NULL || file_id_parse(ask.after, id) == 0)
		rc = container_files_page(r->srv->db, r->mem, &q, c.row, f, &n);
	if (rc == DATA_NONE)
		return (
		    reply_problem(r, P_NOT_FOUND, "after", "No such cursor"));
	if (rc != DATA_OK)
		return (reply_data(r, rc));
	if ((a = json_object_new_array()) == NULL)
		return (-1);
	for (i = 0; i < n && i < ask.limit; i++)
		if (jadd(a, file_object(r, &f[i]))) {
			json_object_put(a);
			return (-1);
		}
	return (reply_json(r, 200,
	    containers_page(a, i > 0 ? print_file(f[0].id, first) : NULL,
		i > 0 ? print_file(f[i - 1].id, last) : NULL, n > ask.limit)));
}

/*
 * GET /v1/containers/{id}/files/{file}
 *
 * 200: the file, as the container knows it.
 */
int
container_files_get(struct req *r)
{
	struct container_file f;

	if (find_file(r, &f))
		return (0);
	return (reply_json(r, 200, file_object(r, &f)));
}

/*
 * GET /v1/containers/{id}/files/{file}/content
 *
 * As the content of a file.
 */
int
container_files_content(struct req *r)
{
	struct container_file f;

	if (find_file(r, &f))
		return (0);
	return (files_content(r));
}

/*
 * DELETE /v1/containers/{id}/files/{file}
 *
 * 200: it is no longer in the container; as a stored file it stays.
 */
int
container_files_delete(struct req *r)
{
	struct container_file f;
	struct run_env env;
	struct refusal why;
	json_object *o;
	char id[FILE_PRINTMAX];

	if (find_file(r, &f))
		return (0);
	containers_env(r, &env);
	switch (
	    container_remove(&env, container_id_bare(r->arg[0]), f.id, &why)) {
	case RUN_OK:
		break;
	case RUN_GONE:
		r->gone = 1;
		return (-1);
	case RUN_REFUSED:
		return (containers_refused(r, &why));
	}
	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "id", jstr(print_file(f.id, id))) ||
	    jset(o, "object", jstr("container.file.deleted")) ||
	    jset(o, "deleted", jbool(1))) {
		json_object_put(o);
		o = NULL;
	}
	return (reply_json(r, 200, o));
}
