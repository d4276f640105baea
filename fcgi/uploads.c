#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/conf.h"
#include "base/jset.h"
#include "base/jshape.h"
#include "data/upload.h"
#include "http/filename.h"
#include "http/mediatype.h"
#include "speech/dialect.h"

#include "fcgi/file_fields.h"
#include "fcgi/req.h"
#include "fcgi/routes.h"
#include "fcgi/upload_body.h"
#include "fcgi/uploads.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define TEXT_MAX 1048576 /* The fields themselves are judged later. */
#define ID_SIZE 48       /* "upload_" or "part_", 32 digits, a NUL. */

json_object *
uploads_object(struct req *r, const struct upload *u, const char *status,
    const struct file *f)
{
	char id[ID_SIZE];
	json_object *o;

	(void)snprintf(id, sizeof(id), "upload_%s", u->id);
	if ((o = json_object_new_object()) == NULL || jset(o, "id", jstr(id)) ||
	    jset(o, "object", jstr("upload")) ||
	    jset(o, "bytes", jint(u->bytes)) ||
	    jset(o, "created_at", jint(u->created / 1000)) ||
	    jset(o, "expires_at", jint(u->expires / 1000)) ||
	    jset(o, "filename", jstr(u->name)) ||
	    jset(o, "purpose", jstr(u->purpose)) ||
	    jset(o, "status", jstr(status)) ||
	    (f == NULL
		    ? jnull(o, "file")
		    : jset(o, "file", dialect_openai.file(r->srv->conf, f)))) {
		json_object_put(o);
		return (NULL);
	}
	return (o);
}

/* What a POST may say; the number of bytes is judged by take_bytes(). */
struct body {
	uint64_t bytes;
	struct jspan name, expires;
	const char *mime, *purpose;
};

static const struct jshape body_rows[] = {
    {"bytes", JSHAPE_U64_CLAMP, offsetof(struct body, bytes), JSHAPE_REQUIRED,
	0, INT64_MAX, "a whole number"},
    {"filename", JSHAPE_BYTES, offsetof(struct body, name), JSHAPE_REQUIRED, 0,
	TEXT_MAX, "a string"},
    {"mime_type", JSHAPE_TEXT, offsetof(struct body, mime), JSHAPE_REQUIRED, 0,
	TEXT_MAX, "a string without NUL"},
    {"purpose", JSHAPE_TEXT, offsetof(struct body, purpose), JSHAPE_REQUIRED, 0,
	TEXT_MAX, "a string without NUL"},
    {"expires_after", JSHAPE_OBJECT, offsetof(struct body, expires), 0, 0, 0,
	NULL},
};

struct expiry {
	const char *anchor;
	uint64_t seconds;
};

/* Seconds are judged by the rules of a form's field. */
static const struct jshape expiry_rows[] = {
    {"anchor", JSHAPE_TEXT, offsetof(struct expiry, anchor), 0, 0, TEXT_MAX,
	"a string"},
    {"seconds", JSHAPE_U64_CLAMP, offsetof(struct expiry, seconds), 0, 0,
	INT64_MAX, "a whole number"},
};

static int
take_bytes(struct req *r, uint64_t bytes)
{
	uint64_t most = r->srv->conf->files_max_bytes;

	if (bytes == 0) {
		(void)reply_problem(
		    r, P_BELOW_MIN, "bytes", "bytes must be a positive number");
		return (-1);
	}
	if (bytes > most) {
		(void)reply_problem(r, P_TOO_LARGE, "bytes",
		    "The file exceeds the limit of %" PRIu64 " bytes", most);
		return (-1);
	}
	return (0);
}

static int
take_name(struct req *r, const struct body *b, struct upload *u)
{
	char name[FILENAME_SIZE], mime[MEDIATYPE_SIZE];

	mediatype_clean(b->mime, strlen(b->mime), mime);
	if (field_name(r, "filename",
		(int)filename_text(b->name.p, b->name.len, mime,
		    r->srv->conf->files_strict_names, name)))
		return (-1);
	mediatype_choose(b->mime, strlen(b->mime), name, mime);
	u->name = arena_strndup(r->mem, name, strlen(name));
	u->mime = arena_strndup(r->mem, mime, strlen(mime));
	return (u->name == NULL || u->mime == NULL
		? field_name(r, "filename", FILENAME_MEMORY)
		: 0);
}

/* expires_after, judged by the same rules as the two fields of a form. */
static int
take_expiry(struct req *r, struct jspan o, uint64_t *life)
{
	struct expiry e = {NULL, UINT64_MAX};
	struct jshape_fault fault;
	enum jshape_rc rc;
	char digits[24];

	*life = 0;
	if (o.p == NULL)
		return (0);
	rc = jshape_read(
	    r->mem, o, expiry_rows, NELEM(expiry_rows), 0, &e, &fault);
	if (rc != JSHAPE_OK)
		return (reply_shape(r, "expires_after", rc, &fault));
	(void)snprintf(digits, sizeof(digits), "%" PRIu64, e.seconds);
	return (field_expires_after(
	    r, e.anchor, e.seconds != UINT64_MAX ? digits : NULL, life));
}

static int
take_upload(struct req *r, struct upload *u)
{
	struct body b = {0};

	if (req_shape(r, r->srv->conf->body_max_bytes, body_rows,
		NELEM(body_rows), 0, &b) ||
	    take_bytes(r, b.bytes) || take_name(r, &b, u) ||
	    field_purpose(r, b.purpose, &u->purpose) ||
	    take_expiry(r, b.expires, &u->lifetime_s))
		return (-1);
	u->bytes = b.bytes;
	u->lifetime_s = field_retention(r, u->lifetime_s);
	return (0);
}

