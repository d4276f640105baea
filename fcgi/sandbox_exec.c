#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/id.h"
#include "base/jget.h"
#include "base/jset.h"
#include "base/log.h"
#include "base/utf8.h"

#include "jail/editor.h"
#include "jail/errand.h"

#include "fcgi/sandbox.h"

#define TOOL_USE_ID_MAX 256

/* One execution. */
struct exec {
	struct sbx_req *r;
	const struct tool *tool;
	json_object *body, *input; /* The second belongs to the first. */
	uint64_t timeout_s, began;
	const char *tool_use_id;
	char made_id[40]; /* Where the caller gave none. */
	struct buf ask;   /* What the supervisor is asked. */

	/* What it answers. */
	struct buf out, err;
	json_object *files;
	struct msg done;
	const char *note;
};

struct tool {
	const char *name, *result;
	int (*read)(struct exec *);
};

static int read_text(struct exec *);
static int read_edit(struct exec *);

/* clang-format off */
static const struct tool tools[] = {
	{ "code_execution", "code_execution_tool_result", read_text },
	{ "bash_code_execution", "bash_code_execution_tool_result",
	    read_text },
	{ "text_editor_code_execution",
	    "text_editor_code_execution_tool_result", read_edit },
	{ NULL, NULL, NULL }
};

/* What an editor's command may carry besides command and path. */
static const struct {
	const char *name;
	enum msg_key key;
} edit_texts[] = {
	{ "file_text", MSG_FILE_TEXT }, { "old_str", MSG_OLD },
	{ "new_str", MSG_NEW }, { NULL, 0 }
};
/* clang-format on */

static int
refuse(struct exec *e, const char *what)
{

	(void)sbx_fail(e->r, 422, "invalid", "%s", what);
	return (-1);
}

/* The program or command. */
static int
read_text(struct exec *e)
{
	const int python = e->tool == &tools[0];
	const char *key = python ? "code" : "command", *text;

	switch (jget_str(e->input, key, &text)) {
	case JGET_OK:
		break;
	case JGET_RANGE:
		return (refuse(e, "the text holds a NUL"));
	default:
		return (refuse(e,
		    python ? "input.code is needed, a text"
			   : "input.command is needed, a text"));
	}
	if (*text == '\0')
		return (refuse(e, "the text is empty"));
	if (utf8_count(text, strlen(text)) > SBX_TEXT_CHARS)
		return (refuse(e, "the text is longer than 200000 characters"));
	(void)msg_num(&e->ask, MSG_OP, python ? OP_PYTHON : OP_BASH);
	(void)msg_text(&e->ask, MSG_TEXT, text, strlen(text));
	return (0);
}

/* view_range: [first, last], last -1 for the end. */
static int
read_range(struct exec *e)
{
	json_object *a;
	int64_t v[2];
	int i;

	switch (jget_array(e->input, "view_range", &a)) {
	case JGET_OK:
		break;
	case JGET_ABSENT:
	case JGET_NULL:
		return (0);
	default:
		return (refuse(e, "input.view_range is [first, last]"));
	}
	if (json_object_array_length(a) != 2)
		return (refuse(e, "input.view_range is [first, last]"));
	for (i = 0; i < 2; i++) {
		json_object *n = json_object_array_get_idx(a, (size_t)i);

		if (!json_object_is_type(n, json_type_int))
			return (refuse(e, "input.view_range is [first, last]"));
		v[i] = json_object_get_int64(n);
	}

	/* What makes no sense is the command's failure, not the request's. */
	if (v[0] < 1 || (v[1] != -1 && v[1] < v[0]))
		v[0] = v[1] = 0;
	(void)msg_num(&e->ask, MSG_FIRST, (uint64_t)v[0]);
	(void)msg_num(&e->ask, MSG_LAST, v[1] == -1 ? 0 : (uint64_t)v[1]);
	return (0);
}

static int
read_line(struct exec *e)
{
	uint64_t line;

	switch (jget_u64(e->input, "insert_line", 0, INT64_MAX, &line)) {
	case JGET_OK:
		break;
	case JGET_ABSENT:
	case JGET_NULL:
		return (0);
	case JGET_RANGE:
		line = INT64_MAX; /* No file has that line either. */
		break;
	default:
		return (refuse(e, "input.insert_line is a line number"));
	}
	(void)msg_num(&e->ask, MSG_LINE, line);
	return (0);
}

