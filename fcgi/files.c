#include "base/conf.h"
#include "data/file.h"
#include "http/filename.h"
#include "http/mediatype.h"
#include "http/multipart.h"
#include "io/fault.h"
#include "speech/dialect.h"

#include "fcgi/file_fields.h"
#include "fcgi/req.h"
#include "fcgi/routes.h"
#include "fcgi/upload_body.h"

/* The fields of the form, in the order of file_fields[]. */
enum { PURPOSE, ANCHOR, SECONDS, FLAT, EXPIRES_IN, USER, WORKSPACE, FIELDS };

/* A file being uploaded. */
struct intake {
	struct upload_field field[FIELDS];
	struct file_new new;
	char name[FILENAME_SIZE], mime[MEDIATYPE_SIZE];
};

/* The part's header: how the file will be called, and its type. */
static int
intake_header(struct req *r, void *cookie, const struct multipart_part *part)
{
	struct intake *in = cookie;

	return (upload_body_name(r, part, in->name, in->mime));
}

/* When the file is to expire, by the caller's own vendor's fields. */
static int
intake_expiry(struct req *r, struct intake *in)
{
	const struct upload_field *f = in->field;
	uint64_t *life = &in->new.lifetime_s;

	if (r->dialect == &dialect_anthropic)
		return (field_expires_in(r, f[EXPIRES_IN].value, life));
	if (f[FLAT].count > 0) {
		(void)reply_problem(r, P_INVALID_TYPE, "expires_after",
		    "expires_after must be given as expires_after[anchor] and "
		    "expires_after[seconds]");
		return (-1);
	}
	return (
	    field_expires_after(r, f[ANCHOR].value, f[SECONDS].value, life));
}

/*
 * Fields given twice, whose second value somebody else might believe.  Those of
 * the other vendor are ignored whatever they hold.
 */
static int
intake_repeats(struct req *r, const struct intake *in)
{
	static const struct {
		const char *param;
		const struct dialect *only;
	} as[FIELDS] = {
	    [PURPOSE] = {"purpose", NULL},
	    [ANCHOR] = {"expires_after.anchor", &dialect_openai},
	    [SECONDS] = {"expires_after.seconds", &dialect_openai},
	    [FLAT] = {"expires_after", &dialect_openai},
	    [EXPIRES_IN] = {"expires_in_seconds", &dialect_anthropic},
	    [USER] = {"user", NULL},
	    [WORKSPACE] = {"workspace_id", NULL},
	};

	for (size_t i = 0; i < FIELDS; i++) {
		if (in->field[i].count < 2 ||
		    (as[i].only != NULL && as[i].only != r->dialect))
			continue;
		(void)reply_problem(r, P_INVALID_VALUE, as[i].param,
		    "The field %s is given more than once", in->field[i].name);
		return (-1);
	}
	return (0);
}

/*
 * A management key says in a field for whom it acts, maybe after the bytes; a
 * row that was begun before goes to that user.
 */
static int
intake_owner(struct req *r, struct intake *in, const struct upload_body *u)
{
	const struct owner was = r->caller.owner;
	enum data_rc rc;

	if (req_act_as(r, in->field[USER].value, in->field[WORKSPACE].value))
		return (-1);
	if (u->row == 0 ||
	    (was.workspace == r->caller.owner.workspace &&
		was.user == r->caller.owner.user))
		return (0);
	if ((rc = file_give(r->srv->db, u->row, &r->caller.owner)) == DATA_OK)
		return (0);
	(void)reply_data(r, rc);
	return (-1);
}

static int
intake_judge(struct req *r, struct intake *in, const struct upload_body *u)
{

	if (intake_repeats(r, in) || intake_owner(r, in, u))
		return (-1);
	if (field_purpose(r, in->field[PURPOSE].value, &in->new.purpose) ||
	    intake_expiry(r, in))
		return (-1);
	in->new.lifetime_s = field_retention(r, in->new.lifetime_s);
	return (0);
}

