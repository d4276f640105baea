/*
 * The HTTP client against a server of a few lines that does, by path, what
 * servers do wrong.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "io/upstream.h"

#include "tap.h"

#define OK200 "HTTP/1.1 200 OK\r\n"

static int listener, local;
static int connections; /* Since the last look. */
static char base[64], unix_base[128];
static char seen[65536]; /* The last whole request... */
static pthread_mutex_t seen_lock = PTHREAD_MUTEX_INITIALIZER; /* ...under it. */
static char dir[] = "/tmp/upstream-t.XXXXXX";

/* Read a request whole into ${seen}; 0 at the end of the connection. */
static int
get_request(int fd)
{
	char in[sizeof(seen)];
	size_t len = 0, body = 0, head;
	ssize_t n;
	char *p;

	for (;;) {
		in[len] = '\0';
		if ((p = strstr(in, "\r\n\r\n")) != NULL) {
			head = (size_t)(p - in) + 4;
			if ((p = strstr(in, "Content-Length: ")) != NULL)
				body = strtoul(p + 16, NULL, 10);
			if (len >= head + body) {
				pthread_mutex_lock(&seen_lock);
				memcpy(seen, in, len + 1);
				pthread_mutex_unlock(&seen_lock);
				return (1);
			}
		}
		n = read(fd, in + len, sizeof(in) - 1 - len);
		if (n <= 0)
			return (0);
		len += (size_t)n;
	}
}

static void
say(int fd, const char *s)
{

	if (write(fd, s, strlen(s)) < 0)
		return;
}

/* Serve one connection; return when it is over. */
static void
serve(int fd)
{
	char path[64];
	int n;

	while (get_request(fd)) {
		pthread_mutex_lock(&seen_lock);
		n = sscanf(seen, "%*s %63s", path);
		pthread_mutex_unlock(&seen_lock);
		if (n != 1)
			return;
		if (strcmp(path, "/hello") == 0)
			say(fd,
			    "HTTP/1.1 100 Continue\r\n\r\n" OK200
			    "Content-Type:  text/plain \r\nX-A: 1\r\nx-a: 2\r\n"
			    "Content-Length: 5\r\n\r\nhello");
		else if (strcmp(path, "/chunks") == 0)
			say(fd,
			    OK200 "Transfer-Encoding: chunked\r\n\r\n"
				  "2\r\nab\r\n3\r\ncde\r\n0\r\nX-T: 1\r\n\r\n");
		else if (strcmp(path, "/teapot") == 0)
			say(fd,
			    "HTTP/1.1 418 x\r\nContent-Length: 2\r\n\r\nno");
		else if (strcmp(path, "/moved") == 0)
			say(fd,
			    "HTTP/1.1 302 x\r\nLocation: /hello\r\n"
			    "Content-Length: 0\r\n\r\n");
		else if (strcmp(path, "/cut") == 0) {
			say(fd, OK200 "Content-Length: 10\r\n\r\nhalf");
			return;
		} else if (strcmp(path, "/nothing") == 0)
			return;
		else if (strcmp(path, "/noise") == 0) {
			say(fd, "this is no HTTP\r\n\r\n");
			return;
		} else if (strcmp(path, "/stall") == 0)
			say(fd, OK200 "Content-Length: 10\r\n\r\nhalf");
		else if (strcmp(path, "/once") == 0) {
			say(fd, OK200 "Content-Length: 2\r\n\r\nok");
			return; /* And it is not said that it closes. */
		} else if (strcmp(path, "/mute") != 0)
			say(fd, "HTTP/1.1 404 x\r\nContent-Length: 0\r\n\r\n");
	}
}

static void *
one(void *cookie)
{
	int fd = (int)(intptr_t)cookie;

	serve(fd);
	close(fd);
	return (NULL);
}

static void *
server(void *cookie)
{
	int from = *(int *)cookie, fd;
	pthread_t t;

	while ((fd = accept(from, NULL, NULL)) != -1) {
		__atomic_add_fetch(&connections, 1, __ATOMIC_SEQ_CST);
		pthread_create(&t, NULL, one, (void *)(intptr_t)fd);
		pthread_detach(t);
	}
	return (NULL);
}

