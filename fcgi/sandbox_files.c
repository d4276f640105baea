#include <string.h>

#include "base/jset.h"
#include "base/log.h"
#include "base/path.h"
#include "http/query.h"

#include "fcgi/sandbox_call.h"

static const char *
mime(const char *path)
{
	const char *type = path_mime(path);

	return (type != NULL ? type : "application/octet-stream");
}

/* The query's path, of which there is at most one. */
static int
path_asked(struct sbx_req *r, const char *otherwise, const char **path)
{

	*path = query_get(r->query, "path", 0);
	if (*path == NULL)
		*path = otherwise;
	if (*path == NULL || **path == '\0' ||
	    query_count(r->query, "path") > 1) {
		(void)sbx_fail(
		    r, 422, "invalid", "one path is needed, not empty");
		return (-1);
	}
	if (strlen(*path) > 4096) {
		(void)sbx_fail(r, 400, "bad_path", "the path is too long");
		return (-1);
	}
	return (0);
}

static int
add_entry(json_object *list, const struct buf *body)
{
	const char *path;
	json_object *o;
	struct msg m;

	if (msg_parse(body->p, body->len, &m) ||
	    (path = msg_get(&m, MSG_PATH)) == NULL)
		return (-1);
	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "path", jstr(path)) ||
	    jset(o, "size_bytes", jint(msg_get_num(&m, MSG_SIZE, 0))) ||
	    jset(o, "mime_type", jstr(mime(path))) ||
	    jset(
		o, "modified_at", sbx_seconds(msg_get_num(&m, MSG_MTIME, 0)))) {
		json_object_put(o);
		return (-1);
	}
	return (jadd(list, o));
}

static int
list(struct file_call *c, json_object *files)
{
	enum frame_tag tag;
	enum errand_rc rc;
	json_object *o;

	while ((rc = call_next(c, &tag)) == ERRAND_OK && tag == FRAME_FILE)
		if (add_entry(files, &c->er.body))
			return (-1);
	if (rc != ERRAND_OK)
		return (call_answer_rc(c->r, rc));
	if (call_status(c) != REPLY_OK)
		return (call_answer(c->r, call_status(c)));
	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "files", json_object_get(files)) ||
	    (msg_get_num(&c->done, MSG_TRUNCATED, 0) &&
		jset(o, "truncated", jbool(1)))) {
		json_object_put(o);
		o = NULL;
	}
	return (sbx_reply(c->r, 200, o));
}

int
sbx_list(struct sbx_req *r)
{
	struct file_call c = {.r = r};
	json_object *files;
	const char *path;
	int rc;

	if (path_asked(r, ".", &path))
		return (0);
	if (call_begin(&c, OP_LIST, path, &rc))
		return (rc);
	if ((files = json_object_new_array()) == NULL)
		rc = -1;
	else
		rc = list(&c, files);
	json_object_put(files);
	errand_end(&c.er);
	return (rc);
}

/* Pass on the ${left} bytes of a file whose answer has begun. */
static int
pass_on(struct file_call *c, uint64_t left)
{
	enum frame_tag tag = FRAME_DATA;
	enum errand_rc rc;

	while ((rc = call_next(c, &tag)) == ERRAND_OK && tag == FRAME_DATA) {
		if (c->er.body.len > left)
			break;
		left -= c->er.body.len;
		if (sbx_write(c->r, c->er.body.p, c->er.body.len))
			return (0);
	}
	if (left == 0 && tag == FRAME_DONE)
		return (0);

	/* The client must not take a part for the whole. */
	if (rc != ERRAND_LEFT)
		log_err("sandbox: a file ended short of its size");
	io_abort(c->r->io);
	return (0);
}

static int
get(struct file_call *c, const char *path)
{
	enum frame_tag tag;
	enum errand_rc rc;
	uint64_t size;
	struct msg m;

	if ((rc = call_next(c, &tag)) != ERRAND_OK)
		return (call_answer_rc(c->r, rc));
	if (tag == FRAME_DONE)
		return (call_answer(c->r, call_status(c)));
	if (tag != FRAME_FILE || msg_parse(c->er.body.p, c->er.body.len, &m))
		return (call_answer_rc(c->r, ERRAND_BROKEN));
	size = msg_get_num(&m, MSG_SIZE, 0);
	if (sbx_begin(c->r, 200, mime(path), size))
		return (0);
	return (pass_on(c, size));
}

int
sbx_get(struct sbx_req *r)
{
	struct file_call c = {.r = r};
	const char *path;
	int rc;

	if (path_asked(r, NULL, &path))
		return (0);
	if (call_begin(&c, OP_GET, path, &rc))
		return (rc);
	rc = get(&c, path);
	errand_end(&c.er);
	return (rc);
}
