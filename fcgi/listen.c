#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/num.h"

#include "fcgi/listen.h"

#define BACKLOG 4096 /* A burst beyond it is refused, on a unix socket. */
#define SOCKET_MODE 0660
#define NOFILE_MAX 65536
#define SYSTEMD_FD 3

/* Fill in ${sa}; -1 after logging if ${path} does not fit. */
static int
unix_address(const char *path, struct sockaddr_un *sa)
{

	memset(sa, 0, sizeof(*sa));
	sa->sun_family = AF_UNIX;
	if (snprintf(sa->sun_path, sizeof(sa->sun_path), "%s", path) <
	    (int)sizeof(sa->sun_path))
		return (0);
	log_err("listen: %s: too long for a socket's path", path);
	return (-1);
}

/* Remove the socket that a process which is no more left at ${sa}. */
static int
unix_clear(const struct sockaddr_un *sa)
{
	struct stat st;
	int fd, rc;

	if (lstat(sa->sun_path, &st))
		return (0); /* bind() will say what is wrong, if anything is. */
	if (!S_ISSOCK(st.st_mode)) {
		log_err("listen: %s: is there, and no socket", sa->sun_path);
		return (-1);
	}
	if ((fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) == -1) {
		log_err("listen: socket: %s", strerror(errno));
		return (-1);
	}
	rc = connect(fd, (const struct sockaddr *)sa, sizeof(*sa));
	if (rc == -1 && errno == ECONNREFUSED)
		rc = unlink(sa->sun_path) ? -2 : 0;
	else
		rc = -1;
	close(fd);
	if (rc == -1)
		log_err("listen: %s: in use", sa->sun_path);
	else if (rc == -2)
		log_err("listen: %s: %s", sa->sun_path, strerror(errno));
	return (rc ? -1 : 0);
}

static int
unix_open(const char *path)
{
	struct sockaddr_un sa;
	mode_t mask;
	int fd, rc;

	if (unix_address(path, &sa) || unix_clear(&sa))
		return (-1);
	if ((fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) == -1)
		goto err0;
	mask = umask(0777 & ~SOCKET_MODE);
	rc = bind(fd, (struct sockaddr *)&sa, sizeof(sa));
	(void)umask(mask);
	if (rc || listen(fd, BACKLOG))
		goto err1;

	/* Success! */
	return (fd);

err1:
	log_err("listen: %s: %s", path, strerror(errno));
	close(fd);
	return (-1);
err0:
	/* Failure! */
	log_err("listen: socket: %s", strerror(errno));
	return (-1);
}

/* Bind and listen on the first of ${ai}. */
static int
tcp_listen(const struct addrinfo *ai)
{
	int fd, on = 1;

	if ((fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0)) == -1)
		return (-1);
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    bind(fd, ai->ai_addr, ai->ai_addrlen) || listen(fd, BACKLOG)) {
		close(fd);
		return (-1);
	}
	return (fd);
}

static int
tcp_open(const char *where)
{
	const struct addrinfo hints = {.ai_family = AF_UNSPEC,
	    .ai_socktype = SOCK_STREAM,
	    .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE};
	struct addrinfo *ai;
	const char *colon = strrchr(where, ':');
	char host[64];
	uint64_t port;
	int fd, rc;

	if (colon == NULL || colon == where ||
	    num_u64(colon + 1, 1, 65535, &port)) {
		log_err("listen: %s: neither HOST:PORT nor a path", where);
		return (-1);
	}
	if (where[0] == '[' && colon[-1] == ']')
		rc = snprintf(host, sizeof(host), "%.*s",
		    (int)(colon - where) - 2, where + 1);
	else
		rc = snprintf(
		    host, sizeof(host), "%.*s", (int)(colon - where), where);
	if (rc >= (int)sizeof(host) ||
	    getaddrinfo(host, colon + 1, &hints, &ai)) {
		log_err("listen: %s: not a numeric address", where);
		return (-1);
	}
	if ((fd = tcp_listen(ai)) == -1)
		log_err("listen: %s: %s", where, strerror(errno));
	freeaddrinfo(ai);
	return (fd);
}

int
listen_open(const char *where)
{

	return (strchr(where, '/') ? unix_open(where) : tcp_open(where));
}

static int
is_listening(int fd)
{
	socklen_t len = sizeof(int);
	int on;

	return (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &len) == 0 &&
	    on != 0);
}

int
listen_given(void)
{
	const char *pid = getenv("LISTEN_PID");
	uint64_t n;

	if (is_listening(STDIN_FILENO))
		return (STDIN_FILENO);
	if (num_u64(pid, 1, INT32_MAX, &n) == 0 && n == (uint64_t)getpid() &&
	    is_listening(SYSTEMD_FD))
		return (SYSTEMD_FD);
	return (-1);
}

/* Is ${fd} what ${path} leads to? */
static int
is_ours(int fd, const char *path)
{
	struct sockaddr_un sa;
	socklen_t len = sizeof(sa);
	int probe, rc;

	if (getsockname(fd, (struct sockaddr *)&sa, &len) ||
	    sa.sun_family != AF_UNIX || strcmp(sa.sun_path, path))
		return (0);
	if ((probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) == -1)
		return (0);
	(void)shutdown(fd, SHUT_RD); /* From here on ours refuses. */
	rc = connect(probe, (struct sockaddr *)&sa, len);
	rc = rc == -1 && errno == ECONNREFUSED;
	close(probe);
	return (rc);
}

void
listen_close(int fd, const char *where)
{

	if (where != NULL && strchr(where, '/') && is_ours(fd, where))
		(void)unlink(where);
	close(fd);
}

void
listen_raise_nofile(void)
{
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, &rl) || rl.rlim_cur >= NOFILE_MAX)
		return;
	rl.rlim_cur = rl.rlim_max < NOFILE_MAX ? rl.rlim_max : NOFILE_MAX;
	if (setrlimit(RLIMIT_NOFILE, &rl))
		log_warn("limit on descriptors: %s", strerror(errno));
}
