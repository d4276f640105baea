#include <sys/socket.h>
#include <sys/time.h>

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

#include "jail/errand.h"

#define PEER_S 30 /* In the middle of a frame nothing takes so long. */

/* Wait until the supervisor says something. */
static enum errand_rc
wait_for(const struct errand *e, uint64_t until)
{
	struct pollfd p[2] = {
	    {.fd = e->fd, .events = POLLIN},
	    {.fd = e->gone_fd, .events = POLLRDHUP},
	};
	uint64_t now;

	for (;;) {
		if ((now = clock_ms()) >= until)
			return (ERRAND_LATE);
		if (poll(p, 2, (int)(until - now)) == -1) {
			if (errno == EINTR)
				continue;
			log_err("sandbox: poll: %s", strerror(errno));
			return (ERRAND_BROKEN);
		}
		if (p[1].revents)
			return (ERRAND_LEFT);
		if (p[0].revents)
			return (ERRAND_OK);
	}
}

enum errand_rc
errand_next(struct errand *e, uint64_t until, enum frame_tag *tag)
{
	enum errand_rc rc;

	if ((rc = wait_for(e, until)) != ERRAND_OK)
		return (rc);
	switch (frame_recv(e->fd, tag, &e->body)) {
	case FRAME_OK:
		return (ERRAND_OK);
	case FRAME_CLOSED:
		return (ERRAND_NONE);
	default:
		/* A supervisor that is killed may leave half a frame. */
		log_warn("sandbox: a session broke off");
		return (ERRAND_NONE);
	}
}

/* What the first frame, ${tag}, says. */
static enum errand_rc
first(const struct errand *e, enum frame_tag tag)
{
	struct msg m;

	if (tag == FRAME_BEGUN)
		return (ERRAND_OK);
	if (tag == FRAME_DONE && msg_parse(e->body.p, e->body.len, &m) == 0 &&
	    msg_get_num(&m, MSG_STATUS, REPLY_FAIL) == REPLY_LATE)
		return (ERRAND_LATE);
	log_err("sandbox: a supervisor did not understand its worker");
	return (ERRAND_BROKEN);
}

enum errand_rc
errand_start(struct host *H, const char *id, const struct buf *m, int gone_fd,
    uint64_t until, struct errand *e)
{
	struct timeval patience = {.tv_sec = PEER_S};
	enum errand_rc rc = ERRAND_NONE;
	enum frame_tag tag;

	memset(e, 0, sizeof(*e));
	e->gone_fd = gone_fd;
	e->body.max = FRAME_MAX;
	switch (session_connect(H, id, until, &e->fd)) {
	case SESSION_OK:
		break;
	case SESSION_FULL:
		return (ERRAND_LATE);
	case SESSION_NONE:
		return (ERRAND_NONE);
	default:
		return (ERRAND_BROKEN);
	}
	if (setsockopt(
		e->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) ||
	    setsockopt(
		e->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) ||
	    frame_send(e->fd, FRAME_ASK, m->p, m->len) ||
	    (rc = errand_next(e, until, &tag)) != ERRAND_OK ||
	    (rc = first(e, tag)) != ERRAND_OK) {
		errand_end(e);
		return (rc);
	}
	return (ERRAND_OK);
}

void
errand_end(struct errand *e)
{

	(void)close(e->fd);
	e->fd = -1;
	buf_free(&e->body);
}
