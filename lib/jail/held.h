#ifndef JAIL_HELD_H_
#define JAIL_HELD_H_

#include <stddef.h>
#include <stdint.h>

/* What guests have in the kernel by their descriptors and mappings. */

/* Numbers of inodes, each once. */
struct inodes {
	uint64_t *v;
	size_t n, room;
	int lost; /* Some are missing. */
};

struct held {
	uint64_t watches;      /* Descriptors that are in an epoll. */
	uint64_t bytes;        /* Of the kernel's memory, at the most. */
	struct inodes sockets; /* Where they are told apart by that. */
};

struct jail;

/**
 * held_look(J, deadline):
 * Look at what the guests of ${J} hold, and write it to ${J}->held; what cannot
 * be seen, or not in half a second of CPU time, is PROC_BLIND.  The look stops
 * above the session's limits, and at ${deadline} (clock_ms()).
 */
void held_look(struct jail *, uint64_t);

/**
 * held_none(h):
 * Make ${h} that of a session without guests.
 */
void held_none(struct held *);

/**
 * inodes_have(all, n):
 * Is ${n} one of ${all}, of which held_look() has found the last?
 */
int inodes_have(const struct inodes *, uint64_t);

#endif /* !JAIL_HELD_H_ */
