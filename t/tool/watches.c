#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

/*
 * Use up all the epoll watches that the kernel gives this user, and whatever
 * comes free, until standard input ends.  Says "full" once there is none left.
 */

#define NFDS 1900 /* That each epoll watches; they may be the same ones. */

static int fds[NFDS];

/* Have ${epfd} watch what it can.  Return non-zero if there is no more. */
static int
fill(int epfd)
{
	struct epoll_event e = {.events = EPOLLIN};

	for (int i = 0; i < NFDS; i++) {
		if (epoll_ctl(epfd, EPOLL_CTL_ADD, fds[i], &e) &&
		    errno != EEXIST)
			return (1);
	}
	return (0);
}

int
main(void)
{
	struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
	struct rlimit rl;
	int epfd = -1, told = 0;

	if (getrlimit(RLIMIT_NOFILE, &rl))
		return (1);
	rl.rlim_cur = rl.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &rl);
	for (int i = 0; i < NFDS; i++) {
		if ((fds[i] = eventfd(0, 0)) == -1)
			return (1);
	}
	while (poll(&in, 1, told) == 0) {
		if (epfd == -1 && (epfd = epoll_create1(0)) == -1) {
			perror("watches: epoll_create1");
			return (1);
		}
		if (fill(epfd) == 0)
			epfd = -1;
		else if (!told++)
			(void)puts("full"), (void)fflush(stdout);
	}
	return (0);
}
