#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/jset.h"
#include "base/log.h"
#include "http/multipart.h"

#include "fcgi/sandbox_call.h"

#define FORM_MAX 65536 /* Bytes of a form besides its file. */
#define PATH_LEN 4096
#define OTHER_MAX 65536 /* Of fields that are ignored, together. */

enum where { IN_OTHER, IN_FILE, IN_PATH };

/* An upload on its way into a session. */
struct put {
	struct file_call c;
	enum where where;
	size_t other;
	int begun;   /* The supervisor waits for bytes. */
	int code;    /* What the handler is to return once it is answered. */
	int refused; /* The supervisor takes no more; it says why. */
	uint64_t max, bytes;
	struct buf path, name; /* The field, and the part's file name. */
	int has_path;
	struct buf held; /* Bytes for the next frame. */
};

static int
too_large(struct put *p)
{

	p->code = sbx_fail(p->c.r, 413, "too_large",
	    "the file is larger than %" PRIu64 " bytes", p->max);
	return (-1);
}

static int
invalid(struct put *p, const char *why)
{

	p->code = sbx_fail(p->c.r, 422, "invalid", "%s", why);
	return (-1);
}

/* Send what is held. */
static int
flush(struct put *p)
{

	if (p->held.len > 0 &&
	    frame_send(p->c.er.fd, FRAME_DATA, p->held.p, p->held.len)) {
		p->refused = 1;
		return (-1);
	}
	buf_drop(&p->held, p->held.len);
	return (0);
}

static int
on_begin(void *cookie, const struct multipart_part *part)
{
	struct put *p = cookie;

	p->where = IN_OTHER;
	if (strcmp(part->name, "path") == 0) {
		if (p->has_path++)
			return (invalid(p, "path stands twice"));
		p->where = IN_PATH;
	}
	if (strcmp(part->name, "file") != 0)
		return (0);
	if (p->begun)
		return (invalid(p, "file stands twice"));
	if (part->filename != NULL &&
	    buf_put(&p->name, part->filename, part->filename_len))
		return (invalid(p, "the name is too long"));
	if (call_begin(&p->c, OP_PUT, NULL, &p->code))
		return (-1);
	p->begun = 1;
	p->where = IN_FILE;
	return (0);
}

static int
on_data(void *cookie, const char *s, size_t len)
{
	struct put *p = cookie;
	size_t n;

	if (p->where == IN_PATH && buf_put(&p->path, s, len))
		return (invalid(p, "the path is too long"));
	if (p->where == IN_OTHER && len > OTHER_MAX - p->other)
		return (invalid(p, "a field that is not read is too long"));
	if (p->where == IN_OTHER)
		p->other += len;
	if (p->where != IN_FILE)
		return (0);
	if (len > p->max - p->bytes)
		return (too_large(p));
	p->bytes += len;
	for (; len > 0; s += n, len -= n) {
		n = FRAME_PIECE - p->held.len;
		if (n > len)
			n = len;
		if (buf_put(&p->held, s, n)) {
			log_err("sandbox: no memory for an upload");
			p->code = -1;
			return (-1);
		}
		if (p->held.len == FRAME_PIECE && flush(p))
			return (-1);
	}
	return (0);
}

static int
on_end(void *cookie)
{

	(void)cookie;
	return (0);
}

/* Feed the body to ${M}.  Return 0; or -1, answered unless p->refused. */
static int
read_form(struct put *p, struct multipart *M)
{
	enum multipart_rc rc = MULTIPART_OK;
	char piece[16384];
	enum io_rc io;
	size_t n;

	while ((io = io_read(p->c.r->io, piece, sizeof(piece), &n)) == IO_OK) {
		p->c.r->bytes_in += n;
		if ((rc = multipart_feed(M, piece, n)) != MULTIPART_OK)
			break;
	}
	if (rc == MULTIPART_STOP)
		return (-1);
	if (io == IO_SLOW) {
		p->code =
		    sbx_fail(p->c.r, 408, "slow", "the body came too slowly");
		return (-1);
	}
	if (io == IO_CUT) {
		p->code = sbx_fail(p->c.r, 400, "cut", "the body broke off");
		return (-1);
	}
	if (rc == MULTIPART_OK)
		rc = multipart_end(M);
	if (rc == MULTIPART_OK)
		return (0);
	p->code = sbx_fail(p->c.r, 400, "bad_form", "%s", multipart_text(rc));
	return (-1);
}

/* Where the file is to go. */
static int
destination(struct put *p, const struct buf **path)
{

	if (!p->begun)
		return (invalid(p, "a part named file is needed"));
	*path = p->has_path ? &p->path : &p->name;
	if ((*path)->len == 0)
		return (invalid(p, "the file has no name"));
	if (strlen((*path)->p) != (*path)->len)
		return (invalid(p, "the path holds a NUL"));
	return (0);
}

static int
answer_stored(struct put *p)
{
	const char *path = msg_get(&p->c.done, MSG_PATH);
	json_object *o;

	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "path", jstr(path != NULL ? path : "")) ||
	    jset(o, "size_bytes", jint(msg_get_num(&p->c.done, MSG_SIZE, 0)))) {
		json_object_put(o);
		o = NULL;
	}
	return (sbx_reply(p->c.r, 201, o));
}

/* Ask the supervisor what became of it, and answer. */
static int
conclude(struct put *p)
{
	enum frame_tag tag;
	enum errand_rc rc;

	if ((rc = call_next(&p->c, &tag)) == ERRAND_OK && tag != FRAME_DONE)
		rc = ERRAND_BROKEN;
	if (rc != ERRAND_OK)
		return (call_answer_rc(p->c.r, rc));
	if (call_status(&p->c) != REPLY_OK)
		return (call_answer(p->c.r, call_status(&p->c)));
	return (answer_stored(p));
}

static int
put(struct put *p, struct multipart *M)
{
	struct buf m = BUF_INIT(PATH_LEN + 64);
	const struct buf *path = NULL;

	if (read_form(p, M) == 0) {
		if (destination(p, &path))
			return (p->code);
		(void)msg_text(&m, MSG_PATH, path->p, path->len);
		if (flush(p) == 0 &&
		    frame_send(p->c.er.fd, FRAME_LAST, m.p, m.len))
			p->refused = 1;
		buf_free(&m);
		return (conclude(p));
	}
	return (p->refused ? conclude(p) : p->code);
}

int
sbx_put(struct sbx_req *r)
{
	struct put p = {.c = {.r = r},
	    .max = r->srv->limits.workspace,
	    .path = BUF_INIT(PATH_LEN),
	    .name = BUF_INIT(PATH_LEN),
	    .held = BUF_INIT(FRAME_PIECE)};
	const struct multipart_cb cb = {
	    .begin = on_begin, .data = on_data, .end = on_end, .cookie = &p};
	struct multipart *M;
	enum multipart_rc rc;
	int code;

	if (io_declared(r->io) > (int64_t)(p.max + FORM_MAX)) {
		(void)too_large(&p);
		return (p.code);
	}
	rc = multipart_new(io_param(r->io, "CONTENT_TYPE"), &cb, &M);
	if (rc != MULTIPART_OK)
		return (sbx_fail(r, rc == MULTIPART_TYPE ? 422 : 400,
		    "bad_form", "%s", multipart_text(rc)));
	code = put(&p, M);
	multipart_free(M);
	if (p.begun)
		errand_end(&p.c.er);
	buf_free(&p.path);
	buf_free(&p.name);
	buf_free(&p.held);
	return (code);
}
