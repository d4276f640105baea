#ifndef JAIL_CROWD_H_
#define JAIL_CROWD_H_

#include <stdint.h>

#include "jail/session.h"

/**
 * crowd_bound(H, most):
 * While the sessions of ${H} hold more than ${most} bytes of memory together,
 * files in memory included, end the one that has been unused for longest and
 * runs nothing.  What one holds it says itself, a moment after its last call.
 */
void crowd_bound(struct host *, uint64_t);

#endif /* !JAIL_CROWD_H_ */
