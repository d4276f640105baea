#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

#include "fcgi/conns.h"

#define AGAIN_MS 20   /* After a call that failed. */
#define TOLD_MS 10000 /* The log is told so often at most. */
#define WANTED (EPOLLIN | EPOLLRDHUP)

/* What epoll hands back: the descriptor, and above it the generation. */
#define DATA(fd, gen) ((uint64_t)(gen) << 32 | (uint32_t)(fd))
#define FD_OF(e) ((int)(uint32_t)(e)->data.u64)
#define GEN_OF(e) ((uint32_t)((e)->data.u64 >> 32))

static int
watch_level(int epfd, int fd)
{
	struct epoll_event e = {.events = EPOLLIN, .data.u64 = DATA(fd, 0)};

	return (epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &e));
}

int
conns_open(struct conns *c)
{

	memset(c, 0, sizeof(*c));
	c->epfd = epoll_create1(EPOLL_CLOEXEC);
	c->overfd = eventfd(0, EFD_CLOEXEC);
	c->turnfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);
	/* Pages that are never written cost nothing. */
	c->left = calloc(CONNS_LEFT, sizeof(*c->left));
	c->queue = calloc(CONNS_LEFT, sizeof(*c->queue));
	if (c->epfd == -1 || c->overfd == -1 || c->turnfd == -1 ||
	    c->left == NULL || c->queue == NULL)
		return (-1);
	return (
	    watch_level(c->epfd, c->overfd) || watch_level(c->epfd, c->turnfd));
}

void
conns_close(struct conns *c)
{

	if (c->epfd != -1)
		close(c->epfd);
	if (c->overfd != -1)
		close(c->overfd);
	if (c->turnfd != -1)
		close(c->turnfd);
	free(c->left);
	free(c->queue);
}

/* Have epoll watch ${fd} for its next event. */
static int
arm(const struct conns *c, int fd, int known, uint32_t gen)
{
	struct epoll_event e = {
	    .events = WANTED | EPOLLONESHOT, .data.u64 = DATA(fd, gen)};

	if (known && epoll_ctl(c->epfd, EPOLL_CTL_MOD, fd, &e) == 0)
		return (0);
	if (known && errno != ENOENT)
		return (-1);
	return (epoll_ctl(c->epfd, EPOLL_CTL_ADD, fd, &e));
}

int
conns_watch(struct conns *c, int fd, int known, uint32_t gen)
{
	const uint64_t now = clock_ms();

	if (arm(c, fd, known, gen) == 0)
		return (0);
	if (now - c->told_ms >= TOLD_MS) {
		log_warn("front: epoll: %s: connections are watched without"
			 " it until it takes them",
		    strerror(errno));
		c->told_ms = now;
	}
	if (c->nleft == CONNS_LEFT)
		return (-1);
	if (c->nleft == 0)
		c->retry_ms = now + CONNS_RETRY_MS;
	c->left[c->nleft++] = (struct conn_left){.fd = fd, .gen = gen};
	return (1);
}

/* A call has failed that will not fail for ever. */
static void
again_later(void)
{
	const struct timespec ts = {.tv_nsec = AGAIN_MS * 1000000L};

	(void)nanosleep(&ts, NULL);
}

int
conns_wait(struct conns *c, int ms, struct conn_event *ce)
{
	struct epoll_event e;
	int n;

	if ((n = epoll_wait(c->epfd, &e, 1, ms)) == -1 && errno != EINTR)
		again_later();
	if (n < 1)
		return (0);
	if (FD_OF(&e) == c->overfd)
		return (-1);
	if (FD_OF(&e) == c->turnfd)
		return (0);
	*ce = (struct conn_event){
	    .fd = FD_OF(&e), .gen = GEN_OF(&e), .what = e.events};
	return (1);
}

int
conns_next(struct conns *c, struct conn_event *ce)
{
	uint64_t one;

	/* Should this fail, a thread looks here once too often. */
	(void)!read(c->turnfd, &one, sizeof(one));
	if (c->nqueue == 0)
		return (0);
	c->nqueue--;
	*ce = (struct conn_event){.fd = c->queue[c->nqueue].fd,
	    .gen = c->queue[c->nqueue].gen,
	    .what = c->queue[c->nqueue].what};
	return (1);
}

size_t
conns_fill(const struct conns *c, struct pollfd *p)
{

	for (size_t i = 0; i < c->nleft; i++)
		p[i] = (struct pollfd){.fd = c->left[i].fd, .events = WANTED};
	return (c->nleft);
}

void
conns_came(struct conns *c, const struct pollfd *p, size_t n)
{
	uint64_t came = 0;
	size_t i, kept = 0;

	/* What has come to the list since is behind these. */
	for (i = 0; i < c->nleft; i++) {
		if (i >= n || p[i].revents == 0 || c->nqueue == CONNS_LEFT) {
			c->left[kept++] = c->left[i];
			continue;
		}
		c->queue[c->nqueue] = c->left[i];
		c->queue[c->nqueue++].what = (uint32_t)p[i].revents;
		came++;
	}
	c->nleft = kept;
	while (came > 0 && write(c->turnfd, &came, sizeof(came)) == -1)
		again_later();
}

int
conns_retry(struct conns *c, uint64_t ms)
{
	size_t n;

	if (c->nleft == 0)
		return (-1);
	if (ms < c->retry_ms)
		return ((int)(c->retry_ms - ms));
	while ((n = c->nleft) > 0 &&
	    arm(c, c->left[n - 1].fd, 1, c->left[n - 1].gen) == 0)
		c->nleft--;
	c->retry_ms = ms + CONNS_RETRY_MS;
	return (c->nleft > 0 ? CONNS_RETRY_MS : -1);
}

void
conns_over(struct conns *c)
{
	uint64_t one = 1;

	while (write(c->overfd, &one, sizeof(one)) == -1)
		again_later();
}
