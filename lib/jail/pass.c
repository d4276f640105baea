#include <sys/socket.h>

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "jail/pass.h"

union room {
	char room[CMSG_SPACE(sizeof(int) * PASS_MAX)];
	struct cmsghdr align;
};

int
pass_send(int sock, const void *p, size_t len, const int *fds, size_t n)
{
	union room u;
	struct iovec v = {.iov_base = (void *)(uintptr_t)p, .iov_len = len};
	struct msghdr m = {.msg_iov = &v,
	    .msg_iovlen = 1,
	    .msg_control = u.room,
	    .msg_controllen = CMSG_SPACE(sizeof(int) * n)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	if (n == 0 || n > PASS_MAX) {
		errno = EINVAL;
		return (-1);
	}
	memset(&u, 0, sizeof(u));
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int) * n);
	memcpy(CMSG_DATA(c), fds, sizeof(int) * n);
	return (sendmsg(sock, &m, MSG_NOSIGNAL | MSG_DONTWAIT) == -1 ? -1 : 0);
}

/* Collect in ${all} the descriptors that came with ${m}; how many they are. */
static size_t
collect(struct msghdr *m, int all[PASS_MAX])
{
	struct cmsghdr *c;
	size_t n = 0, k;

	for (c = CMSG_FIRSTHDR(m); c != NULL; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		k = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(all + n, CMSG_DATA(c), k * sizeof(int));
		n += k;
	}
	return (n);
}

ssize_t
pass_recv(int sock, void *p, size_t size, int *fds, size_t n, int flags)
{
	union room u;
	struct iovec v = {.iov_base = p, .iov_len = size};
	struct msghdr m = {.msg_iov = &v,
	    .msg_iovlen = 1,
	    .msg_control = u.room,
	    .msg_controllen = sizeof(u.room)};
	int all[PASS_MAX];
	size_t i, came;
	ssize_t got;

	for (i = 0; i < n; i++)
		fds[i] = -1;
	if ((got = recvmsg(sock, &m, flags | MSG_CMSG_CLOEXEC)) == -1)
		return (-1);
	came = collect(&m, all);
	if (came == n && (m.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0)
		memcpy(fds, all, n * sizeof(*fds));
	else
		for (i = 0; i < came; i++)
			(void)close(all[i]);
	return (got);
}
