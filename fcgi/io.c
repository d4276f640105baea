#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <linux/sockios.h>

#include <fcgiapp.h>

#include "base/clock.h"
#include "base/num.h"

#include "fcgi/io.h"
#include "fcgi/io_fcgx.h"

#define NAMEMAX 256 /* Of a parameter's name. */

/*
 * A body that nobody wanted is read to its end if it is this small and comes
 * this fast, so that the connection can be kept: ours, and the client's, which
 * nginx otherwise closes though it may have told the client that it is kept.
 * All of it may take so long, or one that trickles would hold a thread.
 */
#define DRAIN_MAX (1 << 20)
#define DRAIN_MS 10
#define DRAIN_ALL_MS 250

/* How long an aborted answer waits for what was sent of it to be read. */
#define ABORT_STEP_MS 10
#define ABORT_STEPS 50

/* Some CGI servers give up on a program that does not read all they send. */
#define DRAIN_CGI_MS 30000

extern char **environ;

/* Content-Length as io_declared() tells it. */
static int64_t
declared(const struct io *io)
{
	const char *s = io_param(io, "CONTENT_LENGTH");
	uint64_t n;

	if (s == NULL || *s == '\0')
		return (-1);
	return (num_u64(s, 0, INT64_MAX, &n) ? -2 : (int64_t)n);
}

void
io_begin(struct io *io, struct FCGX_Request *fcgx)
{

	memset(io, 0, sizeof(*io));
	io->fcgx = fcgx;
	io->declared = declared(io);
	io->patience = IO_SILENCE_MS;
}

const char *
io_param(const struct io *io, const char *name)
{

	if (io->fcgx == NULL)
		return (getenv(name));
	return (FCGX_GetParam(name, io->fcgx->envp));
}

void
io_param_each(const struct io *io,
    void (*fn)(void *, const char *, const char *), void *cookie)
{
	char **env = io->fcgx != NULL ? io->fcgx->envp : environ;
	char name[NAMEMAX];
	size_t len;

	for (; *env != NULL; env++) {
		len = strcspn(*env, "=");
		if ((*env)[len] == '\0' || len >= sizeof(name))
			continue;
		memcpy(name, *env, len);
		name[len] = '\0';
		fn(cookie, name, *env + len + 1);
	}
}

int64_t
io_declared(const struct io *io)
{

	return (io->declared);
}

int
io_fd(const struct io *io)
{

	return (io->fcgx != NULL ? io->fcgx->ipcFd : -1);
}

/* Bytes that libfcgi has read from the connection and not given out. */
static size_t
buffered(const struct io *io)
{
	const FCGX_Stream *in = io->fcgx->in;

	return ((size_t)(in->stop - in->rdNext));
}

/* The body is over: what does that come to? */
static enum io_rc
ended(struct io *io, int err)
{

	if (err == EAGAIN || err == EWOULDBLOCK)
		io->end = IO_SLOW;
	else if (err != 0 ||
	    (io->declared >= 0 && io->got != (uint64_t)io->declared))
		io->end = IO_CUT;
	else
		io->end = IO_END;
	return (io->end);
}

/*
 * The library fills whatever buffer it is given and would wait for the last
 * byte of it.  So take what it has (a first byte makes it read some), and then
 * only as much as the socket has ready, less an allowance for the headers of
 * records, in one call that copies straight into the caller's buffer.
 */
static size_t
fcgx_read(struct io *io, char *buf, size_t len)
{
	FCGX_Stream *in = io->fcgx->in;
	size_t n = 0, want;
	int c, ready = 0;

	if (buffered(io) == 0) {
		if ((c = FCGX_GetChar(in)) == EOF)
			return (0);
		buf[n++] = (char)c;
	}
	want = buffered(io);
	if (want < len - n && ioctl(io->fcgx->ipcFd, FIONREAD, &ready) == 0 &&
	    ready > 1024)
		want += (size_t)ready - (size_t)ready / 8;
	if (want > len - n)
		want = len - n;
	if (want > INT_MAX)
		want = INT_MAX;
	if (want > 0)
		n += (size_t)FCGX_GetStr(buf + n, (int)want, in);
	return (n);
}

