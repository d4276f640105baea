#ifndef JAIL_ERRAND_H_
#define JAIL_ERRAND_H_

#include <stdint.h>

#include "jail/frame.h"
#include "jail/session.h"

/* One thing that a worker has a session's supervisor do. */

enum errand_rc {
	ERRAND_OK,
	ERRAND_NONE,  /* No such session, or it has ended meanwhile. */
	ERRAND_LATE,  /* Its turn did not come in time. */
	ERRAND_LEFT,  /* Our own client has gone. */
	ERRAND_BROKEN /* Logged. */
};

struct errand {
	int fd;          /* To the supervisor. */
	int gone_fd;     /* POLLHUP or POLLRDHUP there: our client has gone. */
	struct buf body; /* What the latest frame holds. */
};

/**
 * errand_start(H, id, m, gone_fd, until, e):
 * Ask the supervisor of the session ${id} for what the message ${m} says and
 * wait until it begins with it.  ERRAND_OK, with ${e} to be ended by
 * errand_end(); anything else leaves nothing to end.  ${until}: clock_ms().
 */
enum errand_rc errand_start(struct host *, const char *, const struct buf *,
    int, uint64_t, struct errand *);

/**
 * errand_next(e, until, tag):
 * Wait for the next frame; what it holds is in ${e}->body until the next call.
 * ERRAND_NONE if the session has ended, ERRAND_LATE, ERRAND_LEFT or
 * ERRAND_BROKEN.
 */
enum errand_rc errand_next(struct errand *, uint64_t, enum frame_tag *);

/**
 * errand_end(e):
 * Close the connection.  If DONE has not come, the supervisor stops what it is
 * doing for us.
 */
void errand_end(struct errand *);

#endif /* !JAIL_ERRAND_H_ */
