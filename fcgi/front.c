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
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <fcgiapp.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/turns.h"

#include "fcgi/conns.h"
#include "fcgi/crew.h"
#include "fcgi/front.h"
#include "fcgi/io.h"
#include "fcgi/io_fcgx.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

#define SEND_S 120   /* A peer may take nothing for so long. */
#define PAUSE_MS 100 /* After a call that failed for want of something. */
#define TOLD_MS 1000 /* The log is told of that so often at most. */
#define NACCEPT 16   /* Connections taken before looking at others. */

/*
 * When stopping, kept connections are closed after their next answer, whose end
 * says that they are not to be used again.  Idle ones are left to the web
 * server, which gives them up after a second (nginx/satchel-http.conf): closed
 * here, they could just have a request on the way.  So long do those stay that
 * it does not give up.
 */
#define QUIET_MS 1500

/*
 * A new connection counts as a request until a thread has it, but not for
 * longer than this: one that stays silent must not keep others out.
 */
#define FRESH_MS 250

/* What the front's own thread polls for, before the connections. */
enum { POLL_WAKE, POLL_SIGNAL, POLL_LISTEN, POLL_CONNS };

/*
 * A connection is in exactly one place: waited on by conns, or with a thread.
 * So its descriptor, and the generation of a fresh one, is all there is to know
 * about it.
 */
struct front {
	const struct front_job *job;
	int listenfd; /* -1 once no more are accepted. */
	int wakefd;
	int signalfd; /* -1 once told to stop. */
	int told;     /* To stop. */
	struct pollfd *polled;
	uint64_t open_ms; /* Do not accept before that. */
	uint64_t told_ms;

	pthread_mutex_t lock; /* Over all below. */
	size_t open;          /* Connections. */
	size_t busy;          /* Threads with a request. */
	size_t fresh;    /* Connections of this generation that none has. */
	uint32_t gen;    /* Never 0. */
	uint64_t gen_ms; /* When it began. */
	uint64_t answered;
	struct turns turns;
	struct crew crew;
	struct conns conns;
	int paused; /* The door is shut until a thread is free. */

	_Atomic int stopping; /* Keep no connection. */
};

/* A call has failed that will not fail for ever. */
static void
again_later(void)
{
	const struct timespec ts = {.tv_nsec = PAUSE_MS * 1000000L / 4};

	(void)nanosleep(&ts, NULL);
}

