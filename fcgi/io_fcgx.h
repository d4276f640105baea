#ifndef FCGI_IO_FCGX_H_
#define FCGI_IO_FCGX_H_

#include <stdint.h>

#include "fcgi/io.h"

/* What front.c and io.c say to each other; nobody else includes this. */

struct FCGX_Request;

#define IO_OUTMAX 65536
#define IO_SILENCE_MS 30000 /* The sender of a body may pause so long. */

struct io {
	struct FCGX_Request *fcgx; /* NULL: plain CGI. */
	int64_t declared;          /* See io_declared(). */
	uint64_t got;              /* Bytes of the body so far. */
	enum io_rc end;            /* IO_OK while the body goes on. */
	int failed;                /* A write failed, or io_abort(). */
	uint64_t patience;         /* See io_patience(). */
	struct {
		void (*fn)(void *);
		void *cookie;
	} after[IO_AFTER]; /* See io_after(). */
	size_t nafter;
	void (*yield)(void *); /* See io_yield(); NULL: nothing to do. */
	void *yield_cookie;

	/* Plain CGI: not written yet. */
	char *out;
	size_t outlen;
};

/**
 * io_begin(io, fcgx):
 * Make ${io} carry the request that ${fcgx} has accepted, or a plain CGI one if
 * ${fcgx} is NULL.  The connection's receive timeout must be IO_SILENCE_MS, and
 * is so again after io_finish().
 */
void io_begin(struct io *, struct FCGX_Request *);

/**
 * io_receive_timeout(fd, ms):
 * Have reads from the connection ${fd} fail after ${ms} milliseconds.  Return
 * 0, or -1 with errno set.
 */
int io_receive_timeout(int, uint64_t);

/**
 * io_finish(io):
 * After the answer: read to its end a small body that nobody wanted.  Return
 * non-zero if the body has come to its end, so that nothing of it can reach the
 * next request of the connection.
 */
int io_finish(struct io *);

/**
 * io_last(io, whole):
 * End the answer of a connection that the peer means to keep, and that is to be
 * closed.  After the end comes a record that the peer has no use for, in the
 * same write: nginx puts a connection back only if the end of the answer is the
 * last it has read, so that no other client's request is sent to where nobody
 * reads.  If the body is not ${whole}, what still comes of it is read, and the
 * connection closed.
 */
void io_last(struct io *, int);

/**
 * io_end(io):
 * The answer has been ended: do what is left.
 */
void io_end(struct io *);

#endif /* !FCGI_IO_FCGX_H_ */
