#include <inttypes.h>
#include <string.h>

#include "base/ends.h"
#include "base/jraw.h"
#include "base/jset.h"
#include "base/jspan.h"
#include "base/utf8.h"

#include "jail/call.h"
#include "jail/manifest.h"
#include "jail/program.h"

#include "fcgi/sandbox_exec.h"

#define CALL_DEPTH 64 /* Nesting of a tool call. */

size_t
exec_text(struct buf *b, const char *p, size_t len, size_t max)
{
	static const char bad[] = "\xef\xbf\xbd";
	uint32_t cp;
	size_t n;

	for (; len > 0; p += n, len -= n) {
		if ((n = utf8_next(p, len, &cp)) > 0) {
			if (b->len + n > max || buf_put(b, p, n))
				break;
			continue;
		}
		n = 1;
		if (b->len + 3 > max || buf_put(b, bad, 3))
			break;
	}
	return (len);
}

/* The end of a character whose beginning was dropped, at most 3 bytes. */
static size_t
orphans(const char *p, size_t len)
{
	size_t n;

	for (n = 0; n < len && n < 3 && ((unsigned char)p[n] & 0xc0) == 0x80;
	     n++)
		;
	return (n);
}

/* The two ends, around ${dropped} bytes, as text in ${b}. */
static int
put_parts(
    struct buf *b, const struct output *o, uint64_t dropped, struct gap *g)
{
	struct buf head = BUF_INIT(3 * LIMIT_OUTPUT), tail = head;
	const size_t cut = exec_unfinished(o->first.p, o->first.len),
		     skip = orphans(o->last.p, o->last.len);
	int rc = -1;

	(void)exec_text(
	    &head, o->first.p, o->first.len - cut, 3 * LIMIT_OUTPUT);
	(void)exec_text(
	    &tail, o->last.p + skip, o->last.len - skip, 3 * LIMIT_OUTPUT);
	if (buf_ok(&head) && buf_ok(&tail))
		rc = ends_join(b,
		    &(struct ends){.head = head.p,
			.nhead = head.len,
			.tail = tail.p,
			.ntail = tail.len,
			.between = dropped + cut + skip},
		    g);
	buf_free(&head);
	buf_free(&tail);
	return (rc);
}

/* All that was printed, as text in ${b}. */
static int
put_whole(struct buf *b, const struct output *o)
{
	struct buf raw = BUF_INIT(2 * LIMIT_OUTPUT);
	int rc;

	(void)buf_put(&raw, o->first.p, o->first.len);
	if ((rc = buf_put(&raw, o->last.p, o->last.len)) == 0)
		(void)exec_text(b, raw.p, raw.len, b->max);
	buf_free(&raw);
	return (rc || !buf_ok(b) ? -1 : 0);
}

int
exec_output(
    const struct output *o, uint64_t dropped, struct buf *b, struct gap *g)
{
	struct buf all = BUF_INIT(8 * LIMIT_OUTPUT);
	struct gap whole = {0};
	int rc;

	rc = dropped > 0 ? put_parts(&all, o, dropped, &whole)
			 : put_whole(&all, o);
	if (rc == 0)
		rc = ends_put(b, all.p, all.len, &whole, LIMIT_OUTPUT, g);
	buf_free(&all);
	return (rc);
}

/* Where the middle of a stream is missing. */
static json_object *
left_out(const struct gap *g)
{
	json_object *o;

	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "bytes", jint(g->bytes)) ||
	    jset(o, "line_begins", jint(g->at)) ||
	    jset(o, "line_bytes", jint(g->line))) {
		json_object_put(o);
		return (NULL);
	}
	return (o);
}

/* What an answer calls a stream, and what is missing of it; literals. */
struct names {
	const char *text, *gap;
};
static const struct names out_names = {"stdout", "stdout_left_out"},
			  err_names = {"stderr", "stderr_left_out"};

/* A stream as the caller sees it, in ${o}. */
static int
put_stream(json_object *o, const struct names *names, const struct output *raw,
    uint64_t dropped, const char *note)
{
	struct buf b = BUF_INIT(LIMIT_OUTPUT + 8192);
	struct gap g = {0};
	int rc = -1;

	(void)exec_output(raw, dropped, &b, &g);
	if (note != NULL && b.len > 0 && b.p[b.len - 1] != '\n')
		(void)buf_puts(&b, "\n");
	if (note != NULL)
		(void)buf_puts(&b, note);
	if (buf_ok(&b) &&
	    jset(o, names->text,
		json_object_new_string_len(
		    b.p != NULL ? b.p : "", (int)b.len)) == 0 &&
	    (g.bytes == 0 || jset(o, names->gap, left_out(&g)) == 0))
		rc = 0;
	buf_free(&b);
	return (rc);
}

/* The result a call has; what the sandbox itself says of a run stands apart. */
static json_object *
content(struct exec *e)
{
	const struct msg *m = &e->done;
	const char *note = e->tool->read == exec_read_run ? NULL : e->note;
	json_object *o;

	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "type", jstr("code_execution_result")) ||
	    put_stream(o, &out_names, &e->out,
		msg_get_num(m, MSG_OUT_DROPPED, 0), NULL) ||
	    put_stream(o, &err_names, &e->err,
		msg_get_num(m, MSG_ERR_DROPPED, 0), note) ||
	    jset(o, "return_code", jint(msg_get_num(m, MSG_CODE, 1))) ||
	    jset(o, "content", json_object_get(e->files)) ||
	    (msg_get_num(m, MSG_TRUNCATED, 0) &&
		jset(o, "truncated", jbool(1)))) {
		json_object_put(o);
		return (NULL);
	}
	return (o);
}

