#ifndef FCGI_CONNS_H_
#define FCGI_CONNS_H_

#include <poll.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The connections of a front that wait for a request.  Epoll watches them, each
 * once, so that one thread gets the one event that comes of it.  The kernel
 * counts watches per user, and whoever uses them up must not stop us: what
 * epoll refuses is watched with poll() by the front's own thread until epoll
 * takes it.  All memory, and all that the front itself has watched, is had at
 * the start.
 *
 * Everything but conns_wait() happens with the front's lock held.
 */

#define CONNS_RETRY_MS 100 /* How often epoll is asked again. */

/* Something came on a connection. */
struct conn_event {
	int fd;
	uint32_t gen;  /* As given to conns_watch(). */
	uint32_t what; /* EPOLLIN and so on. */
};

/* A connection that epoll has refused. */
struct conn_left {
	int fd;
	uint32_t gen;
	uint32_t what; /* In the queue: what came. */
};

struct conns {
	int epfd;   /* The threads wait here, */
	int overfd; /* until this is readable: leave, */
	int turnfd; /* or this: take one of the queue. */

	size_t nleft, nqueue;
	struct conn_left *left, *queue; /* Watched with poll(); came there. */
	uint64_t retry_ms;              /* When to ask epoll again. */
	uint64_t told_ms;               /* When the log was told. */
};

/**
 * conns_open(c):
 * Begin with none.  Return 0, or -1 with errno set; conns_close() is to be
 * called in either case.
 */
int conns_open(struct conns *);

/**
 * conns_close(c):
 * Give back what conns_open() took.
 */
void conns_close(struct conns *);

/**
 * conns_watch(c, fd, known, gen):
 * Have a thread see what next comes on ${fd}, which was here before if ${known}
 * is set.  Return 0; 1 if the thread that calls conns_poll() must do so; or -1
 * if there is no room for it.
 */
int conns_watch(struct conns *, int, int, uint32_t);

/**
 * conns_wait(c, ms, e):
 * Wait for ${ms} milliseconds for something to come.  Return 1 with ${e} set;
 * 0 if conns_next() may have something, or if nothing came; -1 after
 * conns_over().
 */
int conns_wait(struct conns *, int, struct conn_event *);

/**
 * conns_next(c, e):
 * After a 0 of conns_wait(): return 1 with ${e} set if something came on a
 * connection that epoll had refused, else 0.
 */
int conns_next(struct conns *, struct conn_event *);

/**
 * conns_fill(c, p):
 * Write what to poll() for to ${p}, which has CONNS_LEFT places, and return how
 * many there are.
 */
size_t conns_fill(const struct conns *, struct pollfd *);

/**
 * conns_came(c, p, n):
 * Hand on to the threads what has come on the ${n} connections that
 * conns_fill() wrote to ${p}.
 */
void conns_came(struct conns *, const struct pollfd *, size_t);

/**
 * conns_retry(c, ms):
 * It is now ${ms}: ask epoll to take what it refused.  Return the milliseconds
 * until the next call, or -1 if it has all.
 */
int conns_retry(struct conns *, uint64_t);

/**
 * conns_over(c):
 * Have every conns_wait() return -1, now and from now on.
 */
void conns_over(struct conns *);

#define CONNS_LEFT 65536

#endif /* !FCGI_CONNS_H_ */
