#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/conf.h"

#include "run/here.h"

#define KNOWN_MS 60000
#define AGAIN_MS 5000 /* Where it did not answer. */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct here known;
static uint64_t until; /* Until when that holds. */

/* Take what is known; whether it is time to ask again, which is ours then. */
static int
recall(struct here *h)
{
	const uint64_t now = clock_ms();
	int due;

	(void)pthread_mutex_lock(&lock);
	*h = known;
	if ((due = now >= until) != 0)
		until = now + AGAIN_MS;
	(void)pthread_mutex_unlock(&lock);
	return (due);
}

void
here_look(const struct conf *c, struct here *h)
{
	const struct sandbox s = {
	    .url = c->sandbox_url, .token = c->sandbox_token, .gone_fd = -1};
	struct sandbox_host host;

	/* One asks; the others go by what was known. */
	if (!recall(h) || s.url == NULL ||
	    sandbox_host(&s, &host) != SANDBOX_OK)
		return;
	h->only = host.here;
	(void)snprintf(h->packages, sizeof(h->packages), "%s", host.packages);
	(void)pthread_mutex_lock(&lock);
	known = *h;
	until = clock_ms() + KNOWN_MS;
	(void)pthread_mutex_unlock(&lock);
}

void
here_say(const struct here *h, uint64_t timeout_s, char text[static HERE_FACTS])
{
	int n;

	n = snprintf(text, HERE_FACTS,
	    "A call may take at most %" PRIu64 " seconds.", timeout_s);
	if (*h->packages != '\0')
		(void)snprintf(text + n, HERE_FACTS - (size_t)n,
		    " Python has these packages besides its own, and no others "
		    "can be installed: %s.",
		    h->packages);
}
