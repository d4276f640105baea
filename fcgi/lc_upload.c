#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/conf.h"
#include "base/jset.h"

#include "fcgi/lc.h"
#include "fcgi/lc_form.h"
#include "fcgi/req.h"
#include "fcgi/routes.h"

#define PURPOSE "user_data"

/* An upload on its way. */
struct intake {
	struct lc_form form;
	struct lc_owner owner;
	struct lc_new *made; /* Of the files that are good. */
	size_t nmade;
	char session[LC_IDLEN + 1];
	const char *why; /* Whose they are to be cannot be said. */
};

/*
 * For whom it is, by fields that may have stood after the files: rows that were
 * begun for the key's own user go to that one.  Return 0, or -1 after
 * answering.
 */
static int
intake_owner(struct intake *in)
{
	const char **v = in->form.field;
	const struct lc_said said = {.kind = v[LC_F_KIND],
	    .id = v[LC_F_ID],
	    .version = v[LC_F_VERSION],
	    .entity = v[LC_F_ENTITY]};
	struct req *r = in->form.r;
	const uint64_t was = r->caller.owner.user;
	enum data_rc rc;

	if (lc_identify(r,
		said.kind != NULL && strcmp(said.kind, "user") == 0 ? said.id
								    : NULL))
		return (-1);
	in->why = lc_owner_why(r, &said, 1, &in->owner);
	for (size_t i = 0; i < in->form.n; i++) {
		if (was == r->caller.owner.user || in->form.file[i]->row == 0)
			continue;
		if ((rc = file_give(r->srv->db, in->form.file[i]->row,
			 &r->caller.owner)) != DATA_OK) {
			(void)reply_data(r, rc);
			return (-1);
		}
	}
	return (0);
}

/* Make the good files live.  Return 0, or -1 after answering. */
static int
intake_publish(struct intake *in)
{
	struct req *r = in->form.r;
	const struct conf *c = r->srv->conf;
	const char *ro = in->form.field[LC_F_READ_ONLY];
	struct lc_new *x;
	enum data_rc rc;

	for (size_t i = 0; i < in->form.n; i++) {
		const struct lc_file *f = in->form.file[i];

		if (f->too_big)
			continue;
		x = &in->made[in->nmade++];
		x->row = f->row;
		x->place = f->place;
		x->read_only = ro != NULL && strcasecmp(ro, "true") == 0;
		x->file = (struct file_new){.name = place_base(f->place),
		    .mime = f->mime,
		    .purpose = PURPOSE,
		    .sha256 = f->sha256,
		    .bytes = f->bytes,
		    .lifetime_s = c->files_retention_s,
		    .origin = FILE_UPLOAD,
		    .quota = c->files_quota_user_bytes};
	}
	if (in->nmade == 0)
		return (0);
	rc = lc_publish(r->srv->db, r->mem, &r->caller.owner, &in->owner,
	    in->session, c->lc_retention_s, in->made, in->nmade);
	if (rc == DATA_OK)
		return (0);
	if (rc == DATA_UNSURE)
		in->form.n = 0; /* The sweep will find out. */
	(void)reply_data(r, rc);
	return (-1);
}

/* Read the form into ${in}.  Return 0, or -1 after answering. */
static int
intake_read(struct intake *in)
{
	struct req *r = in->form.r;

	/* A trusted caller is nobody until he is named, and rows need one. */
	if (r->lc_how == LC_HOW_LOCAL && lc_assume(r, NULL))
		return (-1);
	if (lc_form_read(&in->form) || intake_owner(in))
		return (-1);
	if (in->form.n == 0) {
		(void)lc_reply(r, 400, "No file was uploaded", NULL);
		return (-1);
	}
	in->made = arena_alloc(r->mem, in->form.n * sizeof(*in->made));
	if (in->made == NULL || lc_id(in->session)) {
		(void)reply_problem(r, P_SERVER, NULL, "Internal server error");
		return (-1);
	}
	return (0);
}

/* The members that both answers begin with. */
static json_object *
begin_answer(const struct intake *in, const char *message)
{
	json_object *o;

	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "message", jstr(message)) ||
	    jset(o, "storage_session_id", jstr(in->session)) ||
	    jset(o, "session_id", jstr(in->session))) {
		json_object_put(o);
		return (NULL);
	}
	return (o);
}

