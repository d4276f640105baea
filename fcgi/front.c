#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <fcgiapp.h>

#include "base/log.h"

#include "fcgi/front.h"
#include "fcgi/io.h"
#include "fcgi/io_fcgx.h"

#define STACK (1UL << 20) /* Address space; only what is touched costs. */
#define SEND_S 120        /* A peer may take nothing for so long. */
#define PAUSE_MS 100      /* After running out of descriptors. */
#define QUIET_MS 20       /* When stopping: nothing more is under way. */
#define NEVENTS 64
#define NACCEPT 16 /* Connections taken before looking at others. */

/*
 * A connection is in exactly one place: watched by epoll (once, so that only
 * one event comes of it), in the queue, or with a thread.  So its descriptor
 * is all there is to know about it.
 */
struct front {
	front_handler *handle;
	void *cookie;
	size_t threads;
	int listenfd; /* -1 once no more are accepted. */
	int epfd;
	int wakefd;
	int signalfd;
	int told; /* To stop. */

	pthread_mutex_t lock; /* Over all below. */
	pthread_cond_t work;
	int *queue; /* A ring with a place for every descriptor. */
	size_t size, head, queued;
	size_t busy;  /* Threads with a request. */
	int paused;   /* The front waits for a free thread. */
	int stopping; /* Keep no connection. */
	int over;     /* Threads, leave. */
};

static void
wake(struct front *f)
{
	uint64_t one = 1;

	(void)!write(f->wakefd, &one, sizeof(one));
}

static void
clear(struct front *f)
{
	uint64_t count;

	(void)!read(f->wakefd, &count, sizeof(count));
}

/* Watch for the next request on ${fd}. */
static void
watch(struct front *f, int op, int fd)
{
	struct epoll_event e = {
	    .events = EPOLLIN | EPOLLRDHUP | EPOLLONESHOT, .data.fd = fd};

	if (epoll_ctl(f->epfd, op, fd, &e)) {
		log_err("front: epoll: %s", strerror(errno));
		close(fd);
	}
}

/*
 * Answer what has come on ${fd}.  FCGX_Accept_r() accepts only if it has no
 * connection, and its opening FCGX_Finish_r() leaves one alone whose
 * keepConnection is set; so it works on the one put there.  With no listening
 * socket it cannot go on to another when this one turns out to be closed.
 * Return non-zero if the connection is still open, and set ${keep}.
 */
static int
answer(const struct front *f, FCGX_Request *fcgx, int fd, int *keep)
{
	struct io io;

	(void)FCGX_InitRequest(fcgx, -1, FCGI_FAIL_ACCEPT_ON_INTR);
	fcgx->ipcFd = fd;
	fcgx->keepConnection = 1;
	if (FCGX_Accept_r(fcgx) < 0)
		return (0);
	io_begin(&io, fcgx);
	f->handle(&io, f->cookie);

	/* What is left of a body would be taken for the next request: such a
	 * connection the library closes, reading off what still comes so that
	 * the peer sees our answer.  Of the others we dispose ourselves. */
	*keep = fcgx->keepConnection;
	fcgx->keepConnection = io_finish(&io);
	FCGX_Finish_r(fcgx);
	return (fcgx->ipcFd >= 0);
}

/* Take a connection from the queue, or -1 when it is over. */
static int
take(struct front *f)
{
	int fd = -1;

	pthread_mutex_lock(&f->lock);
	while (f->queued == 0 && !f->over)
		pthread_cond_wait(&f->work, &f->lock);
	if (f->queued > 0) {
		fd = f->queue[f->head];
		f->head = (f->head + 1) % f->size;
		f->queued--;
		f->busy++;
	}
	pthread_mutex_unlock(&f->lock);
	return (fd);
}

/* A thread has no request any more; ${keep} its connection ${fd} if it may. */
static void
done(struct front *f, int fd, int keep)
{
	int news;

	pthread_mutex_lock(&f->lock);
	f->busy--;
	news = (f->paused && f->busy + f->queued < f->threads) ||
	    (f->stopping && f->busy + f->queued == 0);
	if (keep && !f->stopping)
		watch(f, EPOLL_CTL_MOD, fd);
	else if (fd != -1)
		close(fd);
	pthread_mutex_unlock(&f->lock);
	if (news)
		wake(f);
}

static void *
worker(void *cookie)
{
	struct front *f = cookie;
	FCGX_Request fcgx;
	int fd, keep;

	while ((fd = take(f)) != -1) {
		if (answer(f, &fcgx, fd, &keep))
			done(f, fd, keep);
		else
			done(f, -1, 0);
	}
	return (NULL);
}

static void
put(struct front *f, int fd)
{

	pthread_mutex_lock(&f->lock);
	f->queue[(f->head + f->queued++) % f->size] = fd;
	pthread_cond_signal(&f->work);
	pthread_mutex_unlock(&f->lock);
}

