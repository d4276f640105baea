#ifndef JAIL_CGROUP_H_
#define JAIL_CGROUP_H_

#include <stdint.h>

#include "jail/limits.h"
#include "jail/ns.h"

/*
 * Control groups, version 2 or the memory hierarchy of version 1: one group a
 * session, in a directory that was given to our user.  It holds all memory of
 * the session, that of its files and of the kernel included.  A group outlives
 * its session as an empty directory until the next one is made.
 */

/**
 * cgroup_enter(l, fd, f):
 * Where ${l} asks for one, make a group and move the calling process into it,
 * while the machine's files can still be seen.  ${fd} becomes a descriptor for
 * cgroup_kills(); -1 where none is asked for.  Groups that ended sessions have
 * left are removed.  Return 0, or -1 with ${f} filled in and nothing left.
 */
int cgroup_enter(const struct limits *, int *, struct ns_fail *);

/**
 * cgroup_kills(fd):
 * How many processes have been killed in the group because it was full.
 */
uint64_t cgroup_kills(int);

#endif /* !JAIL_CGROUP_H_ */
