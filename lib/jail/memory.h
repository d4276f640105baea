#ifndef JAIL_MEMORY_H_
#define JAIL_MEMORY_H_

#include <stdint.h>

#include "jail/guest.h"

/**
 * memory_use(J, limit):
 * The bytes of memory that the guests of ${J} use: what they can write to, in
 * swap too, the pages of a group that share them counted once in all; their
 * page tables; what they and their descriptors and mappings hold in the kernel,
 * as held_look() has last found it; and what their sockets hold.  An upper
 * bound while that is at most ${limit}.  PROC_BLIND if it cannot be told.
 */
uint64_t memory_use(const struct jail *, uint64_t);

/**
 * memory_offer(proc):
 * Have the kernel end the calling process first where memory runs out, and its
 * children.  ${proc} is a /proc that can be written to, or -1: the usual one.
 */
void memory_offer(int);

#endif /* !JAIL_MEMORY_H_ */
