#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "jail/end.h"
#include "jail/place.h"

#define ASK_MS 100 /* A supervisor that is able to needs far less. */
#define KILL_MS 1000

/* Open the supervisor as a descriptor.  Return -1 with ESRCH if it is gone. */
static int
hold(const struct meta *m)
{
	uint64_t start;
	int fd;

	fd = (int)syscall(SYS_pidfd_open, (pid_t)m->pid, 0);

	/* The number is now held by the descriptor. */
	if (fd != -1 && (meta_of(m->pid, &start) || start != m->start)) {
		(void)close(fd);
		errno = ESRCH;
		return (-1);
	}
	return (fd);
}

/*
 * Connect to the supervisor, so that poll() tells when it listens no more.
 * Return -1 with ECONNREFUSED if that is so already.
 */
static int
knock(int dir)
{
	struct sockaddr_un sun;
	int fd;

	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd == -1)
		return (-1);
	place_sock(dir, &sun);
	if (connect(fd, (struct sockaddr *)&sun, sizeof(sun))) {
		(void)close(fd);
		return (-1);
	}
	return (fd);
}

/*
 * Have the supervisor end.  Before all else it sees to it that nothing which it
 * has started runs, and closes its socket.  Return 0 once it has done so or has
 * ended.
 */
static int
ask(int supervisor, int dir)
{
	struct pollfd p[2] = {
	    {.fd = supervisor, .events = POLLIN}, {.fd = -1, .events = 0}};
	int rc;

	if (syscall(SYS_pidfd_send_signal, supervisor, SIGTERM, NULL, 0))
		return (errno == ESRCH ? 0 : -1);
	if ((p[1].fd = knock(dir)) == -1 && errno == ECONNREFUSED)
		return (0);
	rc = poll(p, 2, ASK_MS) > 0 ? 0 : -1;
	if (p[1].fd != -1)
		(void)close(p[1].fd);
	return (rc);
}

/* All that it has started ends with it. */
static int
force(int supervisor)
{
	struct pollfd p = {.fd = supervisor, .events = POLLIN};

	if (syscall(SYS_pidfd_send_signal, supervisor, SIGKILL, NULL, 0))
		return (errno == ESRCH ? 0 : -1);
	return (poll(&p, 1, KILL_MS) == 1 ? 0 : -1);
}

int
end_session(int dir, const struct meta *m)
{
	int fd, rc;

	if ((fd = hold(m)) == -1)
		return (errno == ESRCH ? 0 : -1);
	rc = ask(fd, dir) && force(fd) ? -1 : 0;
	(void)close(fd);
	return (rc);
}
