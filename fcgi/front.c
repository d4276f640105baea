#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <fcgiapp.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/turns.h"

#include "fcgi/front.h"
#include "fcgi/io.h"
#include "fcgi/io_fcgx.h"

#define STACK (1UL << 20) /* Address space; only what is touched costs. */
#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

#define SEND_S 120   /* A peer may take nothing for so long. */
#define PAUSE_MS 100 /* After running out of descriptors. */
#define NEVENTS 4
#define NACCEPT 16 /* Connections taken before looking at others. */

/*
 * When stopping, kept connections are closed after their next answer, with its
 * end, so that nobody can send one more meanwhile.  Idle ones are left to the
 * web server, which gives them up after a second (nginx/satchel-http.conf):
 * closed here, they could just have a request on the way.  So long do those
 * stay that it does not give up.
 */
#define QUIET_MS 1500

/*
 * A new connection counts as a request until a thread has it, but not for
 * longer than this: one that stays silent must not keep others out.
 */
#define FRESH_MS 250

/* What epoll hands back with an event: the descriptor, and above it the
 * generation of a fresh connection, else 0. */
#define FD_OF(e) ((int)(uint32_t)(e)->data.u64)
#define GEN_OF(e) ((uint32_t)((e)->data.u64 >> 32))

/*
 * A connection is in exactly one place: watched by epoll (once, so that one
 * thread gets the one event that comes of it), or with a thread.  So its
 * descriptor is all there is to know about it.
 */
struct front {
	const struct front_job *job;
	size_t threads;
	int listenfd; /* -1 once no more are accepted. */
	int connfd;   /* Epoll of the connections; the threads wait here. */
	int overfd;   /* In it: threads, leave. */
	int doorfd;   /* Epoll of what follows; we wait here. */
	int wakefd;
	int signalfd;
	int told; /* To stop. */

	pthread_mutex_t lock; /* Over all below. */
	size_t open;          /* Connections. */
	size_t busy;          /* Threads with a request. */
	size_t fresh;    /* Connections of this generation that none has. */
	uint32_t gen;    /* Never 0. */
	uint64_t gen_ms; /* When it began. */
	uint64_t answered;
	struct turns turns;
	int paused; /* The door is shut until a thread is free. */

	_Atomic int stopping; /* Keep no connection. */
};

