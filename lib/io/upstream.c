#include <sys/epoll.h>

#include <curl/curl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"

#include "io/upstream.h"

#define CONNECT_MS 10000
#define QUIET_MS 120000
#define HEAD_MAX 65536
#define ENOUGH_MS 100    /* For the end of what has been read whole. */
#define KEPT 4           /* Idle connections a thread keeps. */
#define BIG_BODY 1048576 /* From here on a bigger send buffer pays. */

/* What a thread keeps between calls. */
struct line {
	CURLM *multi;
	CURL *easy;
	int watch; /* An epoll that holds the client's descriptor. */
};

struct upstream_head {
	struct buf text; /* "name: value" and a NUL each. */
};

/* One call under way. */
struct state {
	const struct upstream_call *c;
	CURL *easy;
	struct upstream_head head;
	int begun;            /* on_head has been called. */
	uint64_t start, last; /* Milliseconds, of the last sign of life. */
	uint64_t waited;      /* When on_wait was last called. */
	int enough;           /* All that is wanted has come. */
	uint64_t sent, got;
	enum upstream_rc why; /* Why a callback stopped it. */
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static int usable;

static void
line_free(void *cookie)
{
	struct line *l = cookie;

	curl_easy_cleanup(l->easy);
	if (l->multi != NULL)
		curl_multi_cleanup(l->multi);
	if (l->watch != -1)
		close(l->watch);
	free(l);
}

static void
setup(void)
{

	usable = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK &&
	    pthread_key_create(&key, line_free) == 0;
}

/* This thread's handles, made when it first calls. */
static struct line *
line_get(void)
{
	struct line *l;

	if (pthread_once(&once, setup) || !usable)
		return (NULL);
	if ((l = pthread_getspecific(key)) != NULL)
		return (l);
	if ((l = calloc(1, sizeof(*l))) == NULL)
		return (NULL);
	l->watch = epoll_create1(EPOLL_CLOEXEC);
	if (l->watch == -1 || (l->multi = curl_multi_init()) == NULL ||
	    (l->easy = curl_easy_init()) == NULL ||
	    curl_multi_setopt(l->multi, CURLMOPT_MAXCONNECTS, (long)KEPT) ||
	    pthread_setspecific(key, l)) {
		line_free(l);
		return (NULL);
	}
	return (l);
}

/* The header block is whole: a final answer begins, or a 1xx is skipped. */
static int
head_end(struct state *s)
{
	curl_off_t len = -1;
	long status = 0;

	curl_easy_getinfo(s->easy, CURLINFO_RESPONSE_CODE, &status);
	if (status < 200)
		return (0);
	s->begun = 1;
	curl_easy_getinfo(s->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &len);
	if (len > 0 && (uint64_t)len > s->c->max) {
		s->why = UPSTREAM_TOO_BIG;
		return (-1);
	}
	if (s->c->on_head != NULL &&
	    s->c->on_head(s->c->cookie, (int)status, &s->head)) {
		s->why = UPSTREAM_STOPPED;
		return (-1);
	}
	return (0);
}

static size_t
on_header(char *p, size_t one, size_t n, void *cookie)
{
	struct state *s = cookie;
	size_t len = n;

	(void)one; /* Always 1. */
	s->last = clock_ms();
	if (s->begun)
		return (n); /* A trailer. */
	while (len > 0 && strchr("\r\n\t ", p[len - 1]) != NULL)
		len--;
	if (len == 0)
		return (head_end(s) ? n + 1 : n);
	if (len >= 5 && strncmp(p, "HTTP/", 5) == 0) {
		buf_drop(&s->head.text, s->head.text.len);
		return (n);
	}
	if (memchr(p, '\0', len) != NULL || buf_put(&s->head.text, p, len) ||
	    buf_put(&s->head.text, "", 1)) {
		s->why = UPSTREAM_TOO_BIG;
		return (n + 1);
	}
	return (n);
}

static size_t
on_body(char *p, size_t one, size_t n, void *cookie)
{
	struct state *s = cookie;

	(void)one;
	s->last = clock_ms();
	if (n > s->c->max - s->got) {
		s->why = UPSTREAM_TOO_BIG;
		return (n + 1);
	}
	s->got += n;
	if (s->enough || s->c->on_body == NULL)
		return (n);
	switch (s->c->on_body(s->c->cookie, p, n)) {
	case 0:
		break;
	case 1:
		s->enough = 1;
		break;
	default:
		s->why = UPSTREAM_STOPPED;
		return (n + 1);
	}
	return (n);
}

static size_t
on_read(char *p, size_t one, size_t n, void *cookie)
{
	struct state *s = cookie;
	ssize_t got;

	(void)one;
	s->last = clock_ms();
	if (n > s->c->len - s->sent)
		n = (size_t)(s->c->len - s->sent);
	if (n == 0)
		return (0);
	if (s->c->body != NULL) {
		memcpy(p, (const char *)s->c->body + s->sent, n);
		got = (ssize_t)n;
	} else if ((got = s->c->read(s->c->cookie, s->sent, p, n)) < 1) {
		s->why = UPSTREAM_STOPPED;
		return (CURL_READFUNC_ABORT);
	}
	s->sent += (uint64_t)got;
	return ((size_t)got);
}

static int
on_seek(void *cookie, curl_off_t off, int origin)
{
	struct state *s = cookie;

	if (origin != SEEK_SET || off < 0 || (uint64_t)off > s->c->len)
		return (CURL_SEEKFUNC_FAIL);
	s->sent = (uint64_t)off;
	return (CURL_SEEKFUNC_OK);
}

static int
set_address(CURL *h, const struct upstream_call *c)
{
	struct buf url = BUF_INIT(8192);
	int rc = -1;

	if (strncmp(c->base, "unix:", 5) == 0) {
		if (curl_easy_setopt(h, CURLOPT_UNIX_SOCKET_PATH, c->base + 5))
			return (-1);
		buf_puts(&url, "http://localhost");
	} else
		buf_puts(&url, c->base);
	if (buf_puts(&url, c->path) == 0 &&
	    curl_easy_setopt(h, CURLOPT_URL, url.p) == CURLE_OK)
		rc = 0;
	buf_free(&url);
	return (rc);
}

static int
set_method(CURL *h, const struct upstream_call *c)
{

	if (strcmp(c->method, "POST") != 0)
		return (curl_easy_setopt(h, CURLOPT_CUSTOMREQUEST, c->method)
			? -1
			: 0);
	if (curl_easy_setopt(h, CURLOPT_POST, 1L) ||
	    curl_easy_setopt(
		h, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)c->len) ||
	    curl_easy_setopt(h, CURLOPT_UPLOAD_BUFFERSIZE,
		c->len < BIG_BODY ? 16384L : 262144L))
		return (-1);
	return (0);
}

