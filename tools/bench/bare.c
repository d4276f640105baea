/*
 * The bare worker that Satchel is measured against: stock libfcgi behind an
 * epoll front, a thread a request, and in each mode only what cannot be left
 * out.  It checks nothing and must never meet a real client.
 *
 *   bare SOCKET THREADS DBSOCKET DATABASE DIR
 *
 *   /db     one primary-key SELECT on bench_file, answered as JSON
 *   /xa/F   X-Accel-Redirect to /bench-files/F
 *   /up     a one-part multipart body into a file of DIR, with SHA-256
 *   /ups    the same with fsync
 */
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <fcgiapp.h>
#include <mysql.h>
#include <openssl/evp.h>

#define QLEN 65536
#define PIECE 65536

static const char *db_socket, *db_name, *dir;
static int listen_fd, epoll_fd;

/* Connections that have something to read, for the pool's threads. */
static int queue[QLEN];
static unsigned int qhead, qtail;
static pthread_mutex_t qlock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t qcond = PTHREAD_COND_INITIALIZER;

/* What a thread keeps between requests. */
struct worker {
	MYSQL *my;
	MYSQL_STMT *st;
	unsigned int seed;
};

static int
db_connect(struct worker *w)
{
	static const char sql[] =
	    "SELECT name, bytes FROM bench_file WHERE id = ?";

	if ((w->my = mysql_init(NULL)) == NULL)
		return (-1);
	if (mysql_real_connect(
		w->my, NULL, "root", NULL, db_name, 0, db_socket, 0) == NULL) {
		fprintf(stderr, "bare: %s\n", mysql_error(w->my));
		return (-1);
	}
	if ((w->st = mysql_stmt_init(w->my)) == NULL)
		return (-1);
	return (mysql_stmt_prepare(w->st, sql, sizeof(sql) - 1) ? -1 : 0);
}

/* /db: the least that a metadata request must do. */
static void
serve_db(struct worker *w, FCGX_Request *r)
{
	MYSQL_BIND in, out[2];
	char name[256] = "", body[512];
	unsigned long len = 0;
	long long bytes = 0;
	int n, id = 1 + (int)(rand_r(&w->seed) % 1000);

	if (w->st == NULL && db_connect(w))
		return;
	memset(&in, 0, sizeof(in));
	memset(out, 0, sizeof(out));
	in.buffer_type = MYSQL_TYPE_LONG;
	in.buffer = &id;
	out[0].buffer_type = MYSQL_TYPE_STRING;
	out[0].buffer = name;
	out[0].buffer_length = sizeof(name) - 1;
	out[0].length = &len;
	out[1].buffer_type = MYSQL_TYPE_LONGLONG;
	out[1].buffer = &bytes;
	if (mysql_stmt_bind_param(w->st, &in) || mysql_stmt_execute(w->st) ||
	    mysql_stmt_bind_result(w->st, out) ||
	    mysql_stmt_store_result(w->st))
		return;
	(void)mysql_stmt_fetch(w->st);
	mysql_stmt_free_result(w->st);
	n = snprintf(body, sizeof(body),
	    "Content-Type: application/json\r\n\r\n"
	    "{\"id\":%d,\"name\":\"%.255s\",\"bytes\":%lld}",
	    id, name, bytes);
	FCGX_PutStr(body, n, r->out);
}

static void
write_all(int fd, const char *p, size_t len)
{
	ssize_t n;

	for (; len > 0; p += n, len -= (size_t)n)
		if ((n = write(fd, p, len)) <= 0)
			return;
}

/*
 * The body of the one part goes from ${p} to ${fd}: hold back as many bytes as
 * the closing delimiter is long, since it may have begun.
 */
static size_t
part_bytes(
    int fd, EVP_MD_CTX *md, char *p, size_t len, const char *end, int *done)
{
	size_t elen = strlen(end);
	char *e = memmem(p, len, end, elen);
	size_t out = e != NULL ? (size_t)(e - p) : len > elen ? len - elen : 0;

	*done = e != NULL;
	EVP_DigestUpdate(md, p, out);
	write_all(fd, p, out);
	return (out);
}

