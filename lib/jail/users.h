#ifndef JAIL_USERS_H_
#define JAIL_USERS_H_

#include <sys/types.h>

#include "jail/ns.h"

/*
 * Users for sessions.  Much of what the kernel bounds, such as epoll watches,
 * it counts for each user of the machine, whatever namespaces there are.  So
 * a session gets a user of its own, from a range that is nobody else's: the one
 * that /etc/subuid and /etc/subgid give to the host's user, or one that a host
 * started as root takes.  The range is held by a user namespace of the host's
 * user, in which it is itself; nothing else of root's is needed afterwards.
 */

/**
 * users_take(uid, gid):
 * Called by a process of one thread that is root or the user ${uid} with the
 * group ${gid}, before it gives up what it has besides: take a range, if one
 * can be had, for users_held().
 */
void users_take(uid_t, gid_t);

/**
 * users_held():
 * The namespace of the range as a descriptor; -1 where sessions share the
 * user of their host.
 */
int users_held(void);

/**
 * users_apart(l):
 * Do sessions with the limits ${l} get users of their own?  Without namespaces
 * none do.
 */
int users_apart(const struct limits *);

/**
 * users_enter(fd, f):
 * Move the calling process, which has one thread, into the namespace ${fd}; do
 * nothing if ${fd} is none.  Return 0, or -1 with ${f} filled in.
 */
int users_enter(int, struct ns_fail *);

/**
 * users_inherit(f):
 * In that namespace, if it has been entered: keep over an exec what the
 * functions below need.  Return 0, or -1 with ${f} filled in.
 */
int users_inherit(struct ns_fail *);

/**
 * users_here():
 * Is the calling process able to give sessions their users?
 */
int users_here(void);

/**
 * users_map(pid, inside, f):
 * Have a user of the range as the user and group ${inside} of the process
 * ${pid}, which is in a new user namespace.  It is the session's alone as long
 * as ${pid} lives, if the range has as many users as the machine has numbers
 * for processes; in a smaller one two sessions may meet.  Return 0, or -1 with
 * ${f} filled in.
 */
int users_map(pid_t, unsigned int, struct ns_fail *);

/**
 * users_become(f):
 * Become the user that the calling process would have by users_map(), for good
 * and without any capability; nothing unless users_here().  Return 0, or -1
 * with ${f} filled in.
 */
int users_become(struct ns_fail *);

/**
 * users_give(fd, pid):
 * Make the file ${fd} of our own that of the user of ${pid}; nothing unless
 * users_here().  Return 0, or -1 with errno.
 */
int users_give(int, pid_t);

#endif /* !JAIL_USERS_H_ */