static void
wake(struct front *f)
{
	uint64_t one = 1;

	while (write(f->wakefd, &one, sizeof(one)) == -1)
		again_later();
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
 * Have a thread see the next request on ${fd}: one of before if ${known}, else
 * of generation ${gen}.  Return non-zero if wake() is to be called.  With the
 * lock held.
 */
static int
watch(struct front *f, int fd, int known, uint32_t gen)
{
	int rc;

	if ((rc = conns_watch(&f->conns, fd, known, gen)) != -1)
		return (rc);
	if (gen == f->gen && f->fresh > 0)
		f->fresh--;
	drop(f, fd);
	return (0);
}

/* The request of the thread ${cookie} will take its time. */
static void
yield(void *cookie)
{
	struct hand *h = cookie;
	struct front *f = h->cookie;
	int news;

	pthread_mutex_lock(&f->lock);
	turns_yield(&f->turns, &h->turn);
	news = crew_wanted(&f->crew, &f->turns);
	pthread_mutex_unlock(&f->lock);
	if (news)
		wake(f);
}

/*
 * Answer what has come on ${fd}.  FCGX_Accept_r() accepts only if it has no
 * connection, and its opening FCGX_Finish_r() leaves one alone whose
 * keepConnection is set; so it works on the one put there.  With no listening
 * socket it cannot go on to another when this one turns out to be closed.
 * Return non-zero if the connection is still open, and set ${keep}.
 */
static int
answer(struct hand *h, FCGX_Request *fcgx, int fd, int *keep)
{
	struct front *f = h->cookie;
	struct io io;
	int whole;

	(void)FCGX_InitRequest(fcgx, -1, FCGI_FAIL_ACCEPT_ON_INTR);
	fcgx->ipcFd = fd;
	fcgx->keepConnection = 1;
	if (FCGX_Accept_r(fcgx) < 0)
		return (0);
	io_begin(&io, fcgx);
	io.yield = yield;
	io.yield_cookie = h;
	f->job->handle(&io, f->job->cookie);

	/* What is left of a body would be taken for the next request: such a
	 * connection is closed, reading off what still comes so that the peer
	 * sees our answer. */
	*keep = fcgx->keepConnection;
	whole = io_finish(&io);
	if (*keep && !io.failed && (!whole || f->stopping)) {
		io_last(&io, whole);
	} else {
		fcgx->keepConnection = whole;
		FCGX_Finish_r(fcgx);
	}
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

/* Have ${h}'s thread look for a request.  -1 if it is to end. */
static int
look(struct front *f, struct hand *h)
{
	const uint64_t idle = (uint64_t)f->job->idle_s * 1000;
	int rc;

	if (h->turn.held)
		return (0);
	pthread_mutex_lock(&f->lock);
	while ((rc = turns_take(&f->turns, &h->turn, &f->lock, idle)) == -1 &&
	    !f->turns.over && !crew_leave(&f->crew, &f->turns, h))
		;
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
	news |= ++f->busy == f->crew.most;
	news |= crew_wanted(&f->crew, &f->turns);
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
		news |= watch(f, fd, 1, 0);
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
left(struct front *f, const struct conn_event *e)
{
	char c;
	int last;

	if (!(e->what & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) ||
	    recv(e->fd, &c, 1, MSG_PEEK | MSG_DONTWAIT) > 0)
		return (0);
	/* The thread that had it may still be inside done(). */
	pthread_mutex_lock(&f->lock);
	seen(f, e->gen);
	drop(f, e->fd);
	last = f->stopping && f->open == 0;
	pthread_mutex_unlock(&f->lock);
	if (last)
		wake(f);
	return (1);
}

/*
 * Wait for something to come on a connection.  Return 1 with ${e} set, 0 to
 * look again, or -1 if ${h}'s thread is to end.
 */
static int
next(struct front *f, struct hand *h, struct conn_event *e)
{
	const uint64_t since = clock_ms(), idle = f->job->idle_s * 1000;
	int rc;

	if ((rc = conns_wait(&f->conns, (int)idle, e)) != 0)
		return (rc);
	pthread_mutex_lock(&f->lock);
	if ((rc = conns_next(&f->conns, e)) == 0 &&
	    clock_ms() - since >= idle && crew_leave(&f->crew, &f->turns, h))
		rc = -1;
	pthread_mutex_unlock(&f->lock);
	return (rc);
}

static void *
worker(void *cookie)
{
	struct hand *h = cookie;
	struct front *f = h->cookie;
	struct conn_event e;
	FCGX_Request fcgx;
	int keep, rc = 0;

	while (rc != -1 && look(f, h) == 0) {
		if ((rc = next(f, h, &e)) != 1 || left(f, &e))
			continue;
		begin(f, &h->turn, e.gen);
		if (answer(h, &fcgx, e.fd, &keep))
			done(f, &h->turn, e.fd, keep);
		else
			done(f, &h->turn, -1, 0);
	}
	wake(f);
	return (NULL);
}

/* Say that ${what} failed for now. */
static void
say_failed(struct front *f, const char *what)
{
	const uint64_t now = clock_ms();

	if (f->told_ms != 0 && now - f->told_ms < TOLD_MS)
		return;
	log_err("front: %s: %s", what, strerror(errno));
	f->told_ms = now;
}

/* A connection's deadlines, so that no thread waits for ever on a peer. */
static int
set_deadlines(int fd, int tcp)
{
	const struct timeval out = {.tv_sec = SEND_S};
	int on = 1;

	if (io_receive_timeout(fd, IO_SILENCE_MS) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &out, sizeof(out)))
		return (-1);
	if (tcp)
		(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return (0);
}

static void
adopt(struct front *f, int fd, int tcp)
{

	if (set_deadlines(fd, tcp)) {
		say_failed(f, "a connection is dropped");
		close(fd);
		return;
	}
	pthread_mutex_lock(&f->lock);
	f->open++;
	f->fresh++;
	(void)watch(f, fd, 0, f->gen);
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
	taken = f->crew.most > taken ? f->crew.most - taken : 0;
	pthread_mutex_unlock(&f->lock);
	return (taken > NACCEPT ? NACCEPT : (int)taken);
}

/* Is the listening socket of no more use, after ${err}? */
static int
is_final(int err)
{

	return (err == EBADF || err == ENOTSOCK || err == EINVAL);
}

/*
 * Accept what waits, up to ${max}.  For what the machine cannot give now it is
 * asked again in a while.  A socket that is of no more use ends the process.
 */
static void
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
		if (errno == EINTR || errno == ECONNABORTED)
			continue;
		if (errno == EAGAIN)
			return;
		if (is_final(errno)) {
			f->told = 1;
			return;
		}
		say_failed(f, "accept");
		f->open_ms = clock_ms() + PAUSE_MS;
		return;
	}
}

/* The sooner of two waits in ms, where -1 is for ever. */
static int
sooner(int a, int b)
{

	return (a == -1 || (b != -1 && b < a) ? b : a);
}

/*
 * How long shall the door stay shut?  0: not at all.  -1: until a thread is
 * free; done() then wakes us.  Else so many ms.
 */
static int
crowded(struct front *f)
{
	const uint64_t now = clock_ms();
	int busy;

	if (now < f->open_ms)
		return ((int)(f->open_ms - now));
	pthread_mutex_lock(&f->lock);
	age(f);
	f->paused = f->busy + f->fresh >= f->crew.most;
	busy = f->busy >= f->crew.most;
	pthread_mutex_unlock(&f->lock);
	return (!f->paused ? 0 : busy ? -1 : FRESH_MS);
}

/*
 * See to what is due: turns to pass on, threads to start, connections that
 * epoll may take now.  Return the ms until something will be, or -1.
 */
static int
care(struct front *f)
{
	const uint64_t now = clock_ms();
	int ms;

	pthread_mutex_lock(&f->lock);
	ms = turns_tick(&f->turns, now);
	ms = sooner(ms, crew_grow(&f->crew, &f->turns, f->fresh, now));
	ms = sooner(ms, conns_retry(&f->conns, now));
	pthread_mutex_unlock(&f->lock);
	return (ms);
}

/* One round of events, waiting for ${wait} ms at most, or -1. */
static void
round_of(struct front *f, int wait)
{
	struct pollfd *p = f->polled;
	size_t n;
	int ms, shut = -1;

	ms = sooner(wait, care(f));
	if (f->listenfd != -1 && (shut = crowded(f)) > 0)
		ms = sooner(ms, shut);
	p[POLL_WAKE] = (struct pollfd){.fd = f->wakefd, .events = POLLIN};
	p[POLL_SIGNAL] = (struct pollfd){.fd = f->signalfd, .events = POLLIN};
	p[POLL_LISTEN] = (struct pollfd){
	    .fd = shut == 0 ? f->listenfd : -1, .events = POLLIN};
	pthread_mutex_lock(&f->lock);
	n = conns_fill(&f->conns, p + POLL_CONNS);
	pthread_mutex_unlock(&f->lock);
	if (poll(p, n + POLL_CONNS, ms) == -1) {
		if (errno != EINTR)
			again_later();
		return;
	}
	if (p[POLL_SIGNAL].revents != 0)
		f->told = 1;
	if (p[POLL_WAKE].revents != 0)
		clear(f);
	pthread_mutex_lock(&f->lock);
	conns_came(&f->conns, p + POLL_CONNS, n);
	pthread_mutex_unlock(&f->lock);
	if (p[POLL_LISTEN].revents != 0)
		accept_some(f, places(f));
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
		round_of(f, now == UINT64_MAX ? -1 : (int)(until - ms));
	}
}