static int
read_edit(struct exec *e)
{
	const char *command, *path, *text;
	size_t i;

	if (jget_str(e->input, "command", &command) != JGET_OK ||
	    !editor_known(command))
		return (refuse(e,
		    "input.command is one of view, create, str_replace,"
		    " insert, undo_edit"));
	if (jget_str(e->input, "path", &path) != JGET_OK || *path == '\0')
		return (refuse(e, "input.path is needed, a text"));
	(void)msg_num(&e->ask, MSG_OP, OP_EDIT);
	(void)msg_text(&e->ask, MSG_EDIT, command, strlen(command));
	(void)msg_text(&e->ask, MSG_PATH, path, strlen(path));
	for (i = 0; edit_texts[i].name != NULL; i++) {
		switch (jget_str(e->input, edit_texts[i].name, &text)) {
		case JGET_OK:
			break;
		case JGET_ABSENT:
		case JGET_NULL:
			continue;
		default:
			return (refuse(e, "a text is no text, or holds a NUL"));
		}
		if (strlen(text) > SBX_FILE_TEXT)
			return (refuse(e, "a text is longer than 1 MiB"));
		(void)msg_text(&e->ask, edit_texts[i].key, text, strlen(text));
	}
	return (read_range(e) || read_line(e) ? -1 : 0);
}

static int
read_tool_use_id(struct exec *e)
{

	switch (jget_str(e->body, "tool_use_id", &e->tool_use_id)) {
	case JGET_OK:
		if (strlen(e->tool_use_id) > TOOL_USE_ID_MAX)
			return (refuse(e, "tool_use_id is too long"));
		return (0);
	case JGET_ABSENT:
	case JGET_NULL:
		memcpy(e->made_id, "srvtoolu_", 9);
		if (id_base62(e->made_id + 9, 24))
			return (-1);
		e->tool_use_id = e->made_id;
		return (0);
	default:
		return (refuse(e, "tool_use_id is a text"));
	}
}

static int
read_timeout(struct exec *e)
{

	switch (jget_u64(
	    e->body, "timeout_seconds", 1, UINT64_MAX - 1, &e->timeout_s)) {
	case JGET_OK:
		break;
	case JGET_ABSENT:
	case JGET_NULL:
		e->timeout_s = SBX_TIMEOUT_S;
		break;
	default:
		return (refuse(e,
		    "timeout_seconds is a whole number of seconds, at least"
		    " 1"));
	}
	if (e->timeout_s > SBX_TIMEOUT_MAX_S)
		e->timeout_s = SBX_TIMEOUT_MAX_S;
	return (0);
}

/* Read the request.  Return 0, or -1 after answering. */
static int
read_request(struct exec *e)
{
	const char *name;

	if (sbx_json(e->r, SBX_BODY_MAX, &e->body))
		return (-1);
	e->began = clock_ms();
	if (e->body == NULL)
		return (refuse(e, "a JSON object is needed"));
	if (jget_str(e->body, "tool", &name) != JGET_OK)
		return (refuse(e, "tool is needed, a text"));
	for (e->tool = tools; e->tool->name != NULL; e->tool++)
		if (strcmp(e->tool->name, name) == 0)
			break;
	if (e->tool->name == NULL)
		return (refuse(e, "no such tool"));
	if (jget_object(e->body, "input", &e->input) != JGET_OK)
		return (refuse(e, "input is needed, an object"));
	if (read_timeout(e) || read_tool_use_id(e) || e->tool->read(e))
		return (-1);
	(void)msg_num(&e->ask, MSG_LIMIT, e->timeout_s);
	(void)msg_num(&e->ask, MSG_DEADLINE, e->began + e->timeout_s * 1000);
	return (buf_ok(&e->ask) ? 0 : refuse(e, "the texts are too long"));
}

/*
 * Append what can be shown of the ${len} bytes at ${p}: at most ${max} bytes,
 * whole characters, U+FFFD for each broken piece.  Return how many bytes of
 * ${p} had no room.
 */
static size_t
show(struct buf *b, const char *p, size_t len, size_t max)
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

static int
add_file(struct exec *e, const struct buf *body)
{
	json_object *o;
	const char *path;
	struct msg m;

	if (msg_parse(body->p, body->len, &m) ||
	    (path = msg_get(&m, MSG_PATH)) == NULL)
		return (-1);
	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "type", jstr("code_execution_output")) ||
	    jset(o, "file_id", jstr(path)) || jset(o, "filename", jstr(path))) {
		json_object_put(o);
		return (-1);
	}
	return (jadd(e->files, o));
}

/* Take the supervisor's frames up to the last, which stays in ${er}->body. */
static enum errand_rc
collect(struct exec *e, struct errand *er)
{
	const uint64_t until = e->began + e->timeout_s * 1000 + SBX_GRACE_MS;
	enum errand_rc rc;
	enum frame_tag tag;

	while ((rc = errand_next(er, until, &tag)) == ERRAND_OK) {
		switch (tag) {
		case FRAME_OUT:
			(void)buf_put(&e->out, er->body.p, er->body.len);
			break;
		case FRAME_ERR:
			(void)buf_put(&e->err, er->body.p, er->body.len);
			break;
		case FRAME_FILE:
			if (add_file(e, &er->body))
				return (ERRAND_BROKEN);
			break;
		case FRAME_DONE:
			if (msg_parse(er->body.p, er->body.len, &e->done))
				return (ERRAND_BROKEN);
			return (ERRAND_OK);
		default:
			return (ERRAND_BROKEN);
		}
	}
	return (rc);
}

