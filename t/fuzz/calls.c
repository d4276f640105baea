/*
 * What a program writes on the descriptor of its tool calls, in pieces whose
 * sizes come from the input too: the same calls however it is cut.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "jail/calls.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct calls whole = CALLS_INIT, cut = CALLS_INIT;
	size_t at = 0, to = 0, n, m, count = 0;
	const char *p, *q;

	if (len < 1)
		return (0);
	for (at = 1; at < len; at += n) {
		n = data[0] % 7 + 1u;
		if (n > len - at)
			n = len - at;
		(void)calls_feed(&cut, data + at, n);
	}
	(void)calls_feed(&whole, data + 1, len - 1);
	calls_end(&whole);
	calls_end(&cut);
	if (whole.count != cut.count || whole.complete != cut.complete ||
	    (whole.broken == NULL) != (cut.broken == NULL) ||
	    whole.count > CALLS_COUNT)
		abort();
	at = to = 0;
	while ((p = calls_next(&whole, &at, &n)) != NULL) {
		q = calls_next(&cut, &to, &m);
		if (q == NULL || n != m || n == 0 || n > CALLS_ONE_MAX ||
		    memcmp(p, q, n) != 0)
			abort();
		count++;
	}
	if (count != whole.count)
		abort();
	calls_free(&whole);
	calls_free(&cut);
	return (0);
}