/* A thread that answers. */
struct worker {
	struct front *front;
	struct turn turn;
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

/* ${fd} is done with.  With the lock held. */
static void
drop(struct front *f, int fd)
{

	close(fd);
	f->open--;
}

/*
 * Have a thread see the next request on ${fd}, of generation ${gen} if new.
 * With the lock held.
 */
static void
watch(struct front *f, int op, int fd, uint32_t gen)
{
	struct epoll_event e = {.events = EPOLLIN | EPOLLRDHUP | EPOLLONESHOT,
	    .data.u64 = (uint64_t)gen << 32 | (uint32_t)fd};

	if (epoll_ctl(f->connfd, op, fd, &e)) {
		log_err("front: epoll: %s", strerror(errno));
		drop(f, fd);
	}
}

/* The request of the thread ${cookie} will take its time. */
static void
yield(void *cookie)
{
	struct worker *w = cookie;

	pthread_mutex_lock(&w->front->lock);
	turns_yield(&w->front->turns, &w->turn);
	pthread_mutex_unlock(&w->front->lock);
}

/*
 * Answer what has come on ${fd}.  FCGX_Accept_r() accepts only if it has no
 * connection, and its opening FCGX_Finish_r() leaves one alone whose
 * keepConnection is set; so it works on the one put there.  With no listening
 * socket it cannot go on to another when this one turns out to be closed.
 * Return non-zero if the connection is still open, and set ${keep}.
 */
static int
answer(struct worker *w, FCGX_Request *fcgx, int fd, int *keep)
{
	struct io io;

	(void)FCGX_InitRequest(fcgx, -1, FCGI_FAIL_ACCEPT_ON_INTR);
	fcgx->ipcFd = fd;
	fcgx->keepConnection = 1;
	if (FCGX_Accept_r(fcgx) < 0)
		return (0);
	io_begin(&io, fcgx);
	io.yield = yield;
	io.yield_cookie = w;
	w->front->job->handle(&io, w->front->job->cookie);

	/* What is left of a body would be taken for the next request: such a
	 * connection the library closes, reading off what still comes so that
	 * the peer sees our answer.  Of the others we dispose ourselves; when
	 * stopping, at once, so that the peer sees both ends together. */
	*keep = fcgx->keepConnection;
	fcgx->keepConnection = io_finish(&io);
	FCGX_Finish_r(fcgx);
	if (w->front->stopping && fcgx->ipcFd >= 0)
		(void)shutdown(fcgx->ipcFd, SHUT_WR);
	io_end(&io);
	return (fcgx->ipcFd >= 0);
}

/* A connection of generation ${gen} is looked at.  With the lock held. */
static void
seen(struct front *f, uint32_t gen)
{

	if (gen == f->gen && f->fresh > 0)
		f->fresh--;
}

/* Have the thread of ${turn} look for a request.  -1 if there will be none. */
static int
look(struct front *f, struct turn *turn)
{
	int rc;

	if (turn->held)
		return (0);
	pthread_mutex_lock(&f->lock);
	rc = turns_take(&f->turns, turn, &f->lock);
	pthread_mutex_unlock(&f->lock);
	return (rc);
}

/* A thread has a request; the last free one shuts the door. */
static void
begin(struct front *f, struct turn *turn, uint32_t gen)
{
	int news;

	pthread_mutex_lock(&f->lock);
	seen(f, gen);
	news = turns_begin(&f->turns, turn);
	news |= ++f->busy == f->threads;
	pthread_mutex_unlock(&f->lock);
	if (news)
		wake(f);
}

/* A thread has no request any more; ${keep} its connection ${fd} if it may. */
static void
done(struct front *f, struct turn *turn, int fd, int keep)
{
	int news;

	pthread_mutex_lock(&f->lock);
	f->busy--;
	f->answered++;
	turns_done(&f->turns, turn);
	news = f->paused || (f->stopping && f->busy == 0);
	if (keep && !f->stopping)
		watch(f, EPOLL_CTL_MOD, fd, 0);
	else if (fd != -1)
		drop(f, fd);
	else
		f->open--; /* The library has closed it. */
	pthread_mutex_unlock(&f->lock);
	if (news)
		wake(f);
}

/* Something came on a connection: its end, and no request?  Then close it. */
static int
left(struct front *f, const struct epoll_event *e)
{
	char c;
	int last;

	if (!(e->events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) ||
	    recv(FD_OF(e), &c, 1, MSG_PEEK | MSG_DONTWAIT) > 0)
		return (0);
	/* The thread that had it may still be inside done(). */
	pthread_mutex_lock(&f->lock);
	seen(f, GEN_OF(e));
	drop(f, FD_OF(e));
	last = f->stopping && f->open == 0;
	pthread_mutex_unlock(&f->lock);
	if (last)
		wake(f);
	return (1);
}

static void *
worker(void *cookie)
{
	struct front *f = cookie;
	struct worker w = {.front = f, .turn.given = PTHREAD_COND_INITIALIZER};
	struct epoll_event e;
	FCGX_Request fcgx;
	int keep;

	while (look(f, &w.turn) == 0) {
		if (epoll_wait(f->connfd, &e, 1, -1) < 1)
			continue;
		if (FD_OF(&e) == f->overfd)
			break;
		if (left(f, &e))
			continue;
		begin(f, &w.turn, GEN_OF(&e));
		if (answer(&w, &fcgx, FD_OF(&e), &keep))
			done(f, &w.turn, FD_OF(&e), keep);
		else
			done(f, &w.turn, -1, 0);
	}
	return (NULL);
}

static int
listen_on(struct front *f)
{
	struct epoll_event e = {
	    .events = EPOLLIN | EPOLLEXCLUSIVE, .data.fd = f->listenfd};

	return (epoll_ctl(f->doorfd, EPOLL_CTL_ADD, f->listenfd, &e));
}

static void
listen_off(struct front *f)
{

	(void)epoll_ctl(f->doorfd, EPOLL_CTL_DEL, f->listenfd, NULL);
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
	pthread_mutex_lock(&f->lock);
	f->open++;
	f->fresh++;
	watch(f, EPOLL_CTL_ADD, fd, f->gen);
	pthread_mutex_unlock(&f->lock);
}

/* What has been silent for long is expected no more.  With the lock held. */
static void
age(struct front *f)
{
	uint64_t now = clock_ms();

	if (now - f->gen_ms < FRESH_MS)
		return;
	f->gen_ms = now;
	f->gen += f->gen == UINT32_MAX ? 2 : 1;
	f->fresh = 0;
}

/*
 * How many more connections may be taken?  With a thread for each, because the
 * next is better left to another process that listens on the same socket.
 */
static int
places(struct front *f)
{
	size_t taken;

	pthread_mutex_lock(&f->lock);
	age(f);
	taken = f->busy + f->fresh;
	pthread_mutex_unlock(&f->lock);
	if (taken >= f->threads)
		return (0);
	taken = f->threads - taken;
	return (taken > NACCEPT ? NACCEPT : (int)taken);
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
 * Shall the door be shut?  0: no.  -1: until a thread is free; done() then
 * wakes us.  Else for so many ms at most.
 */
static int
crowded(struct front *f)
{
	int busy;

	pthread_mutex_lock(&f->lock);
	age(f);
	f->paused = f->busy + f->fresh >= f->threads;
	busy = f->busy >= f->threads;
	pthread_mutex_unlock(&f->lock);
	return (!f->paused ? 0 : busy ? -1 : FRESH_MS);
}

/* Pass on the turns that are due to be.  Returns as turns_tick(). */
static int
tick(struct front *f)
{
	int ms;

	pthread_mutex_lock(&f->lock);
	ms = turns_tick(&f->turns, clock_ms());
	pthread_mutex_unlock(&f->lock);
	return (ms);
}

/* Wait for events at the door for ${wait} ms, or -1: until there are some. */
static int
events(struct front *f, struct epoll_event *ev, int wait)
{
	const uint64_t until = clock_ms() + (uint64_t)(wait > 0 ? wait : 0);
	uint64_t now;
	int ms, n, left = wait;

	for (;;) {
		ms = tick(f);
		if (left >= 0 && (ms == -1 || left < ms))
			ms = left;
		n = epoll_wait(f->doorfd, ev, NEVENTS, ms);
		if (n != 0 || left == 0)
			return (n);
		if (wait >= 0)
			left =
			    (now = clock_ms()) < until ? (int)(until - now) : 0;
	}
}

/* One round of events; ${wait} in ms.  Return how long not to listen. */
static int
round_of(struct front *f, int wait)
{
	struct epoll_event ev[NEVENTS];
	int i, n, pause = 0;

	n = events(f, ev, wait);
	for (i = 0; i < n; i++) {
		if (ev[i].data.fd == f->signalfd)
			f->told = 1;
		else if (ev[i].data.fd == f->wakefd)
			clear(f);
		else
			pause = accept_some(f, places(f));
	}
	return (pause);
}

/*
 * How much has been answered; UINT64_MAX while a thread is busy.  Return
 * non-zero as long as there are connections.
 */
static int
progress(struct front *f, uint64_t *n)
{
	int open;

	pthread_mutex_lock(&f->lock);
	*n = f->busy == 0 ? f->answered : UINT64_MAX;
	open = f->open > 0;
	pthread_mutex_unlock(&f->lock);
	return (open);
}

/* Until no connection is left, or those left have been silent for a while. */
static void
linger(struct front *f)
{
	uint64_t before = UINT64_MAX, now, ms, until = 0;

	while (progress(f, &now)) {
		ms = clock_ms();
		if (now != before || now == UINT64_MAX)
			until = ms + QUIET_MS;
		else if (ms >= until)
			break;
		before = now;
		(void)round_of(f, now == UINT64_MAX ? -1 : (int)(until - ms));
	}
}

/* Take what has already connected and nobody more, and see those off. */
static void
stop(struct front *f)
{

	pthread_mutex_lock(&f->lock);
	f->stopping = 1;
	pthread_mutex_unlock(&f->lock);
	(void)epoll_ctl(f->doorfd, EPOLL_CTL_DEL, f->signalfd, NULL);
	listen_off(f);
	(void)accept_some(f, INT_MAX);
	close(f->listenfd);
	f->listenfd = -1;
	if (f->job->stopping != NULL)
		f->job->stopping(f->job->cookie);
	linger(f);
}

static void
loop(struct front *f)
{
	int listening = 1, pause = 0;

	while (!f->told) {
		if ((pause = round_of(f, pause > 0 ? pause : -1)) == 0)
			pause = crowded(f);
		if (pause != 0) {
			if (listening)
				listen_off(f);
			listening = 0;
		} else if (!listening) {
			listening = listen_on(f) == 0;
		}
	}
	stop(f);
}

static int
watch_level(int epfd, int fd)
{
	struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};

	return (epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &e));
}