/* Plain CGI: never past the declared length, which the server may not close. */
static size_t
cgi_read(struct io *io, char *buf, size_t len, int *err)
{
	struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
	ssize_t n;

	if (io->declared >= 0 && len > (uint64_t)io->declared - io->got)
		len = (size_t)((uint64_t)io->declared - io->got);
	if (len == 0)
		return (0);
	if (poll(&p, 1, (int)io->patience) == 0) {
		*err = EAGAIN;
		return (0);
	}
	do {
		n = read(STDIN_FILENO, buf, len);
	} while (n == -1 && errno == EINTR);
	if (n == -1)
		*err = errno;
	return (n > 0 ? (size_t)n : 0);
}

enum io_rc
io_read(struct io *io, void *buf, size_t len, size_t *got)
{
	int err = 0;

	*got = 0;
	if (io->end != IO_OK)
		return (io->end);
	if (io->fcgx == NULL)
		*got = cgi_read(io, buf, len, &err);
	else if ((*got = fcgx_read(io, buf, len)) == 0)
		err = FCGX_GetError(io->fcgx->in);
	io->got += *got;
	if (*got == 0)
		return (ended(io, err));

	/* More than was announced is nobody's body. */
	if (io->declared >= 0 && io->got > (uint64_t)io->declared) {
		*got = 0;
		io->end = IO_CUT;
		return (IO_CUT);
	}
	return (IO_OK);
}

static int
cgi_flush(struct io *io)
{
	size_t done = 0;
	ssize_t n;

	while (done < io->outlen && !io->failed) {
		n = write(STDOUT_FILENO, io->out + done, io->outlen - done);
		if (n == -1 && errno != EINTR)
			io->failed = 1;
		if (n > 0)
			done += (size_t)n;
	}
	io->outlen = 0;
	return (io->failed ? -1 : 0);
}

static int
cgi_write(struct io *io, const char *buf, size_t len)
{
	size_t n;

	if (io->out == NULL && (io->out = malloc(IO_OUTMAX)) == NULL)
		return (-1);
	for (; len > 0; buf += n, len -= n) {
		if (io->outlen == IO_OUTMAX && cgi_flush(io))
			return (-1);
		if ((n = IO_OUTMAX - io->outlen) > len)
			n = len;
		memcpy(io->out + io->outlen, buf, n);
		io->outlen += n;
	}
	return (0);
}

int
io_write(struct io *io, const void *buf, size_t len)
{
	const char *p = buf;
	int n;

	if (io->failed)
		return (-1);
	if (io->fcgx == NULL)
		return (cgi_write(io, p, len));
	for (; len > 0; p += n, len -= (size_t)n) {
		n = len < INT_MAX ? (int)len : INT_MAX;
		if (FCGX_PutStr(p, n, io->fcgx->out) != n) {
			io->failed = 1;
			return (-1);
		}
	}
	return (0);
}

int
io_flush(struct io *io)
{

	if (io->failed)
		return (-1);
	if (io->fcgx == NULL)
		return (cgi_flush(io));
	if (FCGX_FFlush(io->fcgx->out) == -1)
		io->failed = 1;
	return (io->failed ? -1 : 0);
}

int
io_gone(const struct io *io)
{
	struct pollfd p = {.events = POLLRDHUP};

	if (io->failed)
		return (1);
	if ((p.fd = io_fd(io)) == -1)
		return (0);
	/* An unread body would show as POLLIN with the client still there. */
	return (poll(&p, 1, 0) > 0 &&
	    (p.revents & (POLLHUP | POLLRDHUP | POLLERR)) != 0);
}

/*
 * Wait until the web server has read what it was sent, and a moment more, in
 * which it passes that on: on a broken record it drops what it still has.
 */
static void
wait_read(int fd)
{
	const struct timespec pause = {.tv_nsec = ABORT_STEP_MS * 1000000};
	int i, left = 1;

	for (i = 0; i < ABORT_STEPS && left > 0; i++) {
		if (ioctl(fd, SIOCOUTQ, &left))
			break;
		(void)nanosleep(&pause, NULL);
	}
}

