#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/num.h"

#include "fcgi/front.h"
#include "fcgi/io.h"
#include "fcgi/listen.h"
#include "fcgi/pool.h"

/*
 * A program over front, io, listen and pool with nothing behind it: each path
 * shows one trait of theirs to t/03-front.t.
 *	front SOCKET|HOST:PORT|- PROCESSES THREADS [QUICK [DRAIN_S [IDLE_S]]]
 * where "-" is the socket it was started with, or CGI.
 */

static int listenfd;
static size_t threads, quick, idle_s = FRONT_IDLE_S;

static void
say(struct io *io, const char *text)
{
	char head[128];
	int n;

	n = snprintf(head, sizeof(head),
	    "Content-Type: text/plain\r\nContent-Length: %zu\r\n\r\n",
	    strlen(text));
	(void)io_write(io, head, (size_t)n);
	(void)io_write(io, text, strlen(text));
}

/* /pid: who answers. */
static void
do_pid(struct io *io, uint64_t ms)
{
	char text[32];

	(void)ms;
	(void)snprintf(text, sizeof(text), "%ld", (long)getpid());
	say(io, text);
}

/* /sleep/MS: busy for so long. */
static void
do_sleep(struct io *io, uint64_t ms)
{

	(void)usleep((useconds_t)ms * 1000);
	say(io, "slept");
}

/* /yield/MS: as /sleep/MS, but saying so. */
static void
do_yield(struct io *io, uint64_t ms)
{

	io_yield(io);
	do_sleep(io, ms);
}

/* /ignore/N: reads N bytes of the body, or none. */
static void
do_ignore(struct io *io, uint64_t max)
{
	char buf[4096];
	size_t n;

	if (max > 0)
		(void)io_read(io, buf, max < 4096 ? max : 4096, &n);
	say(io, "ignored");
}

/* /sum: what came of the body, and a sum over it that order changes. */
static void
do_sum(struct io *io, uint64_t ms)
{
	static const char *const words[] = {"ok", "end", "cut", "slow", "busy"};
	unsigned char buf[65536];
	char text[128];
	uint64_t sum = 0, total = 0, reads = 0;
	enum io_rc rc;
	size_t i, n;

	(void)ms;
	for (; (rc = io_read(io, buf, sizeof(buf), &n)) == IO_OK; reads++) {
		for (i = 0; i < n; i++)
			sum = (sum * 31 + buf[i]) & 0xffffffff;
		total += n;
	}
	(void)snprintf(text, sizeof(text), "%s %llu %llu %llu", words[rc],
	    (unsigned long long)total, (unsigned long long)sum,
	    (unsigned long long)reads);
	say(io, text);
}

/* /gone/MS: waits for the client to leave, and tells standard error. */
static void
do_gone(struct io *io, uint64_t ms)
{
	uint64_t until = clock_ms() + ms;
	int gone;

	while (!(gone = io_gone(io)) && clock_ms() < until)
		(void)usleep(5000);
	fprintf(stderr, "%s\n", gone ? "client gone" : "client there");
	say(io, gone ? "gone" : "there");
}

/* /abort: begins an answer and breaks it off. */
static void
do_abort(struct io *io, uint64_t ms)
{

	(void)ms;
	(void)io_write(io, "Content-Length: 100\r\n\r\nhalf", 27);
	(void)io_flush(io);
	io_abort(io);
}

/* /big/N: N bytes. */
static void
do_big(struct io *io, uint64_t n)
{
	static const char x[10000] = "";

	(void)io_write(io, "Content-Type: x/y\r\n\r\n", 21);
	for (; n > sizeof(x); n -= sizeof(x)) {
		if (io_write(io, x, sizeof(x)))
			return;
	}
	(void)io_write(io, x, n);
}

static const struct {
	const char *name;
	void (*fn)(struct io *, uint64_t);
} paths[] = {
    {"pid", do_pid},
    {"sleep", do_sleep},
    {"yield", do_yield},
    {"ignore", do_ignore},
    {"sum", do_sum},
    {"gone", do_gone},
    {"abort", do_abort},
    {"big", do_big},
};

static void
handle(struct io *io, void *cookie)
{
	const char *uri = io_param(io, "REQUEST_URI");
	char name[16] = "";
	uint64_t arg = 0;
	size_t i;

	(void)cookie;
	if (uri == NULL || sscanf(uri, "/%15[a-z]", name) != 1)
		name[0] = '\0';
	if (uri != NULL && strrchr(uri, '/') != NULL)
		(void)num_u64(strrchr(uri, '/') + 1, 0, 1 << 30, &arg);
	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		if (strcmp(name, paths[i].name) == 0) {
			paths[i].fn(io, arg);
			return;
		}
	}
	say(io, "unknown");
}

static int
child(void *cookie, size_t slot)
{

	const struct front_job job = {.threads = threads,
	    .idle_s = (unsigned int)idle_s,
	    .setting = "THREADS",
	    .quick = quick,
	    .handle = handle};

	(void)cookie;
	(void)slot;
	return (front_run(listenfd, &job) ? 1 : 0);
}

static void
stop(void *where)
{

	listen_close(listenfd, where);
}

static int
reload(struct prefork *p, void *cookie)
{

	(void)p;
	(void)cookie;
	return (0);
}

int
main(int argc, char *argv[])
{
	struct prefork p = {
	    .child = child, .stop = stop, .reload = reload, .drain_s = 600};
	uint64_t processes, n;
	const char *where;

	if (argc < 4 || argc > 7 || num_u64(argv[2], 1, POOL_MAX, &processes) ||
	    num_u64(argv[3], 1, 4096, &n))
		return (2);
	where = strcmp(argv[1], "-") ? argv[1] : NULL;
	threads = n;
	if (argc >= 5 && num_u64(argv[4], 1, 4096, &n))
		return (2);
	quick = n;
	if (argc >= 6 && num_u64(argv[5], 1, 4096, &p.drain_s))
		return (2);
	if (argc >= 7 && num_u64(argv[6], 1, 4096, &n))
		return (2);
	idle_s = argc >= 7 ? n : idle_s;
	p.processes = processes;
	p.cookie = argv[1];
	listen_raise_nofile();
	if (where == NULL && (listenfd = listen_given()) == -1)
		return (front_cgi(handle, NULL) ? 1 : 0);
	if (where != NULL && (listenfd = listen_open(where)) == -1)
		return (1);
	return (pool_run(&p) ? 1 : 0);
}