static int
set_headers(CURL *h, const struct upstream_call *c, struct curl_slist **list)
{
	static const char *const none[] = {NULL};
	const char *const *p;
	struct curl_slist *l;

	/* No waiting for a 100: what we ask is seldom refused unread. */
	if ((*list = curl_slist_append(NULL, "Expect:")) == NULL)
		return (-1);
	for (p = c->headers != NULL ? c->headers : none; *p != NULL; p++) {
		if ((l = curl_slist_append(*list, *p)) == NULL)
			return (-1);
		*list = l;
	}
	return (curl_easy_setopt(h, CURLOPT_HTTPHEADER, *list) ? -1 : 0);
}

/* Everything that every call has in common. */
static int
set_common(CURL *h, struct state *s)
{

	if (curl_easy_setopt(h, CURLOPT_NOSIGNAL, 1L) ||
	    curl_easy_setopt(h, CURLOPT_PROTOCOLS_STR, "http,https") ||
	    curl_easy_setopt(h, CURLOPT_PROXY, "") ||
	    curl_easy_setopt(h, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1) ||
	    curl_easy_setopt(h, CURLOPT_USERAGENT, "satchel") ||
	    curl_easy_setopt(h, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS) ||
	    curl_easy_setopt(h, CURLOPT_TCP_KEEPALIVE, 1L) ||
	    curl_easy_setopt(h, CURLOPT_HEADERFUNCTION, on_header) ||
	    curl_easy_setopt(h, CURLOPT_HEADERDATA, s) ||
	    curl_easy_setopt(h, CURLOPT_WRITEFUNCTION, on_body) ||
	    curl_easy_setopt(h, CURLOPT_WRITEDATA, s) ||
	    curl_easy_setopt(h, CURLOPT_READFUNCTION, on_read) ||
	    curl_easy_setopt(h, CURLOPT_READDATA, s) ||
	    curl_easy_setopt(h, CURLOPT_SEEKFUNCTION, on_seek) ||
	    curl_easy_setopt(h, CURLOPT_SEEKDATA, s))
		return (-1);
	return (0);
}

static uint64_t
or_default(uint64_t x, uint64_t otherwise)
{

	return (x != 0 ? x : otherwise);
}

/* Milliseconds until the call has been quiet or alive for too long. */
static uint64_t
left(const struct state *s)
{
	const struct upstream_call *c = s->c;
	uint64_t now = clock_ms(), end;

	end = s->last +
	    (s->enough         ? ENOUGH_MS
		    : s->begun ? or_default(c->silence_ms, QUIET_MS)
			       : or_default(c->first_ms, QUIET_MS));
	if (c->total_ms != 0 && s->start + c->total_ms < end)
		end = s->start + c->total_ms;
	return (end > now ? end - now : 0);
}

static void
tell(const struct state *s, const char *why)
{

	if (!s->c->quiet)
		log_warn("upstream %s: %s%s: %s after %llu ms", s->c->label,
		    s->c->base, s->c->path, why,
		    (unsigned long long)(clock_ms() - s->start));
}

