#include <string.h>

#include "base/buf.h"
#include "t/unit/tap.h"

static void
grows(void)
{
	struct buf b = BUF_INIT(100000);
	size_t i;
	int bad = 0;

	ok(b.p == NULL && buf_ok(&b), "an empty buffer holds no memory");
	for (i = 0; i < 10000; i++)
		bad |= buf_printf(&b, "%04zu ", i);
	ok(!bad && b.len == 50000, "ten thousand appends make 50,000 bytes");
	ok(memcmp(b.p + 49995, "9999 ", 6) == 0,
	    "the last one is there with a NUL behind it");
	buf_drop(&b, 5);
	ok(b.len == 49995 && memcmp(b.p, "0001 0002", 9) == 0,
	    "what is dropped goes from the front");
	buf_drop(&b, 1);
	ok(b.len == 49994 && memcmp(b.p, "001 0002", 8) == 0, "one byte too");
	buf_drop(&b, 1000000);
	ok(b.len == 0 && b.p[0] == '\0', "dropping more than all drops all");
	buf_free(&b);
	ok(b.p == NULL && b.max == 100000, "freeing keeps the ceiling");
	ok(buf_puts(&b, "x") == 0 && strcmp(b.p, "x") == 0,
	    "a freed buffer can be used again");
	buf_free(&b);
}

static void
ceiling(void)
{
	struct buf b = BUF_INIT(5);

	ok(buf_put(&b, "12345", 5) == 0 && buf_ok(&b),
	    "as many bytes as the ceiling fit");
	ok(buf_put(&b, "", 0) == 0 && buf_ok(&b),
	    "nothing still fits a full buffer");
	ok(buf_put(&b, "6", 1) == -1 && !buf_ok(&b), "one more spoils it");
	ok(b.len == 5 && memcmp(b.p, "12345", 6) == 0,
	    "what was there stays as it was");
	ok(buf_put(&b, "", 0) == -1, "a spoiled buffer takes nothing more");
	buf_free(&b);
	ok(buf_ok(&b), "freeing mends it");
	ok(buf_printf(&b, "%s", "123456") == -1 && b.len == 0,
	    "formatted text past the ceiling is not cut but refused");
	buf_free(&b);
	ok(buf_put(&b, "x", (size_t)-1) == -1,
	    "a length near the end of memory does not wrap");
	buf_free(&b);
}

int
main(void)
{

	grows();
	ceiling();
	return (done_testing());
}
