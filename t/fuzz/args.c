/*
 * Arguments of any bytes: whatever they are, what goes back to a model is one
 * JSON object, which is left as it is the next time; and where their pieces are
 * cut does not matter.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/jspan.h"
#include "speech/args.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
check(struct text x)
{
	struct arena *mem = arena_new(1 << 24);
	struct jspan_info info;
	struct text once, twice;
	int rc = args_sound(mem, x, &once);

	if (rc == -1 ||
	    jspan_check(once.p, once.len, JSPAN_DEPTH_MAX, &info) != JSPAN_OK ||
	    info.root.p[0] != '{' || args_sound(mem, once, &twice) != 0 ||
	    twice.len != once.len || memcmp(twice.p, once.p, once.len) != 0)
		abort();
	arena_free(mem);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char *p = (const char *)data;
	struct buf whole = BUF_INIT(1 << 24), cut = BUF_INIT(1 << 24);
	struct args A = {0}, B = {0};

	if (len > 65536)
		return (0);
	if (args_feed(&A, &whole, p, len) || args_feed(&B, &cut, p, len / 2) ||
	    args_feed(&B, &cut, p + len / 2, len - len / 2) ||
	    whole.len != cut.len ||
	    (whole.len > 0 && memcmp(whole.p, cut.p, whole.len) != 0))
		abort();
	check((struct text){p, len});
	buf_free(&whole);
	buf_free(&cut);
	return (0);
}
