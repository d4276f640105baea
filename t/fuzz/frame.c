/*
 * What the two ends of a session say to each other, from any bytes.  The first
 * byte chooses who speaks: a worker or a supervisor (frames and messages), or
 * the interpreter on its channel (lines).
 */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "jail/frame.h"
#include "jail/kernel.h"
#include "jail/ws.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

/* A path that passes is short, and stays in the workspace. */
static void
path(const char *s)
{
	char out[WS_PATH_SIZE], again[WS_PATH_SIZE];
	struct buf b = BUF_INIT(4 * WS_PATH_SIZE);

	if (ws_path(s, out) != REPLY_OK)
		return;
	if (out[0] == '/' || out[0] == '\0' || strstr(out, "//") != NULL ||
	    strcmp(out, "..") == 0 || strncmp(out, "../", 3) == 0 ||
	    strstr(out, "/../") != NULL || strlen(out) > strlen(s) + 1)
		abort();
	if (ws_path(out, again) != REPLY_OK || strcmp(out, again) != 0)
		abort();
	if (ws_escape(&b, out))
		abort();
	buf_free(&b);
}

static void
message(const char *p, size_t len)
{
	struct buf b = BUF_INIT(1 << 20);
	struct msg m, again;
	int i;

	if (msg_parse(p, len, &m))
		return;
	for (i = 1; i < MSG_KEYS; i++) {
		if (m.text[i] != NULL) {
			if (strlen(m.text[i]) != m.len[i])
				abort();
			(void)msg_text(
			    &b, (enum msg_key)i, m.text[i], m.len[i]);
			path(m.text[i]);
		}
		if (m.has & 1ULL << i)
			(void)msg_num(
			    &b, (enum msg_key)(i | MSG_NUMBER), m.num[i]);
	}
	if (buf_ok(&b) &&
	    (b.len != len || msg_parse(b.p, b.len, &again) ||
		memcmp(m.num, again.num, sizeof(m.num)) != 0 ||
		memcmp(m.len, again.len, sizeof(m.len)) != 0))
		abort();
	buf_free(&b);
}

static void
frames(const char *p, size_t len)
{
	struct frame f;

	while (frame_parse(p, len, FRAME_MAX, &f) == FRAME_OK) {
		if (f.len > FRAME_MAX)
			abort();
		p += FRAME_HEAD;
		len -= FRAME_HEAD;
		if (f.len > len)
			break;
		message(p, f.len);
		p += f.len;
		len -= f.len;
	}
}

/* Whole or in pieces, the same line decides. */
static void
lines(const char *p, size_t len)
{
	static const char nonce[KERNEL_NONCE + 1] = "0123456789abcdef";
	struct kernel_line one = {.n = 0}, two = {.n = 0};
	int a = -1, b = -1;
	size_t i;

	if (kernel_feed(&one, nonce, p, len, &a) &&
	    (a < 0 || a > KERNEL_SPENT + 255))
		abort();
	for (i = 0; i < len; i++)
		if (kernel_feed(&two, nonce, p + i, 1, &b))
			break;
	if (a != b)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char *p = (const char *)data;
	char *s;

	if (len == 0)
		return (0);
	p++;
	len--;
	switch (*data) {
	case 'f':
		frames(p, len);
		break;
	case 'm':
		message(p, len);
		break;
	case 'l':
		lines(p, len);
		break;
	case 'p':
		if ((s = strndup(p, len)) != NULL)
			path(s);
		free(s);
		break;
	default:
		break;
	}
	return (0);
}
