#ifndef JAIL_FILTER_H_
#define JAIL_FILTER_H_

/* MiB of shared memory without a name that one mapping can make. */
#define FILTER_SHARED_MIB 16U

/**
 * filter_drop():
 * Give up every capability for good and forbid gaining privileges by exec.
 * Return 0 or -1 with errno.
 */
int filter_drop(void);

/**
 * filter_load():
 * Refuse, from now on and in all children, the system calls that reach parts
 * of the kernel a sandbox has no use for: sockets but unix ones, namespaces
 * and mounts, other processes' memory, the first process's limits and
 * priorities, devices, keyrings, memory that no limit counts, what the whole
 * machine shares, filters of its own, io_uring, bpf.  sync(2) and syncfs(2) do
 * nothing.  filter_drop() comes first.  Return 0 or -1 with errno.
 */
int filter_load(void);

/**
 * filter_lone():
 * Besides filter_load(), which comes later: refuse what would reach others of
 * the same user where no namespaces keep them apart.  That is all of sockets
 * but connected pairs, System V's numbers, priorities and limits of other
 * processes, modes with which a program runs as somebody else, and what changes
 * files by their names; changes of modes and times wait for an answer at the
 * descriptor that is returned.  Return -1 with errno.
 */
int filter_lone(void);

/**
 * filter_shut():
 * Once that descriptor is where it is to be: refuse the sending of any.  Return
 * 0 or -1 with errno.
 */
int filter_shut(void);

#endif /* !JAIL_FILTER_H_ */
