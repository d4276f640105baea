#include <string.h>

#include "base/buf.h"

#include "fcgi/io.h"
#include "fcgi/req.h"
#include "fcgi/routes.h"
#include "fcgi/stats.h"

#define METRICS_MAX (256 * 1024)

/*
 * May this caller see the counters?  If the web server says so with the
 * parameter SATCHEL_METRICS; else from this machine only, and under the name by
 * which the web server may guard them.
 */
static int
may_see(const struct req *r)
{
	const char *from = io_param(r->io, "REMOTE_ADDR");
	const char *told = io_param(r->io, "SATCHEL_METRICS");

	if (told != NULL && strcmp(told, "on") == 0)
		return (1);
	return (r->as_told && from != NULL &&
	    (strncmp(from, "127.", 4) == 0 || strcmp(from, "::1") == 0 ||
		strncmp(from, "unix:", 5) == 0));
}

/*
 * GET /metrics, GET /metrics/run
 *
 * 200: what the processes of this pool have counted since its parent started.
 * 404: not for this caller, or nothing is counted (plain CGI).
 */
int
metrics(struct req *r)
{
	struct buf b = BUF_INIT(METRICS_MAX);
	int rc = -1;

	if (r->srv->stats == NULL || !may_see(r))
		return (reply_problem(
		    r, P_UNKNOWN_URL, NULL, "There is nothing here"));
	if (stats_print(r->srv->stats, &b) == 0 &&
	    reply_begin(r, 200, "text/plain; version=0.0.4; charset=utf-8",
		(int64_t)b.len) == 0)
		rc = reply_body(r, b.p, b.len);
	buf_free(&b);
	return (rc);
}
