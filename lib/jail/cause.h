#ifndef JAIL_CAUSE_H_
#define JAIL_CAUSE_H_

#include "base/buf.h"

#include "jail/ns.h"

/**
 * cause_of(f, cause, remedy):
 * Append to ${cause} why this machine has refused the step ${f}, as far as can
 * be seen here and now by who was refused, and to ${remedy} what its operator
 * can do.  Both are without a full stop.
 */
void cause_of(const struct ns_fail *, struct buf *, struct buf *);

#endif /* !JAIL_CAUSE_H_ */