/*
 * POST /v1/uploads
 *
 * 200: a pending upload, to be filled within an hour.
 * 400, 413: a field, or more bytes than one file may have.
 */
int
uploads_create(struct req *r)
{
	struct upload u = {.state = UPLOAD_PENDING};
	enum data_rc rc;

	if (take_upload(r, &u))
		return (0);
	rc = upload_create(r->srv->db, r->mem, &r->caller.owner, &u);
	if (rc != DATA_OK)
		return (reply_data(r, rc));
	return (reply_json(r, 200, uploads_object(r, &u, "pending", NULL)));
}

int
uploads_closed(struct req *r, const struct upload *u)
{
	static const char *const how[] = {
	    [UPLOAD_PENDING] = "no longer pending",
	    [UPLOAD_COMPLETED] = "completed",
	    [UPLOAD_CANCELLED] = "cancelled",
	    [UPLOAD_EXPIRED] = "expired",
	};

	return (reply_problem(
	    r, P_BAD_REQUEST, NULL, "The upload is %s", how[u->state]));
}

int
uploads_find(struct req *r, struct upload *u)
{
	enum data_rc rc;

	rc = upload_find(
	    r->srv->db, r->mem, &r->caller.owner, r->arg[0], r->caller.now, u);
	if (rc == DATA_NONE)
		(void)reply_problem(r, P_NOT_FOUND, "id",
		    "No such Upload object: %s", r->arg[0]);
	else if (rc != DATA_OK)
		(void)reply_data(r, rc);
	else if (u->state != UPLOAD_PENDING)
		(void)uploads_closed(r, u);
	else
		return (0);
	return (-1);
}

static int
uploads_full(struct req *r)
{

	return (reply_problem(r, P_BAD_REQUEST, NULL,
	    "An upload takes at most %llu parts", UPLOAD_PARTS_MAX));
}

/* Say why the upload takes no more parts, as it stands now. */
static int
uploads_refused(struct req *r)
{
	struct upload u;

	if (uploads_find(r, &u))
		return (0);
	return (u.parts >= UPLOAD_PARTS_MAX ? uploads_full(r)
					    : uploads_closed(r, &u));
}

/* The row of a part, before its first byte. */
static int
part_begin(struct req *r, void *cookie, const char *key, uint64_t *row)
{
	const struct upload *u = cookie;
	enum data_rc rc;

	rc = upload_part_begin(r->srv->db, u, key, r->caller.now, row);
	if (rc == DATA_OK)
		return (0);
	if (rc == DATA_STATE)
		(void)uploads_refused(r);
	else
		(void)reply_data(r, rc);
	return (-1);
}

static void
part_drop(struct req *r, uint64_t row)
{

	upload_part_drop(r->srv->db, row);
}

static json_object *
part_object(const struct upload *u, const struct upload_part *p)
{
	char id[ID_SIZE], upload[ID_SIZE];
	json_object *o;

	(void)snprintf(id, sizeof(id), "part_%s", p->id);
	(void)snprintf(upload, sizeof(upload), "upload_%s", u->id);
	if ((o = json_object_new_object()) == NULL || jset(o, "id", jstr(id)) ||
	    jset(o, "object", jstr("upload.part")) ||
	    jset(o, "created_at", jint(p->created / 1000)) ||
	    jset(o, "upload_id", jstr(upload))) {
		json_object_put(o);
		return (NULL);
	}
	return (o);
}

static int
part_publish(struct req *r, const struct upload *u, struct upload_body *b)
{
	struct upload_part p;
	enum data_rc rc;

	rc = upload_part_publish(
	    r->srv->db, r->mem, u, b->row, b->bytes, r->caller.now, &p);
	if (rc == DATA_OK)
		return (reply_json(r, 200, part_object(u, &p)));
	if (rc != DATA_UNSURE)
		upload_body_undo(b);
	return (rc == DATA_STATE ? uploads_refused(r) : reply_data(r, rc));
}

/*
 * POST /v1/uploads/{id}/parts
 *
 * 200: the part.
 * 400: a broken form, an upload that has ended, one part too many, the quota.
 * 404, 413: no such upload; too large.
 */
int
uploads_part(struct req *r)
{
	static const struct upload_hooks hooks = {NULL, part_begin, part_drop};
	struct upload u;
	struct upload_body b = {
	    .r = r, .part = "data", .hooks = &hooks, .cookie = &u};
	int rc = 0;

	if (uploads_find(r, &u))
		return (0);
	if (u.parts >= UPLOAD_PARTS_MAX)
		return (uploads_full(r));
	u.quota = r->srv->conf->files_quota_user_bytes;
	/* A part larger than the whole could never be used. */
	b.max = u.bytes < UPLOAD_PART_MAX ? u.bytes : UPLOAD_PART_MAX;
	if (upload_body_read(&b) == 0 && upload_body_commit(&b) == 0)
		rc = part_publish(r, &u, &b);
	upload_body_free(&b);
	return (rc);
}

/*
 * POST /v1/uploads/{id}/cancel
 *
 * 200: the upload and its parts are gone.
 * 400, 404: it has ended already; no such upload.
 */
int
uploads_cancel(struct req *r)
{
	struct upload u;
	enum data_rc rc;

	if (uploads_find(r, &u))
		return (0);
	rc = upload_cancel(r->srv->db, &u, r->caller.now);
	if (rc == DATA_STATE)
		return (uploads_closed(r, &u));
	if (rc != DATA_OK)
		return (reply_data(r, rc));
	return (reply_json(r, 200, uploads_object(r, &u, "cancelled", NULL)));
}
