#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/jget.h"
#include "base/log.h"

#include "jail/call.h"
#include "jail/errand.h"

#include "fcgi/sandbox_exec.h"

#define TOOL_USE_ID_MAX 256

/* clang-format off */
const struct tool exec_tools[] = {
	{ "code_execution", "code_execution_tool_result", exec_read_text },
	{ "bash_code_execution", "bash_code_execution_tool_result",
	    exec_read_text },
	{ "text_editor_code_execution",
	    "text_editor_code_execution_tool_result", exec_read_edit },
	{ "run_code_execution", "run_code_execution_tool_result",
	    exec_read_run },
	{ NULL, NULL, NULL }
};
/* clang-format on */

int
exec_refuse(struct exec *e, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	(void)sbx_fail(e->r, 422, "invalid", "%s", text);
	return (-1);
}

static int
read_tool_use_id(struct exec *e)
{

	switch (jget_str(e->body, "tool_use_id", &e->tool_use_id)) {
	case JGET_OK:
		if (strlen(e->tool_use_id) > TOOL_USE_ID_MAX)
			return (exec_refuse(e, "tool_use_id is too long"));
		return (0);
	case JGET_ABSENT:
	case JGET_NULL:
		memcpy(e->made_id, "srvtoolu_", 9);
		if (id_base62(e->made_id + 9, 24))
			return (-1);
		e->tool_use_id = e->made_id;
		return (0);
	default:
		return (exec_refuse(e, "tool_use_id is a text"));
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
		return (exec_refuse(e,
		    "timeout_seconds is a whole number of seconds, at least"
		    " 1"));
	}
	if (e->timeout_s > SBX_TIMEOUT_MAX_S)
		e->timeout_s = SBX_TIMEOUT_MAX_S;
	return (0);
}

static int
read_stream(struct exec *e)
{

	switch (jget_bool(e->body, "stream", &e->stream)) {
	case JGET_OK:
		(void)msg_num(&e->ask, MSG_STREAM, (uint64_t)e->stream);
		return (0);
	case JGET_ABSENT:
	case JGET_NULL:
		return (0);
	default:
		return (exec_refuse(e, "stream is true or false"));
	}
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
		return (exec_refuse(e, "a JSON object is needed"));
	if (jget_str(e->body, "tool", &name) != JGET_OK)
		return (exec_refuse(e, "tool is needed, a text"));
	for (e->tool = exec_tools; e->tool->name != NULL; e->tool++)
		if (strcmp(e->tool->name, name) == 0)
			break;
	if (e->tool->name == NULL)
		return (exec_refuse(e, "no such tool"));
	if (jget_object(e->body, "input", &e->input) != JGET_OK)
		return (exec_refuse(e, "input is needed, an object"));
	if (read_timeout(e) || read_tool_use_id(e) || e->tool->read(e) ||
	    exec_read_manifest(e) || read_stream(e))
		return (-1);
	(void)msg_num(&e->ask, MSG_LIMIT, e->timeout_s);
	(void)msg_num(&e->ask, MSG_DEADLINE, e->began + e->timeout_s * 1000);
	return (buf_ok(&e->ask) ? 0 : exec_refuse(e, "the texts are too long"));
}

/* Take the supervisor's frames up to the last, which stays in ${er}->body. */
static enum errand_rc
collect(struct exec *e, struct errand *er)
{
	const uint64_t until =
	    e->began + (e->compile_s + e->timeout_s) * 1000 + SBX_GRACE_MS;
	enum errand_rc rc;
	enum frame_tag tag;
	struct output *o;

	while ((rc = errand_next(er, until, &tag)) == ERRAND_OK) {
		switch (tag) {
		case FRAME_OUT:
		case FRAME_ERR:
			o = tag == FRAME_OUT ? &e->out : &e->err;
			(void)buf_put(&o->first, er->body.p, er->body.len);
			if (exec_show(e, 0))
				return (ERRAND_LEFT);
			break;
		case FRAME_OUT_END:
		case FRAME_ERR_END:
			o = tag == FRAME_OUT_END ? &e->out : &e->err;
			(void)buf_put(&o->last, er->body.p, er->body.len);
			break;
		case FRAME_FILE:
			if (exec_add_file(e, &er->body))
				return (ERRAND_BROKEN);
			break;
		case FRAME_CALL:
			if (exec_add_call(e, &er->body))
				return (ERRAND_BROKEN);
			break;
		case FRAME_DONE:
			if (msg_parse(er->body.p, er->body.len, &e->done))
				return (ERRAND_BROKEN);
			return (exec_show(e, 1) ? ERRAND_LEFT : ERRAND_OK);
		default:
			return (ERRAND_BROKEN);
		}
	}
	return (rc);
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
	(void)msg_num(&m, MSG_END, CALL_LATE);
	if (!buf_ok(&m) || msg_parse(m.p, m.len, &e->done))
		rc = -1;
	else if (e->stream && sbx_begin_events(e->r))
		rc = 0;
	else
		rc = sbx_reply(e->r, 200, exec_answer(e));
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

/* The supervisor did not run it, and said why. */
static int
reply_status(struct exec *e)
{

	switch (msg_get_num(&e->done, MSG_STATUS, REPLY_FAIL)) {
	case REPLY_FULL:
		return (sbx_fail(e->r, 413, "too_large",
		    "no room for the source in the session's /tmp"));
	case REPLY_FAIL:
		log_err("sandbox: a supervisor could not make a call");
		return (-1);
	default:
		(void)exec_refuse(e,
		    "manifest.inputs: each is another file of the session's"
		    " workspace");
		return (0);
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
	rc =
	    e->stream && sbx_begin_events(e->r) ? ERRAND_LEFT : collect(e, &er);
	if (rc != ERRAND_OK) {
		code = reply_other(e, rc);
	} else if (msg_get_num(&e->done, MSG_STATUS, REPLY_FAIL) != REPLY_OK) {
		code = reply_status(e);
	} else {
		e->note = msg_get(&e->done, MSG_NOTE);
		code = sbx_reply(e->r, 200, exec_answer(e));
	}
	errand_end(&er);
	return (code);
}

int
sbx_exec(struct sbx_req *r)
{
	struct exec e = {.r = r,
	    .ask = BUF_INIT(FRAME_MAX),
	    .out = OUTPUT_INIT,
	    .err = OUTPUT_INIT,
	    .files = json_object_new_array(),
	    .all = json_object_new_array(),
	    .asked = json_object_new_array()};
	int rc = 0;

	if (e.files == NULL || e.all == NULL || e.asked == NULL) {
		json_object_put(e.files);
		json_object_put(e.all);
		json_object_put(e.asked);
		log_err("sandbox: no memory for a call");
		return (-1);
	}
	if (read_request(&e) == 0)
		rc = run(&e);
	else if (r->status == 0)
		rc = -1;
	json_object_put(e.files);
	json_object_put(e.all);
	json_object_put(e.asked);
	json_object_put(e.body);
	buf_free(&e.ask);
	buf_free(&e.out.first);
	buf_free(&e.out.last);
	buf_free(&e.err.first);
	buf_free(&e.err.last);
	return (rc);
}
