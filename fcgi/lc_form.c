#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/conf.h"
#include "data/file.h"
#include "http/filename.h"
#include "http/multipart.h"

#include "fcgi/body.h"
#include "fcgi/lc.h"
#include "fcgi/lc_form.h"
#include "fcgi/req.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define CHUNK 131072U
#define PARTS_MAX 1024

enum where { IN_OTHER, IN_FIELD, IN_FILE, IN_EXCESS };

static const char *const fields[LC_FIELDS] = {
    [LC_F_KIND] = "kind",
    [LC_F_ID] = "id",
    [LC_F_VERSION] = "version",
    [LC_F_READ_ONLY] = "read_only",
    [LC_F_ENTITY] = "entity_id",
};

static struct lc_file *
current(const struct lc_form *f)
{

	return (f->file[f->n - 1]);
}

static int
no_memory(struct lc_form *f)
{

	(void)reply_problem(
	    f->r, P_SERVER, NULL, "The server ran out of memory");
	return (-1);
}

/* Drop the bytes and the row of the file that is being read. */
static void
drop_current(struct lc_form *f)
{
	struct lc_file *x = current(f);

	hash_free(f->hash);
	f->hash = NULL;
	blob_abort(f->blob);
	f->blob = NULL;
	if (x->row != 0)
		file_drop(f->r->srv->db, x->row);
	x->row = 0;
}

/* A file begins: its row first, then its blob. */
static int
file_start(struct lc_form *f, const struct multipart_part *part)
{
	const struct filename_raw raw = {.plain = part->filename,
	    .plain_len = part->filename_len,
	    .ext = part->filename_ext,
	    .ext_len = part->filename_ext_len};
	struct req *r = f->r;
	struct lc_file *x;
	enum blob_rc brc;
	enum data_rc rc;

	if ((x = arena_alloc(r->mem, sizeof(*x))) == NULL)
		return (no_memory(f));
	mediatype_clean(part->type, part->type_len, x->mime);
	if (place_form(&raw, x->mime, x->place) || blob_key(x->key) ||
	    (f->hash = hash_new(HASH_SHA256)) == NULL)
		return (no_memory(f));
	mediatype_choose(
	    part->type, part->type_len, place_base(x->place), x->mime);
	f->file[f->n++] = x;
	f->where = IN_FILE;
	if ((rc = file_begin(r->srv->db, &r->caller.owner, x->key,
		 r->caller.now, &x->row)) != DATA_OK) {
		(void)reply_data(r, rc);
		return (-1);
	}
	brc = blob_new(
	    r->srv->store, x->key, r->srv->conf->lc_max_bytes, &f->blob);
	if (brc == BLOB_OK)
		return (0);
	f->blob = NULL;
	(void)reply_store(r, (int)brc);
	return (-1);
}

static int
part_begin(void *cookie, const struct multipart_part *part)
{
	struct lc_form *f = cookie;

	f->where = IN_OTHER;
	f->held_n = 0;
	if (part->filename != NULL || part->filename_ext != NULL) {
		/* What a browser sends for a field without a file. */
		if (part->filename_len == 0 && part->filename_ext == NULL)
			return (0);
		if (f->n < f->most)
			return (file_start(f, part));
		f->over++;
		f->where = IN_EXCESS;
		return (0);
	}
	for (size_t i = 0; i < NELEM(fields); i++) {
		if (strcmp(part->name, fields[i]) == 0 && f->field[i] == NULL) {
			f->where = IN_FIELD;
			f->field_at = i;
		}
	}
	return (0);
}

/* Write out what is held of the file. */
static int
flush(struct lc_form *f)
{
	enum blob_rc rc;

	hash_add(f->hash, f->held, f->held_n);
	rc = blob_write(f->blob, f->held, f->held_n);
	f->held_n = 0;
	if (rc == BLOB_OK)
		return (0);
	(void)reply_store(f->r, (int)rc);
	return (-1);
}

static int
file_bytes(struct lc_form *f, const char *p, size_t len)
{
	struct lc_file *x = current(f);
	size_t n;

	if (x->too_big)
		return (0);
	if (len > f->r->srv->conf->lc_max_bytes - x->bytes) {
		x->too_big = 1;
		drop_current(f);
		return (0);
	}
	x->bytes += len;
	while (len > 0) {
		if (f->held_n == CHUNK && flush(f))
			return (-1);
		n = CHUNK - f->held_n < len ? CHUNK - f->held_n : len;
		memcpy(f->held + f->held_n, p, n);
		f->held_n += n;
		p += n;
		len -= n;
	}
	return (0);
}

