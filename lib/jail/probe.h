#ifndef JAIL_PROBE_H_
#define JAIL_PROBE_H_

#include "base/buf.h"

#include "jail/limits.h"

/* Can this machine keep sessions apart?  Nothing of a caller's runs here. */

/**
 * probe_level(l, said, remedy):
 * Go through the steps by which a session is confined as ${l} says, in child
 * processes that end then.  The calling process has one thread.  Return 0 with
 * what there is in ${said}; or -1 with the first step that was refused, its
 * error and its cause in ${said}, and what to do in ${remedy}; 1 instead if
 * that is for where we are, so that it may be granted to another process of the
 * user.
 */
int probe_level(const struct limits *, struct buf *, struct buf *);

#endif /* !JAIL_PROBE_H_ */