static enum upstream_rc
outcome(const struct state *s, CURLcode code)
{
	enum upstream_rc rc;

	switch (code) {
	case CURLE_OK:
		return (s->begun ? UPSTREAM_OK : UPSTREAM_CUT);
	case CURLE_WRITE_ERROR:
	case CURLE_ABORTED_BY_CALLBACK:
		if (s->why != UPSTREAM_OK)
			return (s->why);
		rc = UPSTREAM_CUT;
		break;
	case CURLE_COULDNT_CONNECT:
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_PEER_FAILED_VERIFICATION:
		rc = UPSTREAM_REFUSED;
		break;
	case CURLE_OPERATION_TIMEDOUT:
		rc = UPSTREAM_TIMEOUT;
		break;
	case CURLE_OUT_OF_MEMORY:
	case CURLE_URL_MALFORMAT:
		rc = UPSTREAM_FAIL;
		break;
	default:
		rc = UPSTREAM_CUT;
		break;
	}
	tell(s, curl_easy_strerror(code));
	return (rc);
}

/* Let the caller do what it does while it waits. */
static int
tick(struct state *s)
{
	uint64_t now;

	if (s->c->on_wait == NULL ||
	    (now = clock_ms()) < s->waited + UPSTREAM_WAIT_MS)
		return (0);
	s->waited = now;
	return (s->c->on_wait(s->c->wait_cookie));
}

/* Run the transfer that has been added to ${l} to its end. */
static enum upstream_rc
drive(struct line *l, struct state *s)
{
	struct curl_waitfd client = {l->watch, CURL_WAIT_POLLIN, 0};
	unsigned int nclient = s->c->gone_fd != -1;
	uint64_t wait,
	    most = s->c->on_wait != NULL ? UPSTREAM_WAIT_MS : 1000000;
	CURLMsg *msg;
	int running, rest;

	for (;;) {
		if (curl_multi_perform(l->multi, &running))
			break;
		if (!running)
			break;
		if ((wait = left(s)) == 0 && s->enough)
			return (UPSTREAM_OK);
		if (wait == 0) {
			tell(s, "no answer in time");
			return (UPSTREAM_TIMEOUT);
		}
		client.revents = 0;
		if (curl_multi_poll(l->multi, &client, nclient,
			(int)(wait < most ? wait : most), NULL))
			break;
		if (client.revents != 0 || tick(s))
			return (UPSTREAM_GONE);
	}
	if ((msg = curl_multi_info_read(l->multi, &rest)) != NULL)
		return (outcome(s, msg->data.result));
	log_err("upstream %s: libcurl gave up", s->c->label);
	return (UPSTREAM_FAIL);
}

/*
 * The client's descriptor is watched through an epoll of our own, because
 * libcurl's waiting knows no POLLRDHUP, and plain readability says nothing.
 */
static void
watch(const struct line *l, int op, int fd)
{
	struct epoll_event ev = {.events = EPOLLRDHUP};

	if (fd != -1)
		(void)epoll_ctl(l->watch, op, fd, &ev);
}

/* Has the client gone already?  Then nothing more is asked for it. */
static int
is_gone(const struct line *l)
{
	struct epoll_event ev;

	return (epoll_wait(l->watch, &ev, 1, 0) > 0);
}

enum upstream_rc
upstream_run(const struct upstream_call *c)
{
	struct state s = {.c = c, .head = {BUF_INIT(HEAD_MAX)}};
	struct curl_slist *headers = NULL;
	enum upstream_rc rc = UPSTREAM_FAIL;
	struct line *l;

	if ((l = line_get()) == NULL) {
		log_err("upstream %s: cannot start libcurl", c->label);
		return (UPSTREAM_FAIL);
	}
	s.easy = l->easy;
	s.start = s.last = s.waited = clock_ms();
	curl_easy_reset(l->easy);
	if (set_common(l->easy, &s) || set_address(l->easy, c) ||
	    set_method(l->easy, c) || set_headers(l->easy, c, &headers) ||
	    curl_multi_add_handle(l->multi, l->easy)) {
		log_err("upstream %s: cannot make the request", c->label);
		goto done;
	}
	watch(l, EPOLL_CTL_ADD, c->gone_fd);
	rc = is_gone(l) ? UPSTREAM_GONE : drive(l, &s);
	watch(l, EPOLL_CTL_DEL, c->gone_fd);
	curl_multi_remove_handle(l->multi, l->easy);
done:
	curl_slist_free_all(headers);
	buf_free(&s.head.text);
	return (rc);
}

/* The value in the line ${p}, if it is of the header ${name}. */
static const char *
value_of(const char *p, const char *name, size_t len)
{

	if (strncasecmp(p, name, len) != 0 || p[len] != ':')
		return (NULL);
	for (p += len + 1; *p == ' ' || *p == '\t'; p++)
		continue;
	return (p);
}

const char *
upstream_header(const struct upstream_head *head, const char *name)
{
	const char *p, *end, *v;
	size_t len = strlen(name);

	if (head->text.len == 0)
		return (NULL);
	end = head->text.p + head->text.len;
	for (p = head->text.p; p < end; p += strlen(p) + 1)
		if ((v = value_of(p, name, len)) != NULL)
			return (v);
	return (NULL);
}