/* A stream as the caller sees it. */
static json_object *
stream(const struct buf *raw, uint64_t dropped, const char *note)
{
	struct buf b = BUF_INIT(LIMIT_OUTPUT + 8192);
	json_object *o = NULL;

	dropped += show(&b, raw->p, raw->len, LIMIT_OUTPUT);
	if (b.len > 0 && b.p[b.len - 1] != '\n' &&
	    (dropped > 0 || note != NULL))
		(void)buf_puts(&b, "\n");
	if (dropped > 0)
		(void)buf_printf(
		    &b, "[%" PRIu64 " more bytes were dropped]\n", dropped);
	if (note != NULL)
		(void)buf_puts(&b, note);
	if (buf_ok(&b))
		o = json_object_new_string_len(
		    b.p != NULL ? b.p : "", (int)b.len);
	buf_free(&b);
	return (o);
}

static json_object *
content(struct exec *e)
{
	const struct msg *m = &e->done;
	json_object *o;

	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "type", jstr("code_execution_result")) ||
	    jset(o, "stdout",
		stream(&e->out, msg_get_num(m, MSG_OUT_DROPPED, 0), NULL)) ||
	    jset(o, "stderr",
		stream(&e->err, msg_get_num(m, MSG_ERR_DROPPED, 0), e->note)) ||
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

static int
reply(struct exec *e)
{
	json_object *o;

	if ((o = json_object_new_object()) == NULL ||
	    jset(o, "tool_use_id", jstr(e->tool_use_id)) ||
	    jset(o, "execution_time_ms",
		jint(msg_get_num(&e->done, MSG_MS, 0))) ||
	    jset(o, "result_block", result_block(e))) {
		json_object_put(o);
		o = NULL;
	}
	return (sbx_reply(e->r, 200, o));
}

/* The whole of the call's time went by before its turn. */
static int
reply_waited(struct exec *e)
{
	char note[128];
	struct buf m = BUF_INIT(64);
	int rc;

	(void)snprintf(note, sizeof(note),
	    "sandbox: not run: it waited %" PRIu64
	    " s for another call of this session\n",
	    e->timeout_s);
	e->note = note;
	(void)msg_num(&m, MSG_CODE, 124);
	if (!buf_ok(&m) || msg_parse(m.p, m.len, &e->done))
		rc = -1;
	else
		rc = reply(e);
	buf_free(&m);
	return (rc);
}

static int
reply_other(struct exec *e, enum errand_rc rc)
{

	switch (rc) {
	case ERRAND_NONE:
		return (sbx_fail(e->r, 404, "not_found", "no such session"));
	case ERRAND_LEFT:
		e->r->gone = 1;
		e->r->status = 499;
		return (0);
	case ERRAND_LATE:
		log_err("sandbox: a call did not end in its time");
		return (-1);
	default:
		log_err("sandbox: a call's answer makes no sense");
		return (-1);
	}
}

static int
run(struct exec *e)
{
	const uint64_t until = e->began + e->timeout_s * 1000;
	struct errand er;
	enum errand_rc rc;
	int code;

	rc = errand_start(
	    e->r->srv->host, e->r->id, &e->ask, io_fd(e->r->io), until, &er);
	if (rc == ERRAND_LATE)
		return (reply_waited(e));
	if (rc != ERRAND_OK)
		return (reply_other(e, rc));
	rc = collect(e, &er);
	if (rc != ERRAND_OK) {
		code = reply_other(e, rc);
	} else if (msg_get_num(&e->done, MSG_STATUS, REPLY_FAIL) != REPLY_OK) {
		log_err("sandbox: a supervisor could not make a call");
		code = -1;
	} else {
		e->note = msg_get(&e->done, MSG_NOTE);
		code = reply(e);
	}
	errand_end(&er);
	return (code);
}

int
sbx_exec(struct sbx_req *r)
{
	struct exec e = {.r = r,
	    .ask = BUF_INIT(FRAME_MAX),
	    .out = BUF_INIT(LIMIT_OUTPUT),
	    .err = BUF_INIT(LIMIT_OUTPUT),
	    .files = json_object_new_array()};
	int rc = 0;

	if (e.files == NULL) {
		log_err("sandbox: no memory for a call");
		return (-1);
	}
	if (read_request(&e) == 0)
		rc = run(&e);
	else if (r->status == 0)
		rc = -1;
	json_object_put(e.files);
	json_object_put(e.body);
	buf_free(&e.ask);
	buf_free(&e.out);
	buf_free(&e.err);
	return (rc);
}