void
io_abort(struct io *io)
{
	static const char none[8]; /* Of no version of the protocol. */

	io->failed = 1;
	io->outlen = 0;
	if (io->fcgx == NULL)
		return;
	/* To nginx an answer of unknown length that just ends is whole: it
	 * takes a record that is none to make it break its client's off.  And
	 * the library would still send a proper end. */
	wait_read(io->fcgx->ipcFd);
	(void)send(
	    io->fcgx->ipcFd, none, sizeof(none), MSG_NOSIGNAL | MSG_DONTWAIT);
	(void)shutdown(io->fcgx->ipcFd, SHUT_RDWR);
}

int
io_receive_timeout(int fd, uint64_t ms)
{
	const struct timeval tv = {.tv_sec = (time_t)(ms / 1000),
	    .tv_usec = (suseconds_t)(ms % 1000) * 1000};

	return (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)));
}

void
io_patience(struct io *io, uint64_t ms)
{

	if (ms == 0)
		ms = 1; /* 0 would be no timeout at all. */
	if (ms == io->patience)
		return;
	io->patience = ms;
	if (io->fcgx != NULL)
		(void)io_receive_timeout(io->fcgx->ipcFd, ms);
}

/* Read to its end what is small and already here. */
static void
drain(struct io *io)
{
	const uint64_t until = clock_ms() + DRAIN_ALL_MS;
	char trash[16384];
	size_t n;

	if (io->declared > DRAIN_MAX)
		return;
	/* Even an empty body has its end in a record of its own, which comes
	 * with the parameters.  Others may take their time. */
	if (io->declared > 0 || io_param(io, "HTTP_TRANSFER_ENCODING")) {
		(void)io_flush(io);
		io_patience(io, DRAIN_MS);
	}
	while (io->got <= DRAIN_MAX && clock_ms() < until &&
	    io_read(io, trash, sizeof(trash), &n) == IO_OK)
		;
}

static void
cgi_drain(struct io *io)
{
	const uint64_t until = clock_ms() + DRAIN_CGI_MS;
	char trash[65536];
	size_t n;

	if (io->declared < 0 && !io_param(io, "HTTP_TRANSFER_ENCODING"))
		return;
	while (clock_ms() < until &&
	    io_read(io, trash, sizeof(trash), &n) == IO_OK)
		;
}

int
io_finish(struct io *io)
{

	if (io->fcgx == NULL) {
		if (cgi_flush(io) == 0)
			cgi_drain(io);
		free(io->out);
		return (0);
	}
	if (!io->failed && io->end == IO_OK)
		drain(io);
	if (io->end != IO_END)
		return (0);
	return (io->patience == IO_SILENCE_MS ||
	    io_receive_timeout(io->fcgx->ipcFd, IO_SILENCE_MS) == 0);
}

void
io_last(struct io *io, int whole)
{
	FCGX_Request *r = io->fcgx;
	const unsigned char hi = (unsigned char)(r->requestId >> 8),
			    lo = (unsigned char)r->requestId;
	/* FCGI_END_REQUEST, complete; and of no request, FCGI_UNKNOWN_TYPE,
	 * which a server may get at any time and has to skip. */
	const unsigned char end[] = {1, 3, hi, lo, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0,
	    0, 0, 1, 11, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};

	/* One more writer than there are: the library leaves out the end. */
	r->nWriters++;
	if (FCGX_FClose(r->err) == 0 && FCGX_FClose(r->out) == 0)
		(void)send(r->ipcFd, end, sizeof(end), MSG_NOSIGNAL);
	FCGX_Free(r, !whole);
}

void
io_yield(struct io *io)
{

	if (io->yield != NULL)
		io->yield(io->yield_cookie);
}

void
io_after(struct io *io, void (*fn)(void *), void *cookie)
{

	io->after[io->nafter].fn = fn;
	io->after[io->nafter++].cookie = cookie;
}

void
io_end(struct io *io)
{

	for (size_t i = 0; i < io->nafter; i++)
		io->after[i].fn(io->after[i].cookie);
}
