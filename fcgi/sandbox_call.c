#include <string.h>

#include "base/clock.h"
#include "base/log.h"

#include "fcgi/sandbox_call.h"

#define ASK_MAX 16384

int
call_answer(struct sbx_req *r, uint64_t status)
{

	switch (status) {
	case REPLY_NONE:
		return (
		    sbx_fail(r, 404, "not_found", "no such file or directory"));
	case REPLY_OUTSIDE:
		return (sbx_fail(r, 403, "outside",
		    "path is outside the session workspace, or hidden"));
	case REPLY_DIRECTORY:
		return (sbx_fail(r, 400, "directory", "path is a directory"));
	case REPLY_NAME:
		return (sbx_fail(r, 400, "bad_path", "not a possible path"));
	case REPLY_FULL:
		return (sbx_fail(
		    r, 413, "too_large", "no room in the session workspace"));
	case REPLY_LATE:
		return (sbx_fail(r, 408, "slow", "it took too long"));
	default:
		log_err("sandbox: a file operation failed");
		return (-1);
	}
}

int
call_answer_rc(struct sbx_req *r, enum errand_rc rc)
{

	switch (rc) {
	case ERRAND_NONE:
		return (sbx_fail(r, 404, "not_found", "no such session"));
	case ERRAND_LATE:
		return (sbx_fail(
		    r, 503, "session_busy", "another call of it is running"));
	case ERRAND_LEFT:
		r->gone = 1;
		r->status = 499;
		return (0);
	default:
		log_err("sandbox: a file operation broke off");
		return (-1);
	}
}

int
call_begin(struct file_call *c, enum op op, const char *path, int *code)
{
	struct buf m = BUF_INIT(ASK_MAX);
	uint64_t turn = clock_ms() + SBX_WAIT_MS, end = turn;
	enum errand_rc rc = ERRAND_BROKEN;

	/* Its client may take its time to send a file, once it may begin. */
	if (op == OP_PUT)
		end += SBX_TIMEOUT_MAX_S * 1000ULL;
	(void)msg_num(&m, MSG_OP, op);
	(void)msg_num(&m, MSG_DEADLINE, end);
	if (path != NULL)
		(void)msg_text(&m, MSG_PATH, path, strlen(path));
	if (buf_ok(&m))
		rc = errand_start(c->r->srv->host, c->r->id, &m,
		    io_fd(c->r->io), turn, &c->er);
	buf_free(&m);
	if (rc == ERRAND_OK)
		return (0);
	*code = call_answer_rc(c->r, rc);
	return (-1);
}

enum errand_rc
call_next(struct file_call *c, enum frame_tag *tag)
{
	enum errand_rc rc;

	rc = errand_next(&c->er, clock_ms() + SBX_GRACE_MS, tag);
	if (rc == ERRAND_OK && *tag == FRAME_DONE &&
	    msg_parse(c->er.body.p, c->er.body.len, &c->done))
		rc = ERRAND_BROKEN;
	return (rc);
}

uint64_t
call_status(const struct file_call *c)
{

	return (msg_get_num(&c->done, MSG_STATUS, REPLY_FAIL));
}
