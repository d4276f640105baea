/*
 * An object out of JSON that comes in two pieces: never other bytes than of the
 * whole; and of a text that is JSON, the object that it really has.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/jcatch.h"
#include "base/jspan.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
feed(struct buf *b, const char *s, size_t len, size_t cut)
{
	struct jcatch J = {.key = "a"};

	if (jcatch_feed(&J, s, cut, b) == -1 ||
	    jcatch_feed(&J, s + cut, len - cut, b) == -1)
		abort();
}

/* The first member "a" that is an object, if its key is spelled so. */
static struct jspan
find(struct jspan root)
{
	struct jspan_iter it;
	struct jspan key, v;

	if (jspan_iter(&it, root) == 0 && it.object)
		while (jspan_next(&it, &key, &v))
			if (key.len == 3 && key.p[1] == 'a' && v.p[0] == '{')
				return (v);
	return ((struct jspan){"", 0});
}

static int
same(const struct buf *b, struct jspan v)
{

	return (
	    b->len == v.len && (v.len == 0 || memcmp(b->p, v.p, v.len) == 0));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct buf whole = BUF_INIT(1 << 24), cut = BUF_INIT(1 << 24);
	const char *s = (const char *)data;
	struct jspan_info info;

	if (len < 2)
		return (0);
	feed(&whole, s, len, 0);
	feed(&cut, s, len, data[len - 1] % len);
	if (!same(&cut, (struct jspan){whole.p, whole.len}))
		abort();
	if (jspan_check(s, len, 128, &info) == JSPAN_OK &&
	    !same(&whole, find(info.root)))
		abort();
	buf_free(&whole);
	buf_free(&cut);
	return (0);
}
