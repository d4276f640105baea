#ifndef JAIL_SPAWN_H_
#define JAIL_SPAWN_H_

#include <stddef.h>

#include "jail/limits.h"

#define SPAWN_WORD "--supervise" /* The program's first argument then. */

/**
 * spawn_supervisor(l, lock, listener, pid, why, size):
 * Start this program again as the supervisor of a session with the limits ${l},
 * the held lock ${lock} and the listening socket ${listener}, in a session and
 * process group of its own, with no other descriptor and no environment.  Safe
 * in a program with threads.  Return 0 once it serves, with its process id in
 * ${pid}; or -1 with the reason in ${why}.
 */
int spawn_supervisor(const struct limits *, int, int, long *, char *, size_t);

#endif /* !JAIL_SPAWN_H_ */