static void
start(void)
{
	struct sockaddr_in in = {
	    .sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	socklen_t len = sizeof(in);
	pthread_t t;

	listener = socket(AF_INET, SOCK_STREAM, 0);
	local = socket(AF_UNIX, SOCK_STREAM, 0);
	if (mkdtemp(dir) == NULL)
		exit(1);
	(void)snprintf(un.sun_path, sizeof(un.sun_path), "%s/s", dir);
	if (bind(listener, (struct sockaddr *)&in, sizeof(in)) ||
	    getsockname(listener, (struct sockaddr *)&in, &len) ||
	    bind(local, (struct sockaddr *)&un, sizeof(un)) ||
	    listen(listener, 16) || listen(local, 16) ||
	    pthread_create(&t, NULL, server, &listener) ||
	    pthread_create(&t, NULL, server, &local)) {
		printf("# no server\n");
		exit(1);
	}
	(void)snprintf(
	    base, sizeof(base), "http://127.0.0.1:%d", ntohs(in.sin_port));
	(void)snprintf(unix_base, sizeof(unix_base), "unix:%s", un.sun_path);
}

/* ---- One call */

struct answer {
	int status, heads, stop_at;
	char type[32], a[32];
	struct buf body;
};

static int
on_head(void *cookie, int status, const struct upstream_head *head)
{
	struct answer *x = cookie;
	const char *s;

	x->status = status;
	x->heads++;
	if ((s = upstream_header(head, "content-type")) != NULL)
		(void)snprintf(x->type, sizeof(x->type), "%s", s);
	if ((s = upstream_header(head, "X-A")) != NULL)
		(void)snprintf(x->a, sizeof(x->a), "%s", s);
	return (0);
}

static int
on_body(void *cookie, const void *p, size_t len)
{
	struct answer *x = cookie;

	if (x->stop_at)
		return (-1);
	return (buf_put(&x->body, p, len));
}

static struct answer got;

static enum upstream_rc
ask(struct upstream_call c)
{

	buf_free(&got.body);
	got = (struct answer){.body = BUF_INIT(65536), .stop_at = got.stop_at};
	c.label = "test";
	if (c.method == NULL)
		c.method = "GET";
	if (c.base == NULL)
		c.base = base;
	if (c.max == 0)
		c.max = 65536;
	if (c.gone_fd == 0)
		c.gone_fd = -1;
	c.on_head = on_head;
	c.on_body = on_body;
	c.cookie = &got;
	return (upstream_run(&c));
}

static enum upstream_rc
get(const char *path)
{

	return (ask((struct upstream_call){.path = path}));
}

static int
took(void)
{

	return (__atomic_exchange_n(&connections, 0, __ATOMIC_SEQ_CST));
}

/* Where the last request holds ${s}; NULL if it does not. */
static const char *
saw(const char *s)
{
	const char *p;

	pthread_mutex_lock(&seen_lock);
	p = strstr(seen, s);
	pthread_mutex_unlock(&seen_lock);
	return (p);
}

static int
body_is(const char *s)
{

	return (got.body.len == strlen(s) &&
	    memcmp(got.body.p, s, got.body.len) == 0);
}

static ssize_t
read_at(void *cookie, uint64_t off, void *buf, size_t len)
{

	(void)cookie;
	if (len > 3)
		len = 3; /* In pieces. */
	memcpy(buf, "0123456789" + off, len);
	return ((ssize_t)len);
}

static void
answers(void)
{
	static const char *const headers[] = {
	    "Content-Type: application/json", "X-Test: yes", NULL};

	ok(get("/hello") == UPSTREAM_OK && got.status == 200 &&
		body_is("hello") && got.heads == 1,
	    "an answer, past an interim one");
	ok(strcmp(got.type, "text/plain") == 0 && strcmp(got.a, "1") == 0,
	    "headers: any case, trimmed, the first of two");
	ok(get("/chunks") == UPSTREAM_OK && body_is("abcde"),
	    "a chunked answer");
	ok(get("/teapot") == UPSTREAM_OK && got.status == 418 && body_is("no"),
	    "an error status is an answer");
	ok(get("/moved") == UPSTREAM_OK && got.status == 302,
	    "a redirect is not followed");
	ok(took() == 1, "all over one connection");

	ok(ask((struct upstream_call){.path = "/hello",
	       .method = "POST",
	       .headers = headers,
	       .body = "{}",
	       .len = 2}) == UPSTREAM_OK &&
		saw("POST /hello HTTP/1.1\r\n") == seen &&
		saw("\r\nX-Test: yes\r\n") != NULL &&
		saw("\r\nExpect:") == NULL && saw("\r\n\r\n{}") != NULL,
	    "a body and headers are sent");
	ok(ask((struct upstream_call){.path = "/hello",
	       .method = "POST",
	       .read = read_at,
	       .len = 10}) == UPSTREAM_OK &&
		saw("\r\n\r\n0123456789") != NULL,
	    "a body that is read as it is sent");
	ok(ask((struct upstream_call){.path = "/hello", .method = "DELETE"}) ==
		    UPSTREAM_OK &&
		saw("DELETE /hello") == seen,
	    "DELETE");
	ok(ask((struct upstream_call){.path = "/hello", .base = unix_base}) ==
		    UPSTREAM_OK &&
		body_is("hello"),
	    "over a unix socket");

	took();
	ok(get("/once") == UPSTREAM_OK, "a server that closes unannounced");
	usleep(50000);
	ok(ask((struct upstream_call){.path = "/hello",
	       .method = "POST",
	       .read = read_at,
	       .len = 10}) == UPSTREAM_OK &&
		saw("\r\n\r\n0123456789") != NULL,
	    "is asked again over a fresh connection, body and all");
}

static void
failures(void)
{
	uint64_t start;
	enum upstream_rc rc;

	ok(ask((struct upstream_call){
	       .path = "/", .base = "http://127.0.0.1:1"}) == UPSTREAM_REFUSED,
	    "nobody listens");
	ok(ask((struct upstream_call){
	       .path = "/", .base = "unix:/nowhere/s"}) == UPSTREAM_REFUSED,
	    "no such socket");
	ok(ask((struct upstream_call){.path = "/",
	       .base = "http://nowhere.invalid"}) == UPSTREAM_REFUSED,
	    "no such host");
	ok(ask((struct upstream_call){.path = "/", .base = "file:///etc"}) !=
		UPSTREAM_OK,
	    "no other protocol");
	ok(get("/cut") == UPSTREAM_CUT && body_is("half"),
	    "broken off: what came has been passed on");
	ok(get("/nothing") == UPSTREAM_CUT, "closed without an answer");
	ok(get("/noise") == UPSTREAM_CUT, "no HTTP");
	ok(ask((struct upstream_call){.path = "/hello", .max = 4}) ==
		UPSTREAM_TOO_BIG,
	    "a declared length over the ceiling");
	ok(ask((struct upstream_call){.path = "/chunks", .max = 4}) ==
		    UPSTREAM_TOO_BIG &&
		got.body.len <= 4,
	    "a growing answer over the ceiling");

	start = clock_ms();
	rc = ask((struct upstream_call){.path = "/mute", .first_ms = 200});
	ok(rc == UPSTREAM_TIMEOUT && clock_ms() - start < 2000,
	    "no first byte in time");
	rc = ask((struct upstream_call){.path = "/stall", .silence_ms = 200});
	ok(rc == UPSTREAM_TIMEOUT && body_is("half"), "silence in between");
	rc = ask((struct upstream_call){.path = "/mute", .total_ms = 200});
	ok(rc == UPSTREAM_TIMEOUT, "the whole took too long");

	got.stop_at = 1;
	ok(get("/hello") == UPSTREAM_STOPPED, "stopped by the callback");
	got.stop_at = 0;
	ok(get("/hello") == UPSTREAM_OK, "and the thread can go on");
}

/* ---- A client who leaves */

static void *
leave(void *cookie)
{

	usleep(100000);
	close(*(int *)cookie);
	return (NULL);
}

static void
client_leaves(void)
{
	uint64_t start = clock_ms();
	enum upstream_rc rc;
	pthread_t t;
	int s[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, s))
		exit(1);
	ok(ask((struct upstream_call){.path = "/hello", .gone_fd = s[0]}) ==
		UPSTREAM_OK,
	    "a client who stays");
	if (write(s[1], "x", 1) != 1)
		exit(1);
	ok(ask((struct upstream_call){.path = "/hello", .gone_fd = s[0]}) ==
		UPSTREAM_OK,
	    "bytes from the client do not mean that it has gone");
	pthread_create(&t, NULL, leave, &s[1]);
	rc = ask((struct upstream_call){.path = "/mute", .gone_fd = s[0]});
	ok(rc == UPSTREAM_GONE && clock_ms() - start < 1000,
	    "a client who leaves ends the wait at once");
	pthread_join(t, NULL);
	get("/teapot");
	ok(ask((struct upstream_call){.path = "/hello", .gone_fd = s[0]}) ==
		    UPSTREAM_GONE &&
		saw("/teapot") != NULL,
	    "nothing is sent for one who has left");
	close(s[0]);
}

int
main(void)
{

	(void)log_open("t", "/dev/null");
	start();
	answers();
	failures();
	client_leaves();
	buf_free(&got.body);
	unlink(unix_base + strlen("unix:"));
	rmdir(dir);
	return (done_testing());
}
