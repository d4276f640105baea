#include <sys/socket.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>

#include "jail/held.h"
#include "jail/proc.h"
#include "jail/socks.h"

#define ITSELF 2560      /* What the kernel needs for a socket. */
#define SMALLEST 1024    /* And at the most for a message of one byte. */
#define LAST_PIECE 81920 /* By what a stream may exceed its bound. */
#define QUEUED 11 /* Messages that one socket keeps of senders it has not. */
#define ANSWER 32768
#define LISTENS 10 /* TCP_LISTEN */

/* A question, and what has been answered of it so far. */
struct dump {
	const struct inodes *only; /* NULL: all. */
	uint64_t largest;          /* What one can send that nobody has read. */
	uint64_t n;
};

/* A socket, as the kernel shows it. */
struct seen {
	const struct unix_diag_msg *m;
	uint64_t sent;   /* By itself, that nobody has received yet. */
	uint64_t unread; /* Bytes, or callers, that wait for it. */
	uint32_t peer;   /* 0: there is none, or it is closed. */
	int paired, named;
};

/* The most that a sender can have on its way, and be closed. */
static uint64_t
largest(void)
{
	socklen_t len = sizeof(int);
	int fd, n = INT32_MAX / 2;
	uint64_t most = 0;

	if ((fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) == -1)
		return (0);
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &n, sizeof(n));
	if (getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &n, &len) == 0 && n > 0)
		most = (uint64_t)n + LAST_PIECE;
	(void)close(fd);
	return (most);
}

/* What those may have sent to it that are closed, which no socket shows. */
static uint64_t
orphaned(const struct dump *d, const struct seen *s)
{
	uint64_t most;

	/* Each that waits to be accepted is a socket that is not shown. */
	if (s->m->udiag_state == LISTENS)
		return (s->unread * d->largest);
	if (s->m->udiag_type == SOCK_DGRAM && s->named)
		return (QUEUED * d->largest);
	if (s->peer != 0 || !s->paired)
		return (0);

	/* Messages may be empty. */
	if (s->m->udiag_type != SOCK_STREAM)
		return (2 * d->largest);
	most = s->unread * SMALLEST;
	return (most < d->largest ? most : d->largest);
}

static uint64_t
number(const struct rtattr *a)
{
	uint32_t n;

	if (RTA_PAYLOAD(a) < sizeof(n))
		return (0);
	memcpy(&n, RTA_DATA(a), sizeof(n));
	return (n);
}

static void
take_attribute(const struct rtattr *a, struct seen *s)
{
	uint32_t mem[SK_MEMINFO_VARS] = {0};
	size_t len = RTA_PAYLOAD(a);

	switch (a->rta_type) {
	case UNIX_DIAG_NAME:
		s->named = 1;
		break;
	case UNIX_DIAG_PEER:
		s->paired = 1;
		s->peer = (uint32_t)number(a);
		break;
	case UNIX_DIAG_RQLEN: /* The first of its numbers. */
		s->unread = number(a);
		break;
	case UNIX_DIAG_MEMINFO:
		memcpy(mem, RTA_DATA(a), len < sizeof(mem) ? len : sizeof(mem));
		s->sent = (uint64_t)mem[SK_MEMINFO_WMEM_ALLOC] +
		    mem[SK_MEMINFO_OPTMEM];
		break;
	default:
		break;
	}
}

static void
take(struct dump *d, const struct nlmsghdr *h)
{
	struct seen s = {.m = NLMSG_DATA(h)};
	const struct rtattr *a = (const void *)(s.m + 1);
	unsigned int len;

	if (h->nlmsg_len < NLMSG_LENGTH(sizeof(*s.m)))
		return;
	if (d->only != NULL && !inodes_have(d->only, s.m->udiag_ino))
		return;
	len = h->nlmsg_len - (unsigned int)NLMSG_LENGTH(sizeof(*s.m));
	for (; RTA_OK(a, len); a = RTA_NEXT(a, len))
		take_attribute(a, &s);
	d->n += ITSELF + s.sent + orphaned(d, &s);
}

static int
ask(int fd)
{
	struct {
		struct nlmsghdr h;
		struct unix_diag_req r;
	} q = {
	    .h = {.nlmsg_len = sizeof(q),
		.nlmsg_type = SOCK_DIAG_BY_FAMILY,
		.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
	    .r = {.sdiag_family = AF_UNIX,
		.udiag_states = ~0U,
		.udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_PEER |
		    UDIAG_SHOW_RQLEN | UDIAG_SHOW_MEMINFO},
	};

	return (send(fd, &q, sizeof(q), 0) == (ssize_t)sizeof(q) ? 0 : -1);
}

/* Read the answer.  Return 0, or -1 with errno. */
static int
hear(int fd, struct dump *d)
{
	static _Alignas(struct nlmsghdr) char text[ANSWER];
	const struct nlmsghdr *h;
	struct nlmsgerr e;
	unsigned int len;
	ssize_t n;

	for (;;) {
		if ((n = recv(fd, text, sizeof(text), 0)) == -1) {
			if (errno == EINTR)
				continue;
			return (-1);
		}
		h = (const void *)text;
		len = (unsigned int)n;
		for (; NLMSG_OK(h, len); h = NLMSG_NEXT(h, len)) {
			if (h->nlmsg_type == NLMSG_DONE)
				return (0);
			if (h->nlmsg_type == NLMSG_ERROR) {
				memcpy(&e, NLMSG_DATA(h), sizeof(e));
				errno = -e.error;
				return (-1);
			}
			take(d, h);
		}
	}
}

int
socks_open(void)
{
	struct dump d = {.only = NULL};
	int fd;

	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	if (fd == -1)
		return (-1);
	if (ask(fd) || hear(fd, &d)) {
		(void)close(fd);
		return (-1);
	}
	return (fd);
}

uint64_t
socks_most(const struct limits *l)
{
	uint64_t each = largest();

	return (each == 0 ? 0 : l->memory / 2 / each);
}

/* Where the kernel shows nothing: as if each were full. */
static uint64_t
guess(const struct jail *J)
{
	const uint64_t n = J->held.sockets.n;

	return (n > socks_most(&J->lim) ? PROC_BLIND : n * largest());
}

uint64_t
socks_bytes(const struct jail *J)
{
	struct dump d = {.largest = largest()};

	if (J->lim.isolation == ISOLATION_LANDLOCK) {
		if (J->held.sockets.n == 0)
			return (0);
		d.only = &J->held.sockets;
	}
	if (J->socks == -1)
		return (guess(J));
	if (d.largest == 0 || ask(J->socks) || hear(J->socks, &d))
		return (PROC_BLIND);
	return (d.n);
}