/* Something came on a watched connection: a request, or its end. */
static void
readable(struct front *f, const struct epoll_event *e)
{
	char c;

	if (!(e->events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) ||
	    recv(e->data.fd, &c, 1, MSG_PEEK | MSG_DONTWAIT) > 0) {
		put(f, e->data.fd);
		return;
	}
	/* The thread that had it may still be inside done(). */
	pthread_mutex_lock(&f->lock);
	close(e->data.fd);
	pthread_mutex_unlock(&f->lock);
}

static int
listen_on(struct front *f)
{
	struct epoll_event e = {
	    .events = EPOLLIN | EPOLLEXCLUSIVE, .data.fd = f->listenfd};

	return (epoll_ctl(f->epfd, EPOLL_CTL_ADD, f->listenfd, &e));
}

static void
listen_off(struct front *f)
{

	(void)epoll_ctl(f->epfd, EPOLL_CTL_DEL, f->listenfd, NULL);
}

/* A connection's deadlines, so that no thread waits for ever on a peer. */
static void
adopt(struct front *f, int fd, int tcp)
{
	const struct timeval out = {.tv_sec = SEND_S};
	int on = 1;

	io_receive_timeout(fd, IO_SILENCE_MS);
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &out, sizeof(out));
	if (tcp)
		(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	watch(f, EPOLL_CTL_ADD, fd);
}

/*
 * Accept what waits, up to ${max}.  Return how long not to listen, in ms; 0 to
 * go on.  A socket that is of no more use ends the process.
 */
static int
accept_some(struct front *f, int max)
{
	struct sockaddr_storage sa;
	socklen_t len;
	int fd;

	while (max-- > 0) {
		len = sizeof(sa);
		fd = accept4(
		    f->listenfd, (struct sockaddr *)&sa, &len, SOCK_CLOEXEC);
		if (fd != -1) {
			adopt(f, fd, sa.ss_family != AF_UNIX);
			continue;
		}
		switch (errno) {
		case EAGAIN:
			return (0);
		case EINTR:
		case ECONNABORTED:
			continue;
		case EMFILE:
		case ENFILE:
		case ENOBUFS:
		case ENOMEM:
			log_err("front: accept: %s", strerror(errno));
			return (PAUSE_MS);
		default:
			f->told = 1;
			return (0);
		}
	}
	return (0);
}

/*
 * With every thread busy the next connection is better left to another process
 * that listens on the same socket.  Return non-zero if so; done() then wakes
 * us.
 */
static int
crowded(struct front *f)
{
	int rc;

	pthread_mutex_lock(&f->lock);
	rc = f->paused = f->busy + f->queued >= f->threads;
	pthread_mutex_unlock(&f->lock);
	return (rc);
}

static int
idle(struct front *f)
{
	int rc;

	pthread_mutex_lock(&f->lock);
	rc = f->busy == 0 && f->queued == 0;
	pthread_mutex_unlock(&f->lock);
	return (rc);
}

/* Take what has already connected, and nobody more. */
static void
stop(struct front *f)
{

	pthread_mutex_lock(&f->lock);
	f->stopping = 1;
	pthread_mutex_unlock(&f->lock);
	(void)epoll_ctl(f->epfd, EPOLL_CTL_DEL, f->signalfd, NULL);
	listen_off(f);
	(void)accept_some(f, (int)f->size);
	close(f->listenfd);
	f->listenfd = -1;
}

/* Look at what comes on the connections until they are quiet. */
static void
settle(struct front *f)
{
	struct epoll_event ev[NEVENTS];
	int i, n;

	while ((n = epoll_wait(f->epfd, ev, NEVENTS, QUIET_MS)) > 0) {
		for (i = 0; i < n; i++) {
			if (ev[i].data.fd == f->wakefd)
				clear(f);
			else
				readable(f, &ev[i]);
		}
	}
}

/* One round of events; ${wait} in ms.  Return how long not to listen. */
static int
round_of(struct front *f, int wait)
{
	struct epoll_event ev[NEVENTS];
	int i, n, pause = 0;

	n = epoll_wait(f->epfd, ev, NEVENTS, wait);
	for (i = 0; i < n; i++) {
		if (ev[i].data.fd == f->signalfd)
			f->told = 1;
		else if (ev[i].data.fd == f->wakefd)
			clear(f);
		else if (ev[i].data.fd == f->listenfd)
			pause = accept_some(f, NACCEPT);
		else
			readable(f, &ev[i]);
	}
	return (pause);
}

