#ifndef FCGI_BODY_H_
#define FCGI_BODY_H_

#include <stddef.h>

#include "fcgi/io.h"

/*
 * Reading a request's body so that slow senders starve nobody: at most three
 * quarters of a process's threads may be inside a body at once, some more may
 * wait half a minute for a place in turn, and those who then come are told to
 * come again; nor may one user hold all of those (gate.h).
 * Only time spent waiting for the sender counts against the sender, so a slow
 * disk of ours blames nobody.
 *
 *	if (req_body_begin(r))
 *		return (0);
 *	while ((rc = req_body_read(r, buf, sizeof(buf), &n)) == IO_OK)
 *		...
 *	if (rc != IO_END)
 *		return (req_body_failed(r, rc));
 */

/* Opaque type. */
struct req;

/**
 * req_body_begin(r):
 * Take a place among the body readers before anything is prepared for the body.
 * Return 0, or -1 after answering 503, or 429 to a user with too many of them.
 */
int req_body_begin(struct req *);

/**
 * req_body_read(r, buf, len, got):
 * As io_read(), counting r->bytes_in.  IO_SLOW also once less than
 * files.min_upload_bytes_per_second came over files.upload_window_seconds of
 * waiting.  Without req_body_begin() a place is taken if one is free; if not, a
 * few may read all the same, who must be done soon, as a body is that the web
 * server has gathered before.  IO_BUSY: not even that.
 */
enum io_rc req_body_read(struct req *, void *, size_t, size_t *);

/**
 * req_body_end(r):
 * Give the place back, if one is held.  Dispatch does so too when the handler
 * has returned.
 */
void req_body_end(struct req *);

/**
 * req_body_failed(r, rc):
 * Answer for a body that ended as ${rc} says: IO_CUT 400, IO_SLOW 408, IO_BUSY
 * 503.  Returns as reply_json().
 */
int req_body_failed(struct req *, enum io_rc);

#endif /* !FCGI_BODY_H_ */
