#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/conf.h"
#include "base/hash.h"
#include "base/jshape.h"
#include "base/log.h"
#include "data/upload.h"
#include "io/blob.h"
#include "speech/problem.h"

#include "fcgi/req.h"
#include "fcgi/routes.h"
#include "fcgi/uploads.h"

#define CHUNK 262144U /* Bytes copied at a time. */
#define PART_ID_MAX 64
#define MD5_WANT "32 hex digits"

/* An upload being completed: what was asked for, and the new file. */
struct join {
	struct req *r;
	struct upload u;
	const char *md5; /* As asked for, or NULL. */
	struct upload_part *part;
	size_t nparts;

	char key[BLOB_KEYLEN + 1];
	uint64_t row; /* 0: none was begun. */
	struct blob *blob;
	struct hash *sha256, *have_md5;
	char sha256_hex[HASH_SIZE];
};

static int
bad_parts(struct req *r, const char *why)
{

	(void)reply_problem(r, P_INVALID_VALUE, "part_ids", "%s", why);
	return (-1);
}

/* Look up the part ${i}, which ${id} names. */
static int
find_part(struct join *j, struct jspan id, size_t i)
{
	struct upload_part *p = &j->part[i];
	struct buf b = BUF_INIT(PART_ID_MAX);
	enum data_rc rc;

	if (id.p[0] != '"') {
		(void)reply_problem(j->r, P_INVALID_TYPE, "part_ids",
		    "part_ids must be an array of strings");
		return (-1);
	}
	/* What is longer than an id names nothing. */
	rc = jspan_str(&b, id) == 0 ? upload_part_find(j->r->srv->db, j->r->mem,
					  &j->u, b.len > 0 ? b.p : "", p)
				    : DATA_NONE;
	buf_free(&b);
	if (rc == DATA_NONE)
		return (bad_parts(j->r, "part_ids names an unknown part"));
	if (rc != DATA_OK) {
		(void)reply_data(j->r, rc);
		return (-1);
	}
	for (size_t k = 0; k < i; k++) {
		if (j->part[k].row == p->row)
			return (bad_parts(
			    j->r, "part_ids names a part more than once"));
	}
	return (0);
}

/* The parts in the order asked for, which must make up the upload. */
static int
take_parts(struct join *j, struct jspan ids)
{
	struct jspan_iter it;
	uint64_t sum = 0;
	struct jspan id;

	(void)jspan_iter(&it, ids);
	while (jspan_next(&it, NULL, &id))
		j->nparts++;
	if (j->nparts == 0 || j->nparts > UPLOAD_PARTS_MAX)
		return (bad_parts(j->r, "part_ids must name 1 to 10000 parts"));
	if ((j->part = arena_alloc(j->r->mem, j->nparts * sizeof(*j->part))) ==
	    NULL)
		return (bad_parts(j->r, "part_ids names too many parts"));
	(void)jspan_iter(&it, ids);
	for (size_t i = 0; jspan_next(&it, NULL, &id) && sum <= j->u.bytes;
	     i++) {
		if (find_part(j, id, i))
			return (-1);
		sum += j->part[i].bytes;
	}
	if (sum == j->u.bytes)
		return (0);
	(void)reply_problem(j->r, P_INVALID_VALUE, "part_ids",
	    "The parts have %s than the %" PRIu64 " bytes announced",
	    sum > j->u.bytes ? "more" : "fewer", j->u.bytes);
	return (-1);
}

/* What a POST may say. */
struct body {
	struct jspan ids;
	const char *md5;
};

static const struct jshape body_rows[] = {
    {"part_ids", JSHAPE_ARRAY, offsetof(struct body, ids), JSHAPE_REQUIRED, 0,
	0, "an array of strings"},
    {"md5", JSHAPE_TEXT, offsetof(struct body, md5), 0, HASH_MD5_HEX,
	HASH_MD5_HEX, MD5_WANT},
};

static int
take_body(struct join *j, struct body *b)
{

	if (req_shape(j->r, j->r->srv->conf->body_max_bytes, body_rows,
		sizeof(body_rows) / sizeof(body_rows[0]), 0, b))
		return (-1);
	j->md5 = b->md5;
	if (b->md5 == NULL ||
	    strspn(b->md5, "0123456789abcdefABCDEF") == HASH_MD5_HEX)
		return (0);
	return (reply_invalid(j->r, "md5", MD5_WANT));
}

/* Answer for a blob operation.  Return -1. */
static int
store_failed(struct join *j, enum blob_rc rc)
{

	(void)reply_store(j->r, (int)rc);
	return (-1);
}

/* Append the ${len} bytes of ${fd}. */
static int
copy_bytes(struct join *j, int fd, uint64_t len, unsigned char *buf)
{
	enum blob_rc rc;
	ssize_t n;

	while (len > 0) {
		n = read(fd, buf, len < CHUNK ? (size_t)len : CHUNK);
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0) {
			log_err("uploads: a part cannot be read: %s",
			    n == 0 ? "too short" : strerror(errno));
			return (store_failed(j, BLOB_FAIL));
		}
		hash_add(j->sha256, buf, (size_t)n);
		if (j->have_md5 != NULL)
			hash_add(j->have_md5, buf, (size_t)n);
		if ((rc = blob_write(j->blob, buf, (size_t)n)) != BLOB_OK)
			return (store_failed(j, rc));
		len -= (uint64_t)n;
	}
	return (0);
}