static void
loop(struct front *f)
{
	int listening = 1, pause = 0;

	while (!f->told) {
		pause = round_of(f, pause > 0 ? pause : -1);
		if (pause > 0 || crowded(f)) {
			if (listening)
				listen_off(f);
			listening = 0;
		} else if (!listening) {
			listening = listen_on(f) == 0;
		}
	}
	stop(f);
	for (settle(f); !idle(f); settle(f))
		(void)round_of(f, -1);
}

/* The ring has a place for every descriptor the process may have. */
static size_t
descriptors(void)
{
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, &rl) || rl.rlim_cur > 1 << 20)
		return (1 << 20);
	return ((size_t)rl.rlim_cur);
}

static int
watch_level(struct front *f, int fd)
{
	struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};

	return (epoll_ctl(f->epfd, EPOLL_CTL_ADD, fd, &e));
}

static int
open_all(struct front *f, const sigset_t *stops)
{

	f->size = descriptors();
	if ((f->queue = calloc(f->size, sizeof(*f->queue))) == NULL ||
	    (f->epfd = epoll_create1(EPOLL_CLOEXEC)) == -1)
		goto err0;
	if ((f->wakefd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) == -1)
		goto err1;
	if ((f->signalfd = signalfd(-1, stops, SFD_CLOEXEC)) == -1)
		goto err2;
	if (fcntl(f->listenfd, F_SETFL, O_NONBLOCK) ||
	    watch_level(f, f->wakefd) || watch_level(f, f->signalfd) ||
	    listen_on(f))
		goto err3;

	/* Success! */
	return (0);

err3:
	close(f->signalfd);
err2:
	close(f->wakefd);
err1:
	close(f->epfd);
err0:
	/* Failure! */
	log_err("front: %s", strerror(errno));
	free(f->queue);
	return (-1);
}

static void
close_all(struct front *f)
{

	if (f->listenfd != -1)
		close(f->listenfd);
	close(f->signalfd);
	close(f->wakefd);
	close(f->epfd);
	free(f->queue);
}

/* Start up to ${n} threads; return how many. */
static size_t
start(struct front *f, pthread_t *threads, size_t n)
{
	pthread_attr_t attr;
	size_t i;
	int rc = 0;

	if (pthread_attr_init(&attr))
		return (0);
	(void)pthread_attr_setstacksize(&attr, STACK);
	for (i = 0; i < n && rc == 0; i++)
		rc = pthread_create(&threads[i], &attr, worker, f);
	pthread_attr_destroy(&attr);
	if (rc == 0)
		return (n);
	log_err("front: thread %zu of %zu: %s", i, n, strerror(rc));
	return (i - 1);
}

static void
join(struct front *f, pthread_t *threads, size_t n)
{
	size_t i;

	pthread_mutex_lock(&f->lock);
	f->over = 1;
	pthread_cond_broadcast(&f->work);
	pthread_mutex_unlock(&f->lock);
	for (i = 0; i < n; i++)
		(void)pthread_join(threads[i], NULL);
}

/*
 * Block all signals here and in the threads to come but those that a fault of
 * our own raises.  The two in ${stops} are read as events: a handler would not
 * run while epoll_wait() always finds something to return.
 */
static void
set_signals(sigset_t *stops)
{
	const int faults[] = {
	    SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
	sigset_t all;
	size_t i;

	(void)signal(SIGPIPE, SIG_IGN);
	(void)sigfillset(&all);
	for (i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		(void)sigdelset(&all, faults[i]);
	(void)pthread_sigmask(SIG_SETMASK, &all, NULL);
	(void)sigemptyset(stops);
	(void)sigaddset(stops, SIGTERM);
	(void)sigaddset(stops, SIGINT);
}

int
front_run(int fd, size_t threads, front_handler *handle, void *cookie)
{
	struct front f = {.handle = handle,
	    .cookie = cookie,
	    .threads = threads,
	    .listenfd = fd,
	    .lock = PTHREAD_MUTEX_INITIALIZER,
	    .work = PTHREAD_COND_INITIALIZER};
	pthread_t *thread;
	sigset_t stops;
	size_t n;
	int rc = -1;

	if (FCGX_Init() ||
	    (thread = calloc(threads, sizeof(*thread))) == NULL) {
		log_err("front: out of memory");
		goto err0;
	}
	set_signals(&stops); /* The library has set handlers of its own. */
	if (open_all(&f, &stops))
		goto err1;
	if ((n = start(&f, thread, threads)) == threads) {
		loop(&f);
		rc = 0;
	}
	join(&f, thread, n);
	close_all(&f);
err1:
	free(thread);
err0:
	return (rc);
}

int
front_cgi(front_handler *handle, void *cookie)
{
	struct io io;

	(void)signal(SIGPIPE, SIG_IGN);
	io_begin(&io, NULL);
	handle(&io, cookie);
	(void)io_finish(&io);
	return (io.failed ? -1 : 0);
}
