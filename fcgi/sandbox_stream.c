#include <string.h>

#include "base/ends.h"
#include "base/jput.h"
#include "base/utf8.h"

#include "fcgi/sandbox_exec.h"

size_t
exec_unfinished(const char *p, size_t len)
{
	const unsigned char *u = (const unsigned char *)p;
	uint32_t cp;
	size_t n, want;

	for (n = 1; n <= 3 && n <= len; n++) {
		if ((u[len - n] & 0xc0) == 0x80)
			continue;
		want = u[len - n] >= 0xf0 ? 4
		    : u[len - n] >= 0xe0  ? 3
		    : u[len - n] >= 0xc0  ? 2
					  : 1;
		return (
		    n < want && utf8_next(p + len - n, n, &cp) == 0 ? n : 0);
	}
	return (0);
}

/* One event of the ${len} bytes of UTF-8 at ${p}. */
static int
send_text(struct exec *e, const char *name, const char *p, size_t len)
{
	struct buf data = BUF_INIT(8 << 20);
	int rc;

	if (len == 0)
		return (0);
	(void)buf_puts(&data, "{\"text\":");
	(void)jput_text(&data, p, len);
	(void)buf_puts(&data, "}");
	rc = buf_ok(&data) ? sbx_event(e->r, name, data.p, data.len) : -1;
	buf_free(&data);
	return (rc);
}

/*
 * What has come of ${o} since the last time, of the half that is shown whatever
 * comes after it.
 */
static int
show(struct exec *e, const char *name, struct output *o)
{
	struct buf text = BUF_INIT(LIMIT_OUTPUT / 2);
	const char *p = o->first.p + o->raw;
	size_t len = o->first.len - o->raw;
	int rc;

	len -= exec_unfinished(p, len);
	if (len == 0 || o->full)
		return (0);
	o->raw += len;
	o->full = exec_text(&text, p, len, LIMIT_OUTPUT / 2 - o->bytes) > 0;
	o->bytes += text.len;
	rc = send_text(e, name, text.p, text.len);
	buf_free(&text);
	return (rc);
}

/* All is there: what has not been shown of it. */
static int
show_rest(
    struct exec *e, const char *name, const struct output *o, uint64_t dropped)
{
	struct buf b = BUF_INIT(LIMIT_OUTPUT + 8192);
	struct gap g;
	int rc = -1;

	if (exec_output(o, dropped, &b, &g) == 0)
		rc = b.len > o->bytes
		    ? send_text(e, name, b.p + o->bytes, b.len - o->bytes)
		    : 0;
	buf_free(&b);
	return (rc);
}

int
exec_show(struct exec *e, int done)
{
	const struct msg *m = &e->done;

	if (!e->stream)
		return (0);
	if (done ? show_rest(e, "stdout", &e->out,
		       msg_get_num(m, MSG_OUT_DROPPED, 0)) ||
		    show_rest(e, "stderr", &e->err,
			msg_get_num(m, MSG_ERR_DROPPED, 0))
		 : show(e, "stdout", &e->out) || show(e, "stderr", &e->err))
		return (-1);
	return (0);
}
