#ifndef FCGI_IO_H_
#define FCGI_IO_H_

#include <stddef.h>
#include <stdint.h>

/*
 * The two ways a request reaches us, FastCGI (stock libfcgi behind the epoll
 * front of front.c) and plain CGI, behind one interface.  Only io.c and front.c
 * know libfcgi.
 */

/* Opaque type. */
struct io;

enum io_rc {
	IO_OK,
	IO_END,  /* The whole body has been read. */
	IO_CUT,  /* The client left, or the body broke off. */
	IO_SLOW, /* Nothing arrived for too long, or too little. */
	IO_BUSY  /* Only req_body_read(): too many bodies at once. */
};

/**
 * io_param(io, name):
 * Return the parameter or environment variable ${name}, or NULL.
 */
const char *io_param(const struct io *, const char *);

/**
 * io_param_each(io, fn, cookie):
 * Call ${fn}(${cookie}, name, value) for each, repeated ones too.
 */
void io_param_each(
    const struct io *, void (*)(void *, const char *, const char *), void *);

/**
 * io_read(io, buf, len, got):
 * Read at least one and at most ${len} bytes of the body and set ${got}.
 * IO_END once it is over and whole (the transport said so, and a declared
 * Content-Length was met); IO_CUT; IO_SLOW after 30 seconds of nothing, unless
 * io_patience() said otherwise.
 */
enum io_rc io_read(struct io *, void *, size_t, size_t *);

/**
 * io_patience(io, ms):
 * From now on io_read() says IO_SLOW, for good, after ${ms} milliseconds of
 * nothing.
 */
void io_patience(struct io *, uint64_t);

/**
 * io_declared(io):
 * The Content-Length, -1 if there is none (a chunked body, or no body), or -2
 * if it is no number.
 */
int64_t io_declared(const struct io *);

/**
 * io_write(io, buf, len), io_flush(io):
 * Send to the client.  Return 0, or -1 once it has gone.
 */
int io_write(struct io *, const void *, size_t);
int io_flush(struct io *);

/**
 * io_fd(io):
 * The descriptor on which POLLHUP or POLLRDHUP says that the client has gone,
 * or -1 where nothing tells (plain CGI).
 */
int io_fd(const struct io *);

/**
 * io_gone(io):
 * Has the client gone?  Does not wait.
 */
int io_gone(const struct io *);

/**
 * io_after(io, fn, cookie):
 * Call ${fn}(${cookie}) once the answer has been ended, so that its client does
 * not wait for that; whatever becomes of the answer.  IO_AFTER times a request
 * at most.
 */
#define IO_AFTER 2
void io_after(struct io *, void (*)(void *), void *);

/**
 * io_yield(io):
 * This request will take its time: another may be begun in its place.
 */
void io_yield(struct io *);

/**
 * io_abort(io):
 * Break the connection off instead of ending the answer, so that the client
 * sees that it is short.
 */
void io_abort(struct io *);

#endif /* !FCGI_IO_H_ */