static json_object *
answer_one(const struct intake *in)
{
	json_object *o, *a, *e;

	if ((o = begin_answer(in, "success")) == NULL ||
	    jset(o, "files", a = json_object_new_array()) ||
	    jadd(a, e = json_object_new_object()) ||
	    jset(e, "fileId", jstr(in->made[0].object)) ||
	    jset(e, "filename", jstr(in->made[0].place))) {
		json_object_put(o);
		return (NULL);
	}
	return (o);
}

/*
 * POST /v1/upload
 *
 * 200: a storage session with the file.
 * 400: a form that cannot be read or has more than one file, or no owner key.
 * 413: too large.
 */
int
lc_upload(struct req *r)
{
	struct intake in = {.form = {.r = r, .most = 1}};
	int rc = 0;

	if (intake_read(&in))
		goto undo;
	if (in.why != NULL) {
		(void)lc_reply(r, 400, in.why, NULL);
		goto undo;
	}
	if (in.form.over > 0) {
		(void)lc_reply(r, 400,
		    "Only one file can be uploaded here; use /upload/batch",
		    NULL);
		goto undo;
	}
	if (in.form.file[0]->too_big) {
		(void)lc_reply(r, 413, "File size limit exceeded", NULL);
		goto undo;
	}
	if (intake_publish(&in))
		goto undo;
	rc = reply_json(r, 200, answer_one(&in));
	lc_form_free(&in.form);
	return (rc);

undo:
	lc_form_free(&in.form);
	lc_form_undo(&in.form);
	return (rc);
}

/* What became of the file ${f}; ${x} if it was kept. */
static json_object *
batch_entry(
    const struct intake *in, const struct lc_file *f, const struct lc_new *x)
{
	json_object *e;

	if ((e = json_object_new_object()) == NULL ||
	    jset(e, "status", jstr(x != NULL ? "success" : "error")) ||
	    (x != NULL && jset(e, "fileId", jstr(x->object))) ||
	    jset(e, "filename", jstr(f->place)) ||
	    (x == NULL &&
		jset(e, "error",
		    jstr(in->why != NULL ? in->why
					 : "File size limit exceeded")))) {
		json_object_put(e);
		return (NULL);
	}
	return (e);
}

static json_object *
answer_batch(const struct intake *in)
{
	const size_t n = in->form.n, good = in->nmade;
	const struct lc_new *x = in->made;
	json_object *o, *a;

	if ((o = begin_answer(in,
		 good == n       ? "success"
		     : good == 0 ? "error"
				 : "partial_success")) == NULL ||
	    jset(o, "files", a = json_object_new_array()))
		goto err1;
	for (size_t i = 0; i < n; i++) {
		const struct lc_file *f = in->form.file[i];
		const int kept = good > 0 && !f->too_big;

		if (jadd(a, batch_entry(in, f, kept ? x++ : NULL)))
			goto err1;
	}
	if (jset(o, "succeeded", jint(good)) ||
	    jset(o, "failed", jint(n - good)) ||
	    (in->form.over > 0 &&
		(jset(o, "filesLimitReached", jbool(1)) ||
		    jset(o, "maxFiles", jint(LC_FORM_FILES)))))
		goto err1;
	return (o);

err1:
	json_object_put(o);
	return (NULL);
}

/*
 * POST /v1/upload/batch
 *
 * 200: a storage session with those of the first 200 files that are good.
 * 400: none is, or as above.
 */
int
lc_upload_batch(struct req *r)
{
	struct intake in = {.form = {.r = r, .most = LC_FORM_FILES}};
	int rc = 0;

	if (intake_read(&in))
		goto undo;
	if (in.why == NULL && intake_publish(&in))
		goto undo;
	rc = reply_json(r, in.nmade > 0 ? 200 : 400, answer_batch(&in));
	lc_form_free(&in.form);
	if (in.nmade == 0)
		lc_form_undo(&in.form);
	return (rc);

undo:
	lc_form_free(&in.form);
	lc_form_undo(&in.form);
	return (rc);
}
