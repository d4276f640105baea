#include <string.h>

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

/* One event of what ${raw} holds beyond ${s}. */
static int
show(struct exec *e, const char *name, const struct buf *raw, struct shown *s,
    int whole)
{
	struct buf text = BUF_INIT(LIMIT_OUTPUT), data = BUF_INIT(8 << 20);
	const char *p = raw->p + s->raw;
	size_t len = raw->len - s->raw;
	int rc = 0;

	if (!whole)
		len -= exec_unfinished(p, len);
	s->raw += len;
	(void)exec_text(&text, p, len, LIMIT_OUTPUT - s->bytes);
	s->bytes += text.len;
	if (text.len > 0) {
		(void)buf_puts(&data, "{\"text\":");
		(void)jput_text(&data, text.p, text.len);
		(void)buf_puts(&data, "}");
		rc = buf_ok(&data) ? sbx_event(e->r, name, data.p, data.len)
				   : -1;
	}
	buf_free(&text);
	buf_free(&data);
	return (rc);
}

int
exec_show(struct exec *e, int done)
{
	int out = done && msg_get_num(&e->done, MSG_OUT_DROPPED, 0) == 0;
	int err = done && msg_get_num(&e->done, MSG_ERR_DROPPED, 0) == 0;

	if (!e->stream)
		return (0);
	if (e->out.len > e->out_shown.raw &&
	    show(e, "stdout", &e->out, &e->out_shown, out))
		return (-1);
	if (e->err.len > e->err_shown.raw &&
	    show(e, "stderr", &e->err, &e->err_shown, err))
		return (-1);
	return (0);
}