static json_object *
result_block(struct exec *e)
{
	json_object *o;

	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "type", jstr(e->tool->result)) ||
	    jset(o, "tool_use_id", jstr(e->tool_use_id)) ||
	    jset(o, "content", content(e))) {
		json_object_put(o);
		return (NULL);
	}
	return (o);
}

/* How the program of a run has ended. */
static const char *
ended(const struct msg *m)
{

	switch ((enum call_end)msg_get_num(m, MSG_END, CALL_FAIL)) {
	case CALL_ENDED:
		return (msg_get_num(m, MSG_SIGNAL, 0) ? "signal" : "exit");
	case CALL_LATE:
		return ("timeout");
	case CALL_MEMORY:
	case CALL_WATCHES:
		return ("memory");
	case CALL_CPU:
		return ("cpu");
	case CALL_FILES:
	case CALL_SPACE:
		return ("files");
	case CALL_TASKS:
		return ("processes");
	case CALL_ASKS:
		return ("calls");
	case CALL_FAIL:
	case CALL_LEFT: /* Nobody is there to be told. */
		break;
	}
	return ("start");
}

static json_object *
run(struct exec *e)
{
	const struct msg *m = &e->done;
	const int compiled =
	    msg_get_num(m, MSG_STAGE, PROGRAM_RAN) == PROGRAM_COMPILED;
	uint64_t sig = msg_get_num(m, MSG_SIGNAL, 0);
	json_object *o;

	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "stage", jstr(compiled ? "compile" : "run")) ||
	    jset(o, "ended", jstr(ended(m))) ||
	    (sig ? jset(o, "signal", jint(sig)) : jnull(o, "signal")) ||
	    jtext(o, "note", e->note) ||
	    jset(o, "stdout_dropped_bytes",
		jint(msg_get_num(m, MSG_OUT_DROPPED, 0))) ||
	    jset(o, "stderr_dropped_bytes",
		jint(msg_get_num(m, MSG_ERR_DROPPED, 0)))) {
		json_object_put(o);
		return (NULL);
	}
	return (o);
}

static json_object *
manifest(struct exec *e)
{
	json_object *o;

	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "files", json_object_get(e->all)) ||
	    jset(o, "truncated",
		jbool(msg_get_num(&e->done, MSG_TRUNCATED, 0) != 0))) {
		json_object_put(o);
		return (NULL);
	}
	return (o);
}

static json_object *
calls(struct exec *e)
{
	const char *broken = msg_get(&e->done, MSG_BROKEN);
	json_object *o;

	if (broken == NULL)
		broken = e->broken;
	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "pending",
		broken != NULL ? json_object_new_array()
			       : json_object_get(e->asked)) ||
	    jtext(o, "error", broken)) {
		json_object_put(o);
		return (NULL);
	}
	return (o);
}

json_object *
exec_answer(struct exec *e)
{
	json_object *o;

	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "tool_use_id", jstr(e->tool_use_id)) ||
	    jset(o, "execution_time_ms",
		jint(msg_get_num(&e->done, MSG_MS, 0))) ||
	    jset(o, "result_block", result_block(e)) ||
	    (e->tool->read == exec_read_run && jset(o, "run", run(e))) ||
	    (e->tool->read == exec_read_edit &&
		jset(o, "edit", exec_edited(e))) ||
	    (e->manifest && jset(o, "manifest", manifest(e))) ||
	    (e->calls && jset(o, "calls", calls(e)))) {
		json_object_put(o);
		return (NULL);
	}
	return (o);
}

/* A file that a call has produced. */
static int
add_output(struct exec *e, const char *path, uint64_t bytes)
{
	json_object *o;

	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "type", jstr("code_execution_output")) ||
	    jset(o, "file_id", jstr(path)) || jset(o, "filename", jstr(path)) ||
	    (bytes != UINT64_MAX && jset(o, "size_bytes", jint(bytes)))) {
		json_object_put(o);
		return (-1);
	}
	return (jadd(e->files, o));
}

/* A line of a manifest. */
static int
add_line(struct exec *e, const struct msg *m, const char *path, uint64_t state)
{
	static const char *const words[] = {[MANIFEST_NEW] = "new",
	    [MANIFEST_CHANGED] = "changed",
	    [MANIFEST_DELETED] = "deleted"};
	json_object *o;

	if (state > MANIFEST_DELETED)
		return (-1);
	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "path", jstr(path)) ||
	    jset(o, "state", jstr(words[state])) ||
	    (state != MANIFEST_DELETED &&
		(jset(o, "size_bytes", jint(msg_get_num(m, MSG_SIZE, 0))) ||
		    jtext(o, "sha256", msg_get(m, MSG_SHA))))) {
		json_object_put(o);
		return (-1);
	}
	return (jadd(e->all, o));
}

int
exec_add_file(struct exec *e, const struct buf *body)
{
	uint64_t state;
	const char *path;
	struct msg m;

	if (msg_parse(body->p, body->len, &m) ||
	    (path = msg_get(&m, MSG_PATH)) == NULL)
		return (-1);
	state = msg_get_num(&m, MSG_STATE, MANIFEST_CHANGED);
	if (state != MANIFEST_DELETED &&
	    add_output(e, path, msg_get_num(&m, MSG_SIZE, UINT64_MAX)))
		return (-1);
	return (e->manifest ? add_line(e, &m, path, state) : 0);
}

int
exec_add_call(struct exec *e, const struct buf *body)
{
	struct jspan_info info;

	if (jspan_check(body->p, body->len, CALL_DEPTH, &info) != JSPAN_OK ||
	    info.nul_key != NULL || info.root.p[0] != '{') {
		e->broken = "a call is no JSON object";
		return (0);
	}
	return (jadd(e->asked, jraw(info.root.p, info.root.len)));
}