/* Take what has already connected and nobody more, and see those off. */
static void
stop(struct front *f)
{

	pthread_mutex_lock(&f->lock);
	f->stopping = 1;
	pthread_mutex_unlock(&f->lock);
	close(f->signalfd);
	f->signalfd = -1;
	accept_some(f, INT_MAX);
	close(f->listenfd);
	f->listenfd = -1;
	if (f->job->stopping != NULL)
		f->job->stopping(f->job->cookie);
	linger(f);
}

static void
close_all(struct front *f)
{
	const int fds[] = {f->listenfd, f->wakefd, f->signalfd};

	for (size_t i = 0; i < NELEM(fds); i++) {
		if (fds[i] != -1)
			close(fds[i]);
	}
	conns_close(&f->conns);
	crew_close(&f->crew);
	free(f->polled);
}

static int
open_all(struct front *f, const sigset_t *stops)
{

	f->wakefd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	f->signalfd = signalfd(-1, stops, SFD_CLOEXEC);
	f->polled = calloc(CONNS_LEFT + POLL_CONNS, sizeof(*f->polled));
	if (conns_open(&f->conns) ||
	    crew_open(&f->crew, f->job->threads, worker, f) ||
	    f->wakefd == -1 || f->signalfd == -1 || f->polled == NULL ||
	    fcntl(f->listenfd, F_SETFL, O_NONBLOCK)) {
		log_err("front: %s", strerror(errno));
		return (-1);
	}
	f->crew.setting = f->job->setting;
	return (0);
}

static void
join(struct front *f)
{

	pthread_mutex_lock(&f->lock);
	conns_over(&f->conns);
	turns_over(&f->turns);
	pthread_mutex_unlock(&f->lock);
	crew_join(&f->crew);
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
	struct front f = {
	    .job = job, .listenfd = fd, .lock = PTHREAD_MUTEX_INITIALIZER};
	sigset_t stops;
	int rc = -1;

	if (FCGX_Init()) {
		log_err("front: out of memory");
		return (-1);
	}
	turns_init(&f.turns, job->quick < threads ? job->quick : threads);
	set_signals(&stops); /* The library has set handlers of its own. */
	if (open_all(&f, &stops) == 0) {
		while (!f.told)
			round_of(&f, -1);
		stop(&f);
		join(&f);
		rc = 0;
	}
	close_all(&f);
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