static int
part_data(void *cookie, const char *p, size_t len)
{
	struct lc_form *f = cookie;

	if (f->where == IN_FILE)
		return (file_bytes(f, p, len));
	/* A file too many is as long as it likes: the answer tells of it. */
	if (f->where == IN_EXCESS)
		return (0);
	if (len > LC_FORM_FIELD - f->held_n) {
		(void)reply_problem(f->r, P_INVALID_VALUE, NULL,
		    "The field %s is longer than %d bytes",
		    f->where == IN_FIELD ? fields[f->field_at] : "of the form",
		    LC_FORM_FIELD);
		return (-1);
	}
	if (f->where == IN_FIELD)
		memcpy(f->held + f->held_n, p, len);
	f->held_n += len;
	return (0);
}

static int
file_end(struct lc_form *f)
{
	struct lc_file *x = current(f);
	struct blob *B = f->blob;
	struct hash *h = f->hash;
	enum blob_rc rc;

	if (x->too_big)
		return (0);
	if (flush(f))
		return (-1);
	f->hash = NULL;
	if (hash_hex(h, x->sha256))
		return (no_memory(f));
	f->blob = NULL;
	if ((rc = blob_commit(B)) != BLOB_OK) {
		(void)reply_store(f->r, (int)rc);
		return (-1);
	}
	x->committed = 1;
	return (0);
}

static int
part_end(void *cookie)
{
	struct lc_form *f = cookie;
	const char **at = &f->field[f->field_at];

	if (f->where == IN_FILE)
		return (file_end(f));
	if (f->where != IN_FIELD)
		return (0);
	if (memchr(f->held, '\0', f->held_n) != NULL) {
		(void)reply_problem(f->r, P_INVALID_VALUE, NULL,
		    "The field %s holds a NUL", fields[f->field_at]);
		return (-1);
	}
	*at = arena_strndup(f->r->mem, f->held, f->held_n);
	return (*at == NULL ? no_memory(f) : 0);
}

static int
answer_broken(struct lc_form *f, enum multipart_rc rc)
{

	switch (rc) {
	case MULTIPART_TYPE:
		(void)lc_reply(f->r, 400,
		    "Invalid content type. Must be multipart/form-data.", NULL);
		break;
	case MULTIPART_MEMORY:
		return (no_memory(f));
	default:
		(void)reply_problem(
		    f->r, P_BAD_REQUEST, NULL, "%s", multipart_text(rc));
		break;
	}
	return (-1);
}

/* Feed the body to ${M} until it is over.  Return -1 after answering. */
static int
feed(struct lc_form *f, struct multipart *M, char *buf)
{
	enum multipart_rc mrc;
	enum io_rc rc;
	size_t n;

	while ((rc = req_body_read(f->r, buf, CHUNK, &n)) == IO_OK) {
		if ((mrc = multipart_feed(M, buf, n)) == MULTIPART_OK)
			continue;
		return (mrc == MULTIPART_STOP ? -1 : answer_broken(f, mrc));
	}
	if (rc != IO_END) {
		(void)req_body_failed(f->r, rc);
		return (-1);
	}
	mrc = multipart_end(M);
	return (mrc == MULTIPART_OK ? 0 : answer_broken(f, mrc));
}

int
lc_form_read(struct lc_form *f)
{
	const struct multipart_cb cb = {
	    part_begin, part_data, part_end, f, PARTS_MAX};
	struct multipart *M;
	enum multipart_rc mrc;
	char *buf;
	int rc = -1;

	if ((mrc = multipart_new(req_header(f->r, "Content-Type"), &cb, &M)) !=
	    MULTIPART_OK)
		return (answer_broken(f, mrc));
	if (req_body_begin(f->r))
		goto err0;
	buf = malloc(CHUNK);
	f->held = malloc(CHUNK);
	if (buf == NULL || f->held == NULL)
		(void)no_memory(f);
	else
		rc = feed(f, M, buf);
	req_body_end(f->r);
	free(buf);

err0:
	multipart_free(M);
	return (rc);
}

void
lc_form_undo(struct lc_form *f)
{
	struct server *srv = f->r->srv;

	for (size_t i = 0; i < f->n; i++) {
		struct lc_file *x = f->file[i];

		/* If the bytes stay, so must the row that tells of them. */
		if (x->row != 0 &&
		    (!x->committed ||
			blob_remove(srv->store, x->key) == BLOB_OK))
			file_drop(srv->db, x->row);
		x->row = 0;
	}
}

void
lc_form_free(struct lc_form *f)
{

	hash_free(f->hash);
	blob_abort(f->blob);
	f->hash = NULL;
	f->blob = NULL;
	free(f->held);
}
