#include <string.h>

#include "jail/kernel.h"

#include "tap.h"

static const char nonce[KERNEL_NONCE + 1] = "0123456789abcdef";

/* Feed ${s} in pieces of ${step} bytes; the code, -1 if there was no end. */
static int
feed(const char *s, size_t step)
{
	struct kernel_line l = {.n = 0};
	size_t n, len = strlen(s);
	int code = -2;

	for (; len > 0; s += n, len -= n) {
		n = len < step ? len : step;
		if (kernel_feed(&l, nonce, s, n, &code))
			return (code);
	}
	return (code == -2 ? -1 : -3);
}

static int
both(const char *s)
{
	int one = feed(s, 1), all = feed(s, 4096);

	return (one == all ? all : -4);
}

int
main(void)
{
	struct buf b = BUF_INIT(64);
	char drawn[KERNEL_NONCE + 1], again[KERNEL_NONCE + 1], junk[201];

	ok(both("0123456789abcdef 0\n") == 0, "the end of a call");
	ok(both("0123456789abcdef 255\n") == 255, "its return code");
	ok(both("0123456789abcdef 256\n") == KERNEL_SPENT,
	    "and that it is the last");
	ok(both("0123456789abcdef 512\n") == -1, "no more than that");
	ok(both("0123456789abcdef -1\n") == -1, "a negative one");
	ok(both("0123456789abcdef 0") == -1, "a line that does not end");
	ok(both("0123456789abcdef\n") == -1, "no return code");
	ok(both("0123456789abcdef0\n") == -1, "no space");
	ok(both("0123456789abcdee 0\n") == -1, "another call's number");
	ok(both("x0123456789abcdef 0\n") == -1, "not at the line's beginning");
	ok(both("x\n\n0123456789abcdef 3\n0123456789abcdef 4\n") == 3,
	    "after other lines, the first one");
	memset(junk, 'j', sizeof(junk));
	memcpy(junk + 100, "0123456789abcdef 7\n", 20);
	ok(both(junk) == -1, "within an endless line");
	junk[99] = '\n';
	ok(both(junk) == 7, "after an endless line");

	ok(kernel_ask(drawn, "code", 4, &b) == 0 && b.len == 24 &&
		memcmp(b.p, "\0\0\0\4", 4) == 0 &&
		memcmp(b.p + 4, drawn, 16) == 0 &&
		memcmp(b.p + 20, "code", 4) == 0,
	    "what the interpreter is sent");
	buf_free(&b);
	ok(kernel_ask(again, "", 0, &b) == 0 && strcmp(drawn, again) != 0,
	    "each call has another number");
	buf_free(&b);
	return (done_testing());
}
