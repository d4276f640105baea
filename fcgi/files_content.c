#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/conf.h"
#include "base/log.h"
#include "data/file.h"
#include "http/disposition.h"
#include "http/range.h"
#include "io/blob.h"
#include "speech/dialect.h"

#include "fcgi/content.h"
#include "fcgi/req.h"
#include "fcgi/routes.h"

/* Bytes read and sent at a time where the worker sends them. */
#define CHUNK 131072U

#define ETAG_SIZE 80 /* "sha256-", 64 digits, two quotes, a NUL. */

/* One download. */
struct content {
	struct req *r;
	int fd;
	char etag[ETAG_SIZE];
	struct range_ask ask;
	struct range_part part;
};

/* The headers every answer about a stored file has, 304 too. */
static void
common_headers(struct content *c)
{
	struct req *r = c->r;
	char date[CLOCK_HTTP_SIZE];

	clock_http(r->file.created / 1000, date);
	reply_header(r, "ETag", "%s", c->etag);
	reply_header(r, "Last-Modified", "%s", date);
	reply_header(r, "Accept-Ranges", "bytes");
	reply_header(r, "Cache-Control", "private, no-cache");
	reply_header(
	    r, "Content-Security-Policy", "sandbox; default-src 'none'");
}

static void
disposition_header(struct content *c)
{
	char value[DISPOSITION_SIZE];

	disposition_attachment(c->r->file.name, value);
	reply_header(c->r, "Content-Disposition", "%s", value);
}

/*
 * Send ${len} bytes from ${at} on.  When they cannot be had any more their
 * number has been promised already; dispatch then breaks the connection off,
 * which tells the client.
 */
static int
send_bytes(struct content *c, uint64_t at, uint64_t len)
{
	char *buf;
	ssize_t n;
	int rc = -1;

	if ((buf = malloc(CHUNK)) == NULL)
		goto err0;
	for (; len > 0; at += (uint64_t)n, len -= (uint64_t)n) {
		n = pread(
		    c->fd, buf, len < CHUNK ? (size_t)len : CHUNK, (off_t)at);
		if (n == -1 && errno == EINTR) {
			n = 0;
			continue;
		}
		if (n <= 0)
			goto err1;
		/* A client that has left is no error of ours. */
		if ((rc = reply_body(c->r, buf, (size_t)n)) != 0)
			goto done;
	}
	rc = 0;

done:
	free(buf);
	return (rc);

err1:
	log_err("content: %s: %s", c->r->file.key,
	    n == 0 ? "shorter than it was" : strerror(errno));
	free(buf);
err0:
	return (-1);
}

/* Does the request hold a condition, which a front would judge its own way? */
static int
is_conditional(const struct range_ask *a)
{

	return (a->if_match != NULL || a->if_unmodified_since != NULL ||
	    a->if_none_match != NULL || a->if_modified_since != NULL ||
	    a->if_range != NULL);
}

/*
 * Leave the bytes to the front, if it gives the very answer that the worker
 * would.  Return 0 with the header added, or -1.
 */
static int
hand_over(struct content *c, int partial)
{
	struct req *r = c->r;
	const struct conf *conf = r->srv->conf;
	char path[BLOB_PATHMAX];

	if (r->head || is_conditional(&c->ask) || blob_path(r->file.key, path))
		return (-1);
	switch ((enum conf_sendfile)conf->files_sendfile) {
	case SENDFILE_XACCEL:
		if (!r->srv->xaccel_ok || (partial && !c->part.simple))
			return (-1);
		reply_header(r, "X-Accel-Redirect", "%s/%s/%s",
		    conf->files_xaccel_prefix, partial ? "part" : "whole",
		    path);
		return (0);
	case SENDFILE_XSENDFILE:
		/* Such a front knows several ranges, which are refused here. */
		if (c->ask.range != NULL)
			return (-1);
		reply_header(r, "X-Sendfile", "%s/%s", conf->files_root, path);
		return (0);
	case SENDFILE_STREAM:
		break;
	}
	return (-1);
}

static int
send_whole(struct content *c)
{
	struct req *r = c->r;

	common_headers(c);
	disposition_header(c);
	if (hand_over(c, 0) == 0)
		return (reply_begin(r, 200, r->file.mime, -1));
	if (reply_begin(r, 200, r->file.mime, (int64_t)r->file.bytes))
		return (-1);
	return (r->head ? 0 : send_bytes(c, 0, r->file.bytes));
}