/* /up and /ups. */
static void
serve_upload(FCGX_Request *r, int sync)
{
	const char *type = FCGX_GetParam("CONTENT_TYPE", r->envp);
	const char *b = type == NULL ? NULL : strstr(type, "boundary=");
	char path[512], end[128], *buf = malloc(2 * PIECE), *p;
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	size_t have = 0, used;
	int fd, n, inside = 0, done = 0;

	(void)snprintf(path, sizeof(path), "%s/up.XXXXXX", dir);
	if (buf == NULL || md == NULL || (fd = mkstemp(path)) == -1)
		exit(1);
	EVP_DigestInit_ex(md, EVP_sha256(), NULL);
	(void)snprintf(end, sizeof(end), "\r\n--%s", b == NULL ? "x" : b + 9);
	while ((n = FCGX_GetStr(buf + have, PIECE, r->in)) > 0) {
		if (done)
			continue;
		have += (size_t)n;
		p = buf;
		if (!inside) {
			if ((p = memmem(buf, have, "\r\n\r\n", 4)) == NULL)
				continue;
			p += 4;
			inside = 1;
		}
		used = (size_t)(p - buf);
		used += part_bytes(fd, md, p, have - used, end, &done);
		have -= used;
		memmove(buf, buf + used, have);
	}
	if (sync)
		(void)fsync(fd);
	close(fd);
	unlink(path);
	EVP_MD_CTX_free(md);
	free(buf);
	FCGX_FPrintF(r->out, "Content-Type: text/plain\r\n\r\nok\n");
}

static void
serve(struct worker *w, FCGX_Request *r)
{
	const char *uri = FCGX_GetParam("DOCUMENT_URI", r->envp);

	if (uri == NULL)
		return;
	if (strcmp(uri, "/db") == 0)
		serve_db(w, r);
	else if (strncmp(uri, "/xa/", 4) == 0)
		FCGX_FPrintF(r->out,
		    "Content-Type: application/octet-stream\r\n"
		    "X-Accel-Redirect: /bench-files/%s\r\n\r\n",
		    uri + 4);
	else if (strncmp(uri, "/up", 3) == 0)
		serve_upload(r, uri[3] == 's');
}

static int
next_fd(void)
{
	int fd;

	pthread_mutex_lock(&qlock);
	while (qhead == qtail)
		pthread_cond_wait(&qcond, &qlock);
	fd = queue[qhead++ % QLEN];
	pthread_mutex_unlock(&qlock);
	return (fd);
}

/* One pool thread; a connection kept by nginx goes back to the epoll set. */
static void *
thread_main(void *arg)
{
	struct worker w = {.seed = (unsigned int)(size_t)arg};
	struct epoll_event ev = {.events = EPOLLIN | EPOLLRDHUP | EPOLLONESHOT};
	FCGX_Request r;

	for (;;) {
		ev.data.fd = next_fd();
		FCGX_InitRequest(&r, listen_fd, FCGI_FAIL_ACCEPT_ON_INTR);
		r.ipcFd = ev.data.fd;
		r.keepConnection = 1;
		if (FCGX_Accept_r(&r) < 0)
			continue;
		serve(&w, &r);
		FCGX_Finish_r(&r);
		if (r.ipcFd >= 0 &&
		    epoll_ctl(epoll_fd, EPOLL_CTL_MOD, ev.data.fd, &ev))
			close(ev.data.fd);
	}
	return (NULL);
}

static void
accept_all(void)
{
	struct epoll_event ev = {.events = EPOLLIN | EPOLLRDHUP | EPOLLONESHOT};

	while ((ev.data.fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC)) >= 0)
		(void)epoll_ctl(epoll_fd, EPOLL_CTL_ADD, ev.data.fd, &ev);
}

static void
front(void)
{
	struct epoll_event ev = {.events = EPOLLIN}, got[256];
	int i, n;

	ev.data.fd = listen_fd;
	(void)epoll_ctl(epoll_fd, EPOLL_CTL_ADD, listen_fd, &ev);
	for (;;) {
		n = epoll_wait(epoll_fd, got, 256, -1);
		for (i = 0; i < n; i++) {
			if (got[i].data.fd == listen_fd) {
				accept_all();
				continue;
			}
			pthread_mutex_lock(&qlock);
			queue[qtail++ % QLEN] = got[i].data.fd;
			pthread_cond_signal(&qcond);
			pthread_mutex_unlock(&qlock);
		}
	}
}

int
main(int argc, char *argv[])
{
	struct rlimit rl;
	pthread_t t;
	long i;

	if (argc != 6) {
		fprintf(stderr,
		    "usage: bare SOCKET THREADS DBSOCKET DATABASE DIR\n");
		return (2);
	}
	db_socket = argv[3];
	db_name = argv[4];
	dir = argv[5];
	if (getrlimit(RLIMIT_NOFILE, &rl) == 0) {
		rl.rlim_cur = rl.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &rl);
	}
	signal(SIGPIPE, SIG_IGN);
	umask(0);
	mysql_library_init(0, NULL, NULL);
	if (FCGX_Init() || (listen_fd = FCGX_OpenSocket(argv[1], 4096)) < 0)
		return (1);
	/* The library's handler ends one thread of many. */
	signal(SIGTERM, SIG_DFL);
	(void)fcntl(listen_fd, F_SETFL, O_NONBLOCK);
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	for (i = 0; i < strtol(argv[2], NULL, 10); i++)
		if (pthread_create(&t, NULL, thread_main, (void *)(i + 1)))
			return (1);
	front();
	return (0);
}
