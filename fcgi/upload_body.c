#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "http/multipart.h"
#include "io/blob.h"
#include "speech/problem.h"

#include "fcgi/body.h"
#include "fcgi/req.h"
#include "fcgi/upload_body.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

/* Bytes read, and bytes written, at a time. */
#define CHUNK 131072U

/* Where in the body the reader stands. */
enum where { OUTSIDE, IN_FILE, IN_FIELD, IN_OTHER };

/* How a broken body is answered; `file` says whether the part is to blame. */
/* clang-format off */
static const struct broken {
	enum multipart_rc rc;
	enum problem kind;
	int file;
} broken[] = {
	{ MULTIPART_TYPE, P_MEDIA_TYPE, 0 },
	{ MULTIPART_BOUNDARY, P_MALFORMED_MULTIPART, 0 },
	{ MULTIPART_MALFORMED, P_MALFORMED_MULTIPART, 0 },
	{ MULTIPART_NAME_BREAK, P_MALFORMED_MULTIPART, 1 },
	{ MULTIPART_ENCODING, P_MALFORMED_MULTIPART, 1 },
	{ MULTIPART_HEADER_BIG, P_MALFORMED_MULTIPART, 0 },
	{ MULTIPART_PARTS, P_MALFORMED_MULTIPART, 0 },
	{ MULTIPART_IGNORED, P_MALFORMED_MULTIPART, 0 },
	{ MULTIPART_EMPTY, P_MISSING_PARAMETER, 1 },
	{ MULTIPART_INCOMPLETE, P_INCOMPLETE_BODY, 0 },
};
/* clang-format on */

static int
answer_broken(struct upload_body *u, enum multipart_rc rc)
{

	for (size_t i = 0; i < NELEM(broken); i++) {
		if (broken[i].rc == rc)
			return (reply_problem(u->r, broken[i].kind,
			    broken[i].file ? u->part : NULL, "%s",
			    multipart_text(rc)));
	}
	return (reply_problem(
	    u->r, P_SERVER, NULL, "The server ran out of memory"));
}

static int
answer_too_large(struct upload_body *u)
{

	return (reply_problem(u->r, P_TOO_LARGE, u->part,
	    "The file exceeds the limit of %" PRIu64 " bytes", u->max));
}

/* Begin the row and the blob.  Return -1 after answering. */
static int
blob_begin(struct upload_body *u)
{
	enum blob_rc rc;

	if (blob_key(u->key) || (u->hash = hash_new(HASH_SHA256)) == NULL) {
		(void)reply_store(u->r, BLOB_FAIL);
		return (-1);
	}
	if (u->hooks->begin(u->r, u->cookie, u->key, &u->row))
		return (-1);
	if ((rc = blob_new(u->r->srv->store, u->key, u->max, &u->blob)) ==
	    BLOB_OK)
		return (0);
	u->blob = NULL;
	(void)reply_store(u->r, (int)rc);
	return (-1);
}

/* Write out what is held.  Return -1 after answering. */
static int
flush(struct upload_body *u)
{
	enum blob_rc rc;

	if (u->blob == NULL && blob_begin(u))
		return (-1);
	hash_add(u->hash, u->held, u->nheld);
	rc = blob_write(u->blob, u->held, u->nheld);
	u->nheld = 0;
	if (rc == BLOB_OK)
		return (0);
	(void)reply_store(u->r, (int)rc);
	return (-1);
}

static int
part_begin(void *cookie, const struct multipart_part *part)
{
	struct upload_body *u = cookie;

	u->where = IN_OTHER;
	u->field_len = 0;
	if (strcmp(part->name, u->part) == 0) {
		u->where = IN_FILE;
		if (u->seen++ > 0) {
			(void)reply_problem(u->r, P_INVALID_VALUE, u->part,
			    "The form has two parts named %s", u->part);
			return (-1);
		}
		if (u->hooks->header == NULL)
			return (0);
		return (u->hooks->header(u->r, u->cookie, part));
	}
	for (size_t i = 0; i < u->nfields; i++) {
		if (strcmp(part->name, u->field[i].name) != 0)
			continue;
		u->where = IN_FIELD;
		u->index = i;
	}
	return (0);
}

static int
file_data(struct upload_body *u, const char *p, size_t len)
{
	size_t n;

	if (len > u->max - u->bytes) {
		(void)answer_too_large(u);
		return (-1);
	}
	u->bytes += len;
	while (len > 0) {
		if (u->nheld == CHUNK && flush(u))
			return (-1);
		n = CHUNK - u->nheld < len ? CHUNK - u->nheld : len;
		memcpy(u->held + u->nheld, p, n);
		u->nheld += n;
		p += n;
		len -= n;
	}
	return (0);
}

