#ifndef FCGI_FRONT_H_
#define FCGI_FRONT_H_

#include <stddef.h>

/*
 * The FastCGI side of a program: one thread takes connections, and a pool of
 * threads waits on all of them for requests to answer, so that a connection
 * between two requests costs no thread and more connections than threads starve
 * nobody.  Stock libfcgi parses and frames; it is handed connections we
 * accepted ourselves.
 */

/* Opaque type. */
struct io;

/**
 * A handler answers the request it is given.  Runs on any of the threads, with
 * all signals blocked.
 */
typedef void front_handler(struct io *, void *);

struct front_job {
	size_t threads;

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
