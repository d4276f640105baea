/*
 * A member's string out of JSON that comes in two pieces: never another than of
 * the whole; and of an object that is whole, the string that it really has.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/jmember.h"
#include "base/jspan.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
feed(struct buf *b, const char *s, size_t len, size_t cut)
{
	struct jmember J = {.key = "a"};

	if (jmember_feed(&J, s, cut, b) ||
	    jmember_feed(&J, s + cut, len - cut, b))
		abort();
}

/* The first member "a", if its key is spelled so; 0 if there is none. */
static int
find(struct jspan root, struct jspan *v)
{
	struct jspan_iter it;
	struct jspan key;

	if (jspan_iter(&it, root) || !it.object)
		return (0);
	while (jspan_next(&it, &key, v))
		if (key.len == 3 && key.p[1] == 'a')
			return (v->p[0] == '"');
	return (0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct buf whole = BUF_INIT(1 << 24), cut = BUF_INIT(1 << 24),
		   real = BUF_INIT(1 << 24);
	struct jspan_info info;
	const char *s = (const char *)data;
	struct jspan v;

	if (len < 2)
		return (0);
	feed(&whole, s, len, 0);
	feed(&cut, s, len, data[len - 1] % len);
	if (whole.len != cut.len ||
	    (cut.len > 0 && memcmp(whole.p, cut.p, cut.len) != 0))
		abort();
	if (jspan_check(s, len, 128, &info) == JSPAN_OK &&
	    find(info.root, &v)) {
		if (jspan_str(&real, v) || real.len != whole.len ||
		    (real.len > 0 && memcmp(real.p, whole.p, real.len) != 0))
			abort();
	}
	buf_free(&whole);
	buf_free(&cut);
	buf_free(&real);
	return (0);
}
