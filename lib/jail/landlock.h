#ifndef JAIL_LANDLOCK_H_
#define JAIL_LANDLOCK_H_

#include "jail/limits.h"
#include "jail/ns.h"

/*
 * The isolation level "landlock", for machines that let nobody make user
 * namespaces: nothing of the machine is hidden, but what a session's processes
 * may open, signal and connect to is bounded by rules that they and all their
 * children keep.  Such a set of rules, once entered, is a domain: processes
 * signal only their own and those made inside, so that to a supervisor in one
 * "all processes" are its session's.  See also filter_lone(), for what these
 * rules do not reach.
 */

/* Where a session's files are, all paths absolute. */
struct land {
	char work[LIMITS_PATH]; /* The workspace, */
	char tmp[LIMITS_PATH];  /* and what TMPDIR names. */
};

/* What it is without, in short. */
#define LANDLOCK_WITHOUT                                                     \
	"names of the machine's files can be asked after, its processes' "   \
	"numbers and load be seen, counts of the user be used up; no /tmp, " \
	"/mnt/data, /dev/shm and /proc of one's own"

/**
 * landlock_abi():
 * The version of the kernel's interface; or -1 with errno.
 */
int landlock_abi(void);

/**
 * landlock_lacks(abi):
 * What this level needs and an interface of version ${abi} cannot confine;
 * NULL: nothing.
 */
const char *landlock_lacks(int);

/**
 * landlock_can(l, f):
 * Return 0 if sessions with the limits ${l} can be had on this machine, or -1
 * with ${f} filled in.
 */
int landlock_can(const struct limits *, struct ns_fail *);

/**
 * landlock_guest(land, f), landlock_keeper(land, f):
 * Make the rules for a caller's program: the machine's programs and libraries
 * can be read and run, and the directories of ${land} be used; it opens nothing
 * else.  Those of its supervisor add /proc.  Return a descriptor for
 * landlock_enter(), or -1 with ${f} filled in.
 */
int landlock_guest(const struct land *, struct ns_fail *);
int landlock_keeper(const struct land *, struct ns_fail *);

/**
 * landlock_apart(f):
 * Enter a domain of one's own that forbids nothing more.  Return 0, or -1 with
 * ${f} filled in.
 */
int landlock_apart(struct ns_fail *);

/**
 * landlock_enter(fd):
 * Keep the rules ${fd} from now on.  In a process that can gain no privileges
 * by exec.  Return 0, or -1 with errno.
 */
int landlock_enter(int);

#endif /* !JAIL_LANDLOCK_H_ */
