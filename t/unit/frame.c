#include <sys/socket.h>

#include <string.h>
#include <unistd.h>

#include "jail/frame.h"

#include "tap.h"

static void
test_heads(void)
{
	struct frame f;

	ok(frame_parse("D\0\0\1\0", 5, 256, &f) == FRAME_OK &&
		f.tag == FRAME_DATA && f.len == 256,
	    "a head");
	ok(frame_parse("D\0\0\1\0", 5, 255, &f) == FRAME_BROKEN,
	    "a length over the limit");
	ok(frame_parse("D\377\377\377\377", 5, FRAME_MAX, &f) == FRAME_BROKEN,
	    "a length of four gigabytes");
	ok(frame_parse("x\0\0\0\0", 5, 256, &f) == FRAME_BROKEN,
	    "an unknown tag");
	ok(frame_parse("\0\0\0\0\0", 5, 256, &f) == FRAME_BROKEN, "no tag");
	ok(frame_parse("D\0\0\0", 4, 256, &f) == FRAME_MORE, "half a head");
	ok(frame_parse("", 0, 256, &f) == FRAME_MORE, "nothing");
}

/* Send ${len} bytes of ${p} and end, then receive one frame into ${b}. */
static enum frame_rc
pass(const void *p, size_t len, enum frame_tag *tag, struct buf *b)
{
	enum frame_rc rc = FRAME_BROKEN;
	int sv[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sv))
		return (rc);
	if (write(sv[0], p, len) == (ssize_t)len) {
		(void)close(sv[0]);
		rc = frame_recv(sv[1], tag, b);
	}
	(void)close(sv[1]);
	return (rc);
}

static void
test_pass(void)
{
	struct buf b = BUF_INIT(8), out = BUF_INIT(64);
	enum frame_tag tag = FRAME_DONE;
	int sv[2];

	ok(pass("E\0\0\0\3abc", 8, &tag, &b) == FRAME_OK && tag == FRAME_ERR &&
		b.len == 3 && memcmp(b.p, "abc", 3) == 0,
	    "a frame is received");
	ok(pass("D\0\0\0\0", 5, &tag, &b) == FRAME_OK && b.len == 0,
	    "an empty one replaces what was there");
	ok(pass("", 0, &tag, &b) == FRAME_CLOSED, "the other side has closed");
	ok(pass("D\0\0", 3, &tag, &b) == FRAME_BROKEN, "in the head");
	ok(pass("D\0\0\0\4ab", 7, &tag, &b) == FRAME_BROKEN, "in the frame");
	ok(pass("D\0\0\0\11123456789", 14, &tag, &b) == FRAME_BROKEN,
	    "more than the buffer may hold");

	ok(socketpair(AF_UNIX, SOCK_STREAM, 0, sv) == 0 &&
		frame_send(sv[0], FRAME_OUT, "xyz", 3) == 0 &&
		frame_put(&out, FRAME_DATA, "1", 1) == 0 &&
		frame_put(&out, FRAME_DONE, NULL, 0) == 0 &&
		frame_flush(sv[0], &out) == 0,
	    "frames are sent");
	ok(frame_recv(sv[1], &tag, &b) == FRAME_OK && tag == FRAME_OUT &&
		b.len == 3 && frame_recv(sv[1], &tag, &b) == FRAME_OK &&
		tag == FRAME_DATA && b.len == 1 &&
		frame_recv(sv[1], &tag, &b) == FRAME_OK && tag == FRAME_DONE &&
		b.len == 0,
	    "and arrive one by one");
	(void)close(sv[1]);
	ok(frame_send(sv[0], FRAME_OUT, "x", 1) == -1,
	    "nobody listens: no signal, an error");
	(void)close(sv[0]);
	buf_free(&b);
	buf_free(&out);
}

static void
test_messages(void)
{
	struct buf b = BUF_INIT(256), small = BUF_INIT(8);
	struct msg m;

	(void)msg_text(&b, MSG_PATH, "a/b", 3);
	(void)msg_num(&b, MSG_SIZE, 0x0102030405060708);
	(void)msg_text(&b, MSG_TEXT, "", 0);
	ok(msg_parse(b.p, b.len, &m) == 0, "a message");
	ok(strcmp(msg_get(&m, MSG_PATH), "a/b") == 0 &&
		*msg_get(&m, MSG_TEXT) == '\0',
	    "its texts");
	ok(msg_get_num(&m, MSG_SIZE, 7) == 0x0102030405060708, "its number");
	ok(msg_get(&m, MSG_OLD) == NULL && msg_get_num(&m, MSG_OP, 7) == 7,
	    "what it does not have");
	ok(msg_parse(b.p, b.len - 1, &m) == -1, "cut short");
	(void)msg_num(&b, MSG_SIZE, 1);
	ok(msg_parse(b.p, b.len, &m) == -1, "a number twice");
	ok(msg_parse("\2\0\0\0\1x\0\2\0\0\0\1y\0", 14, &m) == -1,
	    "a text twice");
	ok(msg_parse("\2\0\0\0\1xy", 7, &m) == -1, "a text without its end");
	ok(msg_parse("\2\0\0\0\2\0x\0", 8, &m) == -1, "a text with a NUL");
	ok(msg_parse("\2\377\377\377\377x\0", 7, &m) == -1,
	    "a text longer than all there is");
	ok(msg_parse("\0\0\0\0\0\0", 6, &m) == -1 &&
		msg_parse("\177\0\0\0\0\0", 6, &m) == -1 &&
		msg_parse("\377\0\0\0\0\0\0\0\0", 9, &m) == -1,
	    "unknown keys");
	ok(msg_parse("", 0, &m) == 0, "an empty message");
	ok(msg_text(&small, MSG_PATH, "abcdef", 6) == -1 && !buf_ok(&small),
	    "no room");
	buf_free(&b);
	buf_free(&small);
}

int
main(void)
{

	test_heads();
	test_pass();
	test_messages();
	return (done_testing());
}