static int
send_part(struct content *c)
{
	struct req *r = c->r;
	uint64_t first = c->part.first, last = c->part.last;
	uint64_t len = last - first + 1;

	common_headers(c);
	disposition_header(c);
	if (hand_over(c, 1) == 0)
		return (reply_begin(r, 200, r->file.mime, -1));
	reply_header(r, "Content-Range",
	    "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64, first, last,
	    r->file.bytes);
	if (reply_begin(r, 206, r->file.mime, (int64_t)len))
		return (-1);
	return (r->head ? 0 : send_bytes(c, first, len));
}

/* Answer for the open file by what the request's conditions come to. */
static int
answer(struct content *c)
{
	struct req *r = c->r;
	const struct range_file rf = {
	    .etag = c->etag,
	    .modified = r->file.created / 1000,
	    .size = r->file.bytes,
	};

	switch (range_judge(&c->ask, &rf, &c->part)) {
	case RANGE_WHOLE:
		return (send_whole(c));
	case RANGE_PART:
		return (send_part(c));
	case RANGE_NOT_MODIFIED:
		common_headers(c);
		return (reply_begin(r, 304, NULL, -1));
	case RANGE_PRECONDITION:
		return (reply_problem(r, P_PRECONDITION, NULL,
		    "The file is not in the state that was asked for"));
	case RANGE_UNSATISFIABLE:
		break;
	}
	reply_header(r, "Content-Range", "bytes */%" PRIu64, r->file.bytes);
	return (
	    reply_problem(r, P_RANGE, NULL, "The range lies outside the file"));
}

/*
 * Open the bytes and see that they are what the row says, while an error can
 * still be told.  Return -1 with the answer's result in ${rc}.
 */
static int
open_bytes(struct content *c, int *rc)
{
	struct req *r = c->r;
	char id[FILE_PRINTMAX];
	enum blob_rc brc = BLOB_GONE;
	uint64_t bytes = 0;

	if (r->file.key != NULL)
		brc = blob_open(r->srv->store, r->file.key, &bytes, &c->fd);
	/* Another server opens them by their name. */
	if (brc == BLOB_OK && r->srv->conf->files_sendfile != SENDFILE_STREAM &&
	    (brc = blob_named(r->srv->store, r->file.key)) != BLOB_OK)
		(void)close(c->fd);
	if (brc != BLOB_OK && brc != BLOB_GONE) {
		*rc = reply_store(r, (int)brc);
		return (-1);
	}
	if (brc == BLOB_OK && bytes == r->file.bytes)
		return (0);
	if (brc == BLOB_OK) {
		log_err("content: %s has %" PRIu64 " bytes where %" PRIu64
			" are recorded",
		    file_id_print(r->file.id, id), bytes, r->file.bytes);
		(void)close(c->fd);
	} else
		log_err("content: the bytes of %s are missing",
		    file_id_print(r->file.id, id));
	*rc = reply_problem(
	    r, P_CONTENT_MISSING, NULL, "The file's content is not there");
	return (-1);
}

int
content_send(struct req *r)
{
	struct content c = {.r = r,
	    .ask = {
		.if_match = req_header(r, "If-Match"),
		.if_unmodified_since = req_header(r, "If-Unmodified-Since"),
		.if_none_match = req_header(r, "If-None-Match"),
		.if_modified_since = req_header(r, "If-Modified-Since"),
		.if_range = req_header(r, "If-Range"),
		.range = req_header(r, "Range"),
	    }};
	int rc;

	if (open_bytes(&c, &rc))
		return (rc);
	(void)snprintf(c.etag, sizeof(c.etag), "\"sha256-%s\"", r->file.sha256);
	rc = answer(&c);
	(void)close(c.fd);
	return (rc);
}

/*
 * GET /v1/files/{file}/content
 *
 * 200, 206, 304: the bytes, some of them, or none as the client has them.
 * 400: uploads are not given out here.
 * 404: as for the file itself; an owner is told that it expired.
 * 412, 416: the request's conditions or range.
 * 500: the bytes are gone or not those that were stored.
 * 502: the provider that holds them does not give them out.
 */
int
files_content(struct req *r)
{

	switch (r->file_rc) {
	case DATA_OK:
		break;
	case DATA_EXPIRED:
		return (reply_problem(r, P_FILE_EXPIRED, "id",
		    "No such File object: %s (it has expired)", r->arg[0]));
	case DATA_NONE:
		return (reply_problem(r, P_NOT_FOUND, "id",
		    "No such File object: %s", r->arg[0]));
	default:
		return (reply_data(r, r->file_rc));
	}
	if (!file_is_downloadable(r->srv->conf, &r->file))
		return (reply_problem(r, P_NOT_DOWNLOADABLE, NULL,
		    "Files with purpose %s cannot be downloaded here",
		    r->file.purpose));
	if (r->file.key == NULL && r->file.origin == FILE_PROVIDER)
		return (content_held(r));
	return (content_send(r));
}