static void
close_all(struct front *f)
{
	const int fds[] = {f->listenfd, f->connfd, f->overfd, f->doorfd,
	    f->wakefd, f->signalfd};

	for (size_t i = 0; i < NELEM(fds); i++) {
		if (fds[i] != -1)
			close(fds[i]);
	}
}

static int
open_all(struct front *f, const sigset_t *stops)
{

	f->connfd = epoll_create1(EPOLL_CLOEXEC);
	f->doorfd = epoll_create1(EPOLL_CLOEXEC);
	f->overfd = eventfd(0, EFD_CLOEXEC);
	f->wakefd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	f->signalfd = signalfd(-1, stops, SFD_CLOEXEC);
	if (f->connfd == -1 || f->doorfd == -1 || f->overfd == -1 ||
	    f->wakefd == -1 || f->signalfd == -1 ||
	    fcntl(f->listenfd, F_SETFL, O_NONBLOCK) ||
	    watch_level(f->connfd, f->overfd) ||
	    watch_level(f->doorfd, f->wakefd) ||
	    watch_level(f->doorfd, f->signalfd) || listen_on(f)) {
		log_err("front: %s", strerror(errno));
		return (-1);
	}
	return (0);
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
	uint64_t one = 1;
	size_t i;

	(void)!write(f->overfd, &one, sizeof(one));
	pthread_mutex_lock(&f->lock);
	turns_over(&f->turns);
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
	for (i = 0; i < NELEM(faults); i++)
		(void)sigdelset(&all, faults[i]);
	(void)pthread_sigmask(SIG_SETMASK, &all, NULL);
	(void)sigemptyset(stops);
	(void)sigaddset(stops, SIGTERM);
	(void)sigaddset(stops, SIGINT);
}

int
front_run(int fd, const struct front_job *job)
{
	const size_t threads = job->threads;
	struct front f = {.job = job,
	    .threads = threads,
	    .listenfd = fd,
	    .lock = PTHREAD_MUTEX_INITIALIZER};
	pthread_t *thread;
	sigset_t stops;
	size_t n = 0;
	int rc = -1;

	if (FCGX_Init() ||
	    (thread = calloc(threads, sizeof(*thread))) == NULL) {
		log_err("front: out of memory");
		goto err0;
	}
	turns_init(&f.turns, job->quick < threads ? job->quick : threads);
	set_signals(&stops); /* The library has set handlers of its own. */
	if (open_all(&f, &stops) == 0 &&
	    (n = start(&f, thread, threads)) == threads) {
		loop(&f);
		rc = 0;
	}
	join(&f, thread, n);
	close_all(&f);
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
	io_end(&io);
	return (io.failed ? -1 : 0);
}
