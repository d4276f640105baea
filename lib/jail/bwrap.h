#ifndef JAIL_BWRAP_H_
#define JAIL_BWRAP_H_

#include "jail/limits.h"

/*
 * The isolation level "bwrap": bubblewrap makes the namespaces and the root,
 * where the machine lets that program do so and not us.  What it cannot do:
 * bound the number of files, so the meter looks at that; hide the list of
 * mounts, and with it the machine's devices; leave out of /proc what is not of
 * processes, so each such file is covered.
 */

#define BWRAP_PROGRAM "/usr/bin/bwrap"
/* What a supervisor is told there; a title (title.h) has room in its place. */
#define BWRAP_INSIDE "inside-of-what-bwrap-has-made"

/**
 * bwrap_exec(l, info, argv):
 * Become a bwrap that runs ${argv} as the first process of a session with the
 * limits ${l}, all descriptors but those above 31 passed on to it.  bwrap
 * writes what it has made to the descriptor ${info} unless that is -1.  Returns
 * -1 with errno if it could not.
 */
int bwrap_exec(const struct limits *, int, char *const *);

/**
 * bwrap_supervise(l, words, n):
 * supervisor_main() of this level: start the supervisor of a session with the
 * limits ${l}, which the ${n} ${words} say, and report its process id.
 */
_Noreturn void bwrap_supervise(const struct limits *);

/**
 * bwrap_inside(l):
 * In a supervisor that bwrap has started: fill in ${l}, the limits that it was
 * started with, and put its descriptors where they belong.  Return 0, or -1
 * with errno.
 */
int bwrap_inside(struct limits *);

#endif /* !JAIL_BWRAP_H_ */
