#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/conf.h"

#include "io/sandbox_client.h"

#include "run/here.h"

#define KNOWN_MS 60000
#define AGAIN_MS 5000 /* Where it did not answer. */

int
here_only(const struct conf *c)
{
	static _Atomic uint64_t until; /* Until when the answer holds. */
	static _Atomic int only;
	const struct sandbox s = {
	    .url = c->sandbox_url, .token = c->sandbox_token, .gone_fd = -1};
	uint64_t now = clock_ms(), old = until;
	unsigned int has;

	if (c->sandbox_url == NULL ||
	    (c->sandbox_isolation != ISOLATION_LANDLOCK &&
		c->sandbox_isolation != ISOLATION_REMOTE))
		return (0);

	/* One asks; the others go by what was known. */
	if (now >= old &&
	    atomic_compare_exchange_strong(&until, &old, now + AGAIN_MS) &&
	    sandbox_extensions(&s, &has) == SANDBOX_OK) {
		only = (has & SANDBOX_HERE) != 0;
		until = now + KNOWN_MS;
	}
	return (only);
}
