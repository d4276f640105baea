#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * A machine that refuses for a while: with LD_PRELOAD, whatever function the
 * file $SATCHEL_DENY names fails with the error number it holds, in all
 * processes that have it loaded, from one moment to the next.  Its 64 bytes are
 * a number of four, in the machine's order, and a name that ends with a NUL;
 * "epoll_add" is an epoll_ctl() that adds.
 */

struct order {
	volatile int err;
	volatile char name[60];
};

static const struct order nothing;
static const struct order *order;

static void __attribute__((constructor)) begin(void)
{
	const char *path = getenv("SATCHEL_DENY");
	void *p = MAP_FAILED;
	int fd;

	order = &nothing;
	if (path == NULL || (fd = open(path, O_RDONLY | O_CLOEXEC)) == -1)
		return;
	p = mmap(NULL, sizeof(*order), PROT_READ, MAP_SHARED, fd, 0);
	(void)close(fd);
	if (p != MAP_FAILED)
		order = p;
}

/* Is ${name} refused?  Then errno says why. */
static int
denied(const char *name)
{

	if (order == NULL || order->err == 0 ||
	    strcmp((const char *)order->name, name) != 0)
		return (0);
	errno = order->err;
	return (1);
}

#define NEXT(name) ((typeof(&name))dlsym(RTLD_NEXT, #name))

/* A function that says -1 and errno when it fails. */
#define DENY(type, name, params, args)     \
	type name params                   \
	{                                  \
		static typeof(&name) next; \
                                           \
		if (denied(#name))         \
			return (-1);       \
		if (next == NULL)          \
			next = NEXT(name); \
		return (next args);        \
	}

/* The libraries' own declarations stay as they are. */
int eventfd(unsigned int, int);
int signalfd(int, const sigset_t *, int);
int ioctl(int, unsigned long, ...);
int fcntl64(int, int, ...);

DENY(int, epoll_create1, (int flags), (flags))
DENY(int, epoll_wait, (int fd, struct epoll_event *e, int n, int ms),
    (fd, e, n, ms))
DENY(int, poll, (struct pollfd * p, nfds_t n, int ms), (p, n, ms))
DENY(int, accept4, (int fd, struct sockaddr *sa, socklen_t *len, int flags),
    (fd, sa, len, flags))
DENY(int, eventfd, (unsigned int n, int flags), (n, flags))
DENY(int, signalfd, (int fd, const sigset_t *s, int flags), (fd, s, flags))
DENY(ssize_t, read, (int fd, void *p, size_t n), (fd, p, n))
DENY(ssize_t, write, (int fd, const void *p, size_t n), (fd, p, n))
DENY(ssize_t, recv, (int fd, void *p, size_t n, int flags), (fd, p, n, flags))
DENY(ssize_t, send, (int fd, const void *p, size_t n, int flags),
    (fd, p, n, flags))
DENY(int, setsockopt,
    (int fd, int level, int name, const void *p, socklen_t len),
    (fd, level, name, p, len))
DENY(int, shutdown, (int fd, int how), (fd, how))
DENY(
    int, socket, (int domain, int type, int protocol), (domain, type, protocol))
DENY(pid_t, fork, (void), ())

int
epoll_ctl(int epfd, int op, int fd, struct epoll_event *e)
{
	static typeof(&epoll_ctl) next;

	if (denied("epoll_ctl") || (op == EPOLL_CTL_ADD && denied("epoll_add")))
		return (-1);
	if (next == NULL)
		next = NEXT(epoll_ctl);
	return (next(epfd, op, fd, e));
}

int
ioctl(int fd, unsigned long what, ...)
{
	static typeof(&ioctl) next;
	va_list ap;
	void *p;

	if (denied("ioctl"))
		return (-1);
	va_start(ap, what);
	p = va_arg(ap, void *);
	va_end(ap);
	if (next == NULL)
		next = NEXT(ioctl);
	return (next(fd, what, p));
}

int
fcntl64(int fd, int what, ...)
{
	static typeof(&fcntl64) next;
	va_list ap;
	void *p;

	if (denied("fcntl"))
		return (-1);
	va_start(ap, what);
	p = va_arg(ap, void *);
	va_end(ap);
	if (next == NULL)
		next = NEXT(fcntl64);
	return (next(fd, what, p));
}

int
fcntl(int fd, int what, ...)
{
	va_list ap;
	void *p;

	va_start(ap, what);
	p = va_arg(ap, void *);
	va_end(ap);
	return (fcntl64(fd, what, p));
}

int
pthread_create(pthread_t *thread, const pthread_attr_t *attr,
    void *(*run)(void *), void *cookie)
{
	static typeof(&pthread_create) next;

	if (denied("pthread_create"))
		return (errno);
	if (next == NULL)
		next = NEXT(pthread_create);
	return (next(thread, attr, run, cookie));
}

void *
calloc(size_t n, size_t size)
{
	static typeof(&calloc) next;

	if (denied("calloc"))
		return (NULL);
	if (next == NULL)
		next = NEXT(calloc);
	return (next(n, size));
}
