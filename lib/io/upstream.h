#ifndef IO_UPSTREAM_H_
#define IO_UPSTREAM_H_

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * One HTTP exchange with another server, a model provider or a sandbox.  Each
 * thread keeps its connections between calls.  Redirects are not followed, the
 * environment's proxies are not used, and neither a header nor a body is ever
 * logged.  Every wait also watches the descriptor of our own client, so that a
 * client who leaves ends the exchange at once.
 */

enum upstream_rc {
	UPSTREAM_OK,      /* Answered whole, with whatever status. */
	UPSTREAM_REFUSED, /* No connection was had; nothing was sent. */
	UPSTREAM_TIMEOUT, /* Too long to connect, to answer or to go on. */
	UPSTREAM_CUT,     /* Broke off, or spoke no HTTP. */
	UPSTREAM_TOO_BIG, /* The answer passed its ceiling. */
	UPSTREAM_GONE,    /* Our own client has gone. */
	UPSTREAM_STOPPED, /* A callback said so. */
	UPSTREAM_FAIL     /* Ours (memory, a bad address); it is logged. */
};

/* The answer's status and headers; lives as long as the call. */
struct upstream_head;

/**
 * The answer has begun with this status and these headers.  Return 0 to go on,
 * or -1 to stop.
 */
typedef int upstream_head_fn(void *, int, const struct upstream_head *);

/**
 * The next bytes of the answer, in order.  Return 0 to go on; -1 to stop; or 1
 * if these were all that was wanted: an end that follows within a moment is
 * waited for, so that the connection can be kept, and what else follows is
 * dropped.
 */
typedef int upstream_body_fn(void *, const void *, size_t);

/**
 * The call is still waiting; called every UPSTREAM_WAIT_MS.  Return 0 to go on,
 * or -1 if our own client has gone.
 */
typedef int upstream_wait_fn(void *);

#define UPSTREAM_WAIT_MS 1000

/**
 * Read up to a number of bytes (last argument) of the request's body from the
 * given offset; a connection found dead makes the library ask again from 0.
 * Return how many, at least 1, or -1.
 */
typedef ssize_t upstream_read_fn(void *, uint64_t, void *, size_t);

struct upstream_call {
	const char *label;  /* What the log calls the server. */
	int quiet;          /* Nothing is logged of a failure. */
	const char *method; /* "GET", "POST" or "DELETE". */
	const char *base;   /* "http://...", "https://..." or "unix:PATH" */
	const char *path;   /* Appended to it; begins '/'. */
	const char *const *headers; /* "Name: value"; ends with NULL. */

	const void *body; /* Or NULL, and then... */
	upstream_read_fn *read;
	uint64_t len; /* Of the body; 0 = none. */

	int gone_fd; /* POLLHUP or POLLRDHUP: client gone; -1 = none. */

	/* Milliseconds: until the first byte of the answer, between two of
	 * them, and in all.  0 = 120,000; 120,000; no bound.  Connecting may
	 * take 10,000. */
	uint64_t first_ms, silence_ms, total_ms;
	uint64_t max; /* Bytes of the answer's body. */

	upstream_head_fn *on_head; /* May be NULL. */
	upstream_body_fn *on_body; /* May be NULL: dropped. */
	void *cookie;              /* Of all three callbacks. */

	upstream_wait_fn *on_wait; /* May be NULL. */
	void *wait_cookie;
};

/**
 * upstream_run(call):
 * Send the request, and give the answer to the callbacks as it comes, all on
 * this thread.  What has come when it ends badly has been passed on.
 */
enum upstream_rc upstream_run(const struct upstream_call *);

/**
 * upstream_header(head, name):
 * The value of the header ${name} (any case), without the spaces around it, or
 * NULL.  A repeated one gives the first.
 */
const char *upstream_header(const struct upstream_head *, const char *);

#endif /* !IO_UPSTREAM_H_ */
