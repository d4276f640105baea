#ifndef FCGI_FRONT_H_
#define FCGI_FRONT_H_

#include <stddef.h>

/*
 * The FastCGI side of a program: one thread takes connections, and a pool of
 * threads waits on all of them for requests to answer, so that a connection
 * between two requests costs no thread and more connections than threads starve
 * nobody.  Stock libfcgi parses and frames; it is handed connections we
 * accepted ourselves.
 *
 * Whatever the machine refuses for want of something, it is asked for again
 * within a fraction of a second: a front goes on by itself once that is there.
 */

/* Opaque type. */
struct io;

/**
 * A handler answers the request it is given.  Runs on any of the threads, with
 * all signals blocked.
 */
typedef void front_handler(struct io *, void *);

#define FRONT_IDLE_S 60 /* What idle_s usually is. */

struct front_job {
	/* At most; they are started when needed, and end after ${idle_s}
	 * seconds, not 0, without a request. */
	size_t threads;
	unsigned int idle_s;
	const char *setting; /* What says how many, for the log. */

	/* At most so many requests are begun at once, but for those that have
	 * run for some ms or said io_yield(): quick ones then wait for each
	 * other here and not half done. */
	size_t quick;

	front_handler *handle;
	void (*stopping)(void *); /* What is there is the last.  May be NULL. */
	void *cookie;
};

/**
 * front_run(fd, job):
 * Answer requests from the listening socket ${fd}, which is closed in the end,
 * as ${job} says until SIGTERM or SIGINT; then accept no more, finish what
 * runs, and return 0.  Return -1, after logging why, if it cannot start.  May
 * be called once in a process.
 */
int front_run(int, const struct front_job *);

/**
 * front_cgi(handle, cookie):
 * Answer the one request of a plain CGI program.  Return 0, or -1 if the answer
 * could not be written whole.
 */
int front_cgi(front_handler *, void *);

#endif /* !FCGI_FRONT_H_ */