static int
copy_part(struct join *j, const struct upload_part *p, unsigned char *buf)
{
	enum blob_rc brc;
	uint64_t bytes;
	int fd, rc;

	if ((brc = blob_open(j->r->srv->store, p->key, &bytes, &fd)) !=
	    BLOB_OK) {
		log_err(
		    "uploads: part row %" PRIu64 " cannot be opened", p->row);
		return (store_failed(j, brc));
	}
	if (bytes != p->bytes) {
		log_err(
		    "uploads: part row %" PRIu64 " has another size", p->row);
		rc = store_failed(j, BLOB_FAIL);
	} else {
		rc = copy_bytes(j, fd, bytes, buf);
	}
	(void)close(fd);
	return (rc);
}

/* Join the parts.  A client that has left wants no file. */
static int
copy_all(struct join *j)
{
	unsigned char *buf;
	int rc = 0;

	if ((buf = malloc(CHUNK)) == NULL)
		return (store_failed(j, BLOB_FAIL));
	for (size_t i = 0; i < j->nparts && rc == 0; i++) {
		if (io_gone(j->r->io)) {
			j->r->gone = 1;
			rc = -1;
		} else {
			rc = copy_part(j, &j->part[i], buf);
		}
	}
	free(buf);
	return (rc);
}

static int
check_hashes(struct join *j)
{
	char md5[HASH_SIZE];
	struct hash *sha = j->sha256, *m = j->have_md5;

	j->sha256 = j->have_md5 = NULL;
	if (hash_hex(sha, j->sha256_hex)) {
		hash_free(m);
		return (store_failed(j, BLOB_FAIL));
	}
	if (m == NULL)
		return (0);
	if (hash_hex(m, md5))
		return (store_failed(j, BLOB_FAIL));
	if (strcasecmp(md5, j->md5) == 0)
		return (0);
	(void)reply_problem(j->r, P_INVALID_VALUE, "md5",
	    "The joined parts have the MD5 %s", md5);
	return (-1);
}

/* Begin the new file's row and blob. */
static int
join_begin(struct join *j)
{
	struct req *r = j->r;
	enum data_rc drc;
	enum blob_rc brc;

	if (blob_key(j->key) || (j->sha256 = hash_new(HASH_SHA256)) == NULL ||
	    (j->md5 != NULL && (j->have_md5 = hash_new(HASH_MD5)) == NULL))
		return (store_failed(j, BLOB_FAIL));
	if ((drc = file_begin(r->srv->db, &r->caller.owner, j->key,
		 r->caller.now, &j->row)) != DATA_OK) {
		(void)reply_data(r, drc);
		return (-1);
	}
	brc = blob_new(r->srv->store, j->key, j->u.bytes, &j->blob);
	if (brc == BLOB_OK)
		return (0);
	j->blob = NULL;
	return (store_failed(j, brc));
}

/* Make the bytes durable.  Afterwards the row is no longer join_free()'s. */
static int
join_commit(struct join *j)
{
	struct blob *B = j->blob;
	enum blob_rc rc;

	j->blob = NULL;
	if ((rc = blob_commit(B)) != BLOB_OK)
		return (store_failed(j, rc));
	return (0);
}

static int
join_publish(struct join *j)
{
	struct req *r = j->r;
	const struct file_new new = {
	    .name = j->u.name,
	    .mime = j->u.mime,
	    .purpose = j->u.purpose,
	    .sha256 = j->sha256_hex,
	    .bytes = j->u.bytes,
	    .lifetime_s = j->u.lifetime_s,
	    .origin = FILE_UPLOAD,
	    .quota = r->srv->conf->files_quota_user_bytes,
	};
	uint64_t row = j->row;
	struct file f;
	enum data_rc rc;

	j->row = 0;
	rc = upload_complete(
	    r->srv->db, r->mem, &r->caller.owner, &j->u, row, &new, &f);
	if (rc == DATA_OK)
		return (reply_json(
		    r, 200, uploads_object(r, &j->u, "completed", &f)));
	if (rc != DATA_UNSURE && blob_remove(r->srv->store, j->key) == BLOB_OK)
		file_drop(r->srv->db, row);
	return (
	    rc == DATA_STATE ? uploads_closed(r, &j->u) : reply_data(r, rc));
}

static void
join_free(struct join *j)
{

	blob_abort(j->blob);
	if (j->row != 0)
		file_drop(j->r->srv->db, j->row);
	hash_free(j->sha256);
	hash_free(j->have_md5);
}

/*
 * POST /v1/uploads/{id}/complete
 *
 * 200: the upload with the file that its parts make up.
 * 400: parts that do not, an MD5 that differs, an upload that has ended.
 * 404: no such upload.
 */
int
uploads_complete(struct req *r)
{
	struct join j = {.r = r};
	struct body b = {0};
	int rc = 0;

	if (take_body(&j, &b) == 0 && uploads_find(r, &j.u) == 0 &&
	    take_parts(&j, b.ids) == 0 && join_begin(&j) == 0 &&
	    copy_all(&j) == 0 && check_hashes(&j) == 0 && join_commit(&j) == 0)
		rc = join_publish(&j);
	join_free(&j);
	return (rc);
}
