#ifndef JAIL_NS_H_
#define JAIL_NS_H_

#include <sys/types.h>

#include "jail/limits.h"

/* Namespaces of a session, and what its processes see of the machine. */

/* The step that the machine refused, and why. */
struct ns_fail {
	const char *step;
	int err; /* errno */
};

/**
 * ns_failed(f, step):
 * Fill in ${f} for the ${step} that failed with errno.  Returns -1.
 */
int ns_failed(struct ns_fail *, const char *);

/**
 * ns_write(dir, path, text):
 * Write ${text} at once to the file ${path} of ${dir}, as the kernel's files of
 * settings want it.  Return 0, or -1 with errno.
 */
int ns_write(int, const char *, const char *);

/**
 * ns_unshare(f):
 * Move the calling process, which has one thread, into new user, mount, ipc,
 * uts, cgroup and network namespaces in which its user is 1000, and its next
 * children into a new pid namespace.  Return 0, or -1 with ${f} filled in.
 */
int ns_unshare(struct ns_fail *);

/**
 * ns_clone(pid, lock, f):
 * Make a child in namespaces as ns_unshare() makes them, a pid namespace
 * included, whose first process it is.  Where sessions have users of their own
 * (users.h) it is given one, which ns_settle() makes it, and the file ${lock}
 * becomes that user's.  In a process of one thread, which has been forked
 * without its handlers being told.  Return 0 with ${pid} as fork() has it; or
 * -1 with ${f} filled in, in the child too: ${pid} is 0 there, and it can only
 * end.
 */
int ns_clone(pid_t *, int, struct ns_fail *);

/**
 * ns_settle(f):
 * Called by the child of ns_clone(), once it has done what only the user of
 * its host may do: be the user 1000 that it is inside.  Return 0, or -1 with
 * ${f} filled in.
 */
int ns_settle(struct ns_fail *);

/**
 * ns_zygote(l, f):
 * Move the calling process, which has one thread, into a mount namespace in
 * which /tmp is its own and empty and /usr that of ${l}->rootfs, if there is
 * one, and into the user namespace that this needs, in which its user is who it
 * was; it stays in that of users.h, and what it then executes can give users of
 * it.  With what ns_stage() does, if ns_stages().  Return 0, or
 * -1 with ${f} filled in.
 */
int ns_zygote(const struct limits *, struct ns_fail *);

/**
 * ns_stages(l):
 * Do sessions with the limits ${l} find their root in the mount namespace of
 * their zygote?  Not those that need to reach the control groups first.
 */
int ns_stages(const struct limits *);

/**
 * ns_stage(l, f):
 * Replace the whole tree of files by that of a session, without what is its
 * own: /tmp is empty, /proc the old one.  In new mount and user namespaces.
 * Return 0, or -1 with ${f} filled in.
 */
int ns_stage(const struct limits *, struct ns_fail *);

/**
 * ns_staged(l, proc, f):
 * As ns_root(), in a copy of the mount namespace of a process that has called
 * ns_stage().  It spares sessions what takes longest: to change the root of a
 * namespace the kernel looks at every thread of the machine.
 */
int ns_staged(const struct limits *, int *, struct ns_fail *);

/**
 * ns_root(l, proc, f):
 * Called by the first process of the pid namespace: replace the whole tree of
 * files by a read-only one with the /usr of the machine or of ${l}->rootfs, the
 * few files of /etc and /dev that programs need, an own /proc, and /tmp,
 * /dev/shm and the workspace in memory, bounded by ${l}.  Nothing of the old
 * tree can be reached or seen in the list of mounts afterwards.  /proc is
 * read-only; the descriptor ${proc} becomes the same, to be written to.  Return
 * 0, or -1 with ${f} filled in.
 */
int ns_root(const struct limits *, int *, struct ns_fail *);

#define NS_WORKSPACE "/mnt/data"

#endif /* !JAIL_NS_H_ */
