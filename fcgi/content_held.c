#include "base/arena.h"
#include "base/clock.h"
#include "base/conf.h"

#include "data/caller.h"
#include "data/file_held.h"
#include "http/disposition.h"
#include "run/hold.h"

#include "fcgi/content.h"
#include "fcgi/io.h"
#include "fcgi/req.h"

/* A download from a provider. */
struct held_content {
	struct req *r;
	uint64_t bytes;
};

static void
add_headers(struct req *r)
{
	char value[DISPOSITION_SIZE], date[CLOCK_HTTP_SIZE];

	disposition_attachment(r->file.name, value);
	clock_http(r->file.created / 1000, date);
	reply_header(r, "Content-Disposition", "%s", value);
	reply_header(r, "Last-Modified", "%s", date);
	reply_header(r, "Accept-Ranges", "none");
	reply_header(r, "Cache-Control", "private, no-cache");
	reply_header(
	    r, "Content-Security-Policy", "sandbox; default-src 'none'");
}

static int
on_head(void *cookie, int64_t length)
{
	struct held_content *c = cookie;

	add_headers(c->r);
	return (reply_begin(c->r, 200, c->r->file.mime, length));
}

static int
on_body(void *cookie, const void *p, size_t len)
{
	struct held_content *c = cookie;

	c->bytes += len;
	return (reply_body(c->r, p, len));
}

int
content_held(struct req *r)
{
	struct held_content c = {.r = r};
	const struct run_env env = {.conf = r->srv->conf,
	    .db = r->srv->db,
	    .store = r->srv->store,
	    .caller = &r->caller,
	    .mem = r->mem,
	    .gone_fd = io_fd(r->io)};

	if (r->head) {
		add_headers(r);
		return (reply_begin(r, 200, r->file.mime,
		    r->file.bytes > 0 ? (int64_t)r->file.bytes : -1));
	}
	switch (hold_fetch(&env, &r->file, on_head, on_body, &c)) {
	case HOLD_OK:
		if (r->file.bytes == 0)
			file_held_learn(r->srv->db, r->file.row, c.bytes);
		return (0);
	case HOLD_NONE:
		return (reply_problem(r, P_NOT_FOUND, "id",
		    "No such File object: %s (its provider has dropped it)",
		    r->arg[0]));
	case HOLD_FAIL:
		return (reply_problem(r, P_PROVIDER_FILE, NULL,
		    "The provider that holds this file does not give it out "
		    "just now"));
	case HOLD_GONE:
		r->gone = 1;
		break;
	case HOLD_BROKE:
		break;
	}
	return (-1);
}
