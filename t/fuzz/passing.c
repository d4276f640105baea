/*
 * Streams of any bytes on their way through, over each wire: the same comes out
 * wherever they are cut, and an ending of our own is whole events.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/conf.h"
#include "speech/passing.h"
#include "speech/problem.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

#define OUT_MAX (64U << 20)

static char base_url[] = "http://gpu7.example/v1";

/* What comes of the ${len} bytes at ${p} in two pieces, cut at ${cut}. */
static enum passing_rc
run(const struct conf_provider *provider, const char *p, size_t len, size_t cut,
    struct buf *out)
{
	struct passing *P = passing_new(provider, "the model");
	enum passing_rc rc;
	size_t before;

	if (P == NULL)
		abort();
	(void)passing_feed(P, p, cut, out);
	(void)passing_feed(P, p + cut, len - cut, out);
	rc = passing_end(P, 1, out);
	before = out->len;
	if ((rc == PASSING_MORE || rc == PASSING_FAILED) &&
	    (passing_fail(P, problem_row(P_UPSTREAM), "gone", "req", out) ||
		out->len < before + 2 ||
		memcmp(out->p + out->len - 2, "\n\n", 2) != 0))
		abort();
	passing_free(P);
	return (rc);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct conf_provider provider = {.base_url = base_url};
	struct buf a = BUF_INIT(OUT_MAX), b = BUF_INIT(OUT_MAX);
	const char *p = (const char *)data;
	enum passing_rc x, y;

	if (len == 0 || len > 65536)
		return (0);
	provider.wire = data[0] % 3;
	p++;
	len--;
	x = run(&provider, p, len, 0, &a);
	y = run(&provider, p, len, len / 2, &b);
	/* Ids of an ending that opens the stream itself are fresh ones. */
	if (x != y || a.len != b.len ||
	    (x != PASSING_MORE && x != PASSING_FAILED && a.len > 0 &&
		memcmp(a.p, b.p, a.len) != 0))
		abort();
	buf_free(&a);
	buf_free(&b);
	return (0);
}