static int
part_data(void *cookie, const char *p, size_t len)
{
	struct upload_body *u = cookie;

	if (u->where == IN_FILE)
		return (file_data(u, p, len));
	if (len > UPLOAD_FIELD_MAX - u->field_len) {
		(void)reply_problem(u->r, P_MALFORMED_MULTIPART, NULL,
		    "A field of the form is longer than %d bytes",
		    UPLOAD_FIELD_MAX);
		return (-1);
	}
	if (u->where == IN_FIELD)
		memcpy(u->field_text + u->field_len, p, len);
	u->field_len += len;
	return (0);
}

static int
part_end(void *cookie)
{
	struct upload_body *u = cookie;
	struct upload_field *f;

	if (u->where != IN_FIELD)
		return (0);
	f = &u->field[u->index];
	if (f->count++ > 0)
		return (0);
	if (memchr(u->field_text, '\0', u->field_len) != NULL) {
		(void)reply_problem(u->r, P_INVALID_VALUE, f->name,
		    "The field %s holds a NUL", f->name);
		return (-1);
	}
	f->value = arena_strndup(u->r->mem, u->field_text, u->field_len);
	if (f->value != NULL)
		return (0);
	(void)answer_broken(u, MULTIPART_MEMORY);
	return (-1);
}

/* Feed the body to ${M} until it is over.  Return -1 after answering. */
static int
feed(struct upload_body *u, struct multipart *M, char *buf)
{
	enum multipart_rc mrc;
	enum io_rc rc;
	size_t n;

	while ((rc = req_body_read(u->r, buf, CHUNK, &n)) == IO_OK) {
		if ((mrc = multipart_feed(M, buf, n)) == MULTIPART_OK)
			continue;
		if (mrc != MULTIPART_STOP)
			(void)answer_broken(u, mrc);
		return (-1);
	}
	if (rc != IO_END) {
		(void)req_body_failed(u->r, rc);
		return (-1);
	}
	if ((mrc = multipart_end(M)) != MULTIPART_OK) {
		(void)answer_broken(u, mrc);
		return (-1);
	}
	return (0);
}

/* What can be refused before a byte is read.  Return -1 after answering. */
static int
judge_header(struct upload_body *u)
{
	const int64_t declared = io_declared(u->r->io);

	if (declared > 0 && (uint64_t)declared > u->max + UPLOAD_FRAMING) {
		(void)answer_too_large(u);
		return (-1);
	}
	return (0);
}

/* Was there a file, and was it not empty?  Return -1 after answering. */
static int
judge_file(struct upload_body *u)
{

	if (u->seen == 0 && u->instead != NULL && u->instead->count > 0)
		return (0);
	if (u->seen == 0) {
		(void)reply_problem(u->r, P_MISSING_PARAMETER, u->part,
		    "The form has no part named %s", u->part);
		return (-1);
	}
	if (u->bytes == 0) {
		(void)reply_problem(
		    u->r, P_EMPTY_FILE, u->part, "The file is empty");
		return (-1);
	}
	return (0);
}

int
upload_body_read(struct upload_body *u)
{
	const struct multipart_cb cb = {part_begin, part_data, part_end, u, 0};
	struct multipart *M;
	enum multipart_rc mrc;
	char *buf;
	int rc = -1;

	if ((mrc = multipart_new(req_header(u->r, "Content-Type"), &cb, &M)) !=
	    MULTIPART_OK) {
		(void)answer_broken(u, mrc);
		return (-1);
	}
	if (judge_header(u) || req_body_begin(u->r))
		goto err0;
	buf = malloc(CHUNK);
	u->held = malloc(CHUNK);
	u->field_text = malloc(UPLOAD_FIELD_MAX);
	if (buf == NULL || u->held == NULL || u->field_text == NULL)
		(void)answer_broken(u, MULTIPART_MEMORY);
	else
		rc = feed(u, M, buf);
	req_body_end(u->r);
	free(buf);
	if (rc == 0)
		rc = judge_file(u);

err0:
	multipart_free(M);
	return (rc);
}

int
upload_body_commit(struct upload_body *u)
{
	struct blob *B;
	struct hash *h;
	enum blob_rc rc;

	if (flush(u))
		return (-1);
	h = u->hash;
	u->hash = NULL;
	if (hash_hex(h, u->sha256)) {
		(void)reply_store(u->r, BLOB_FAIL);
		return (-1);
	}
	B = u->blob;
	u->blob = NULL;
	if ((rc = blob_commit(B)) != BLOB_OK) {
		(void)reply_store(u->r, (int)rc);
		return (-1);
	}
	u->committed = 1;
	return (0);
}

void
upload_body_undo(struct upload_body *u)
{

	/* If the bytes stay, so must the row, by which the sweep finds them. */
	if (blob_remove(u->r->srv->store, u->key) == BLOB_OK)
		u->hooks->drop(u->r, u->row);
}

void
upload_body_free(struct upload_body *u)
{

	blob_abort(u->blob);
	if (u->row != 0 && !u->committed)
		u->hooks->drop(u->r, u->row);
	hash_free(u->hash);
	free(u->field_text);
	free(u->held);
}
