#include <sys/socket.h>
#include <sys/time.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <fcgiapp.h>

#include "tap.h"

/*
 * What front.c and io.c take for granted of libfcgi beyond its documented
 * calls: that a request can be given a connection of ours, which fields say
 * whether it stays open, and what an input stream still holds.
 */

/* BEGIN (keep), PARAMS A=B, no more PARAMS. */
static const char head[] = "\1\1\0\1\0\10\0\0\0\1\1\0\0\0\0\0"
			   "\1\4\0\1\0\4\0\0\1\1AB"
			   "\1\4\0\1\0\0\0\0";
/* STDIN "hello", no more STDIN. */
static const char body[] = "\1\5\0\1\0\5\0\0hello"
			   "\1\5\0\1\0\0\0\0";

#define SEND(fd, s) (write(fd, s, sizeof(s) - 1) == sizeof(s) - 1)

static void
adopt(FCGX_Request *r, int fd)
{

	(void)FCGX_InitRequest(r, -1, FCGI_FAIL_ACCEPT_ON_INTR);
	r->ipcFd = fd;
	r->keepConnection = 1;
}

static void
test_adopted(FCGX_Request *r, const int s[2])
{
	const char *v;
	char buf[16];

	ok(SEND(s[1], head) && SEND(s[1], body), "a request is sent");
	adopt(r, s[0]);
	ok(FCGX_Accept_r(r) == 0, "accepted without a listening socket");
	ok(r->ipcFd == s[0], "on the connection it was given");
	v = FCGX_GetParam("A", r->envp);
	ok(v != NULL && strcmp(v, "B") == 0, "its parameter");
	ok(r->keepConnection != 0, "and the flag of keeping the connection");

	ok(FCGX_GetChar(r->in) == 'h', "one byte of its body");
	ok(r->in->stop - r->in->rdNext == 4, "what else was read is told");
	ok(FCGX_GetStr(buf, sizeof(buf), r->in) == 4, "the rest");
	ok(FCGX_GetChar(r->in) == EOF && FCGX_GetError(r->in) == 0, "its end");
	r->keepConnection = 1;
	FCGX_Finish_r(r);
	ok(r->ipcFd == s[0] && fcntl(s[0], F_GETFD) != -1,
	    "the connection is left open if told so");
}

static void
test_cut(FCGX_Request *r, const int s[2])
{
	const struct timeval tv = {.tv_usec = 20000};

	ok(SEND(s[1], head) && write(s[1], body, 10) == 10,
	    "a request with half a body");
	(void)setsockopt(s[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	adopt(r, s[0]);
	ok(FCGX_Accept_r(r) == 0, "accepted");
	while (FCGX_GetChar(r->in) != EOF)
		;
	ok(FCGX_GetError(r->in) == EAGAIN, "a receive timeout is told");
	r->keepConnection = 0;
	(void)shutdown(s[1], SHUT_RDWR);
	FCGX_Finish_r(r);
	ok(r->ipcFd == -1 && fcntl(s[0], F_GETFD) == -1,
	    "the connection is closed if told so");
}

static void
test_left(FCGX_Request *r, const int s[2])
{

	close(s[1]);
	adopt(r, s[0]);
	ok(FCGX_Accept_r(r) < 0, "a closed connection is no request");
	ok(fcntl(s[0], F_GETFD) == -1, "and is closed here too");
}

int
main(void)
{
	FCGX_Request r;
	int s[2], left[2];

	if (FCGX_Init() || socketpair(AF_UNIX, SOCK_STREAM, 0, s) ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, left))
		return (1);
	(void)signal(SIGPIPE, SIG_IGN);
	test_adopted(&r, s);
	test_cut(&r, s);
	test_left(&r, left);
	close(s[1]);
	return (done_testing());
}