/* The file is live, whether the caller hears of it or not. */
static int
intake_answer(struct req *r, const struct file *f)
{

	fault_kill("kill-live");
	if (fault("answer-lost")) {
		io_abort(r->io);
		r->gone = 1;
		return (-1);
	}
	return (reply_json(r, 200, r->dialect->file(r->srv->conf, f)));
}

/* Make the durable blob of ${u} a live file and answer with it. */
static int
intake_publish(struct req *r, struct intake *in, struct upload_body *u)
{
	struct file f;
	enum data_rc rc;

	in->new.name = in->name;
	in->new.mime = in->mime;
	in->new.sha256 = u->sha256;
	in->new.bytes = u->bytes;
	in->new.origin = FILE_UPLOAD;
	in->new.quota = r->srv->conf->files_quota_user_bytes;
	fault_kill("kill-durable");
	rc = file_publish(
	    r->srv->db, r->mem, &r->caller.owner, u->row, &in->new, &f);
	if (rc == DATA_OK)
		return (intake_answer(r, &f));
	/* Where nobody knows the commit's outcome the sweep will find out. */
	if (rc != DATA_UNSURE)
		upload_body_undo(u);
	return (reply_data(r, rc));
}

/*
 * POST /v1/files
 *
 * 200: the new file.
 * 400: a form that cannot be read, or a field of it.
 * 413, 415: too large; not a form.
 * 507: the store is full.
 */
int
files_create(struct req *r)
{
	static const struct upload_hooks hooks = {
	    intake_header, upload_file_begin, upload_file_drop};
	struct intake in = {.field = {
				[PURPOSE] = {.name = "purpose"},
				[ANCHOR] = {.name = "expires_after[anchor]"},
				[SECONDS] = {.name = "expires_after[seconds]"},
				[FLAT] = {.name = "expires_after"},
				[EXPIRES_IN] = {.name = "expires_in_seconds"},
				[USER] = {.name = "user"},
				[WORKSPACE] = {.name = "workspace_id"},
			    }};
	struct upload_body u = {
	    .r = r,
	    .part = "file",
	    .max = r->srv->conf->files_max_bytes,
	    .field = in.field,
	    .nfields = FIELDS,
	    .hooks = &hooks,
	    .cookie = &in,
	};
	int rc = 0;

	if (upload_body_read(&u) == 0 && intake_judge(r, &in, &u) == 0 &&
	    upload_body_commit(&u) == 0)
		rc = intake_publish(r, &in, &u);
	upload_body_free(&u);
	return (rc);
}

/*
 * GET /v1/files/{file}
 *
 * 200: the file.
 * 404: no such file, another owner's, deleted or expired; they look alike.
 */
int
files_retrieve(struct req *r)
{

	switch (r->file_rc) {
	case DATA_OK:
		return (reply_json(
		    r, 200, r->dialect->file(r->srv->conf, &r->file)));
	case DATA_NONE:
	case DATA_EXPIRED:
		return (reply_problem(r, P_NOT_FOUND, "id",
		    "No such File object: %s", r->arg[0]));
	default:
		return (reply_data(r, r->file_rc));
	}
}

/*
 * DELETE /v1/files/{file}
 *
 * 200: it is gone for everybody; its bytes go later.
 * 404: as above, and for the second of two deletes.
 */
int
files_delete(struct req *r)
{
	char id[FILE_PRINTMAX];
	enum data_rc rc = r->file_rc;

	if (rc == DATA_OK)
		rc = file_delete(
		    r->srv->db, &r->caller.owner, r->file.id, r->caller.now);
	switch (rc) {
	case DATA_OK:
		return (reply_json(r, 200,
		    r->dialect->deleted(file_id_print(r->file.id, id))));
	case DATA_NONE:
	case DATA_EXPIRED:
		return (reply_problem(r, P_NOT_FOUND, "id",
		    "No such File object: %s", r->arg[0]));
	default:
		return (reply_data(r, rc));
	}
}
