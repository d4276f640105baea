#ifndef JAIL_SOCKS_H_
#define JAIL_SOCKS_H_

#include <stdint.h>

#include "jail/guest.h"

/*
 * What unix sockets hold, of which no process's memory tells.  The kernel shows
 * how much each has sent that nobody has received yet, if it was built with
 * that (CONFIG_UNIX_DIAG); of what those have sent that are closed already it
 * shows nothing, so the most that it can be is taken.
 */

/**
 * socks_open():
 * A descriptor for struct jail's socks, in whose network namespace it looks; -1
 * if the kernel cannot show anything.
 */
int socks_open(void);

/**
 * socks_most(l):
 * How many unix sockets a session with the limits ${l} may have there: as many
 * as hold no more than half of its memory, each as full as it can be.
 */
uint64_t socks_most(const struct limits *);

/**
 * socks_bytes(J):
 * The bytes that the unix sockets of ${J} hold, as far as its guests can have
 * taken them: those of its network namespace, or where it has none of its own
 * those that held_look() has last found.  PROC_BLIND if that cannot be told, or
 * if the kernel cannot show it and there are more than socks_most().
 */
uint64_t socks_bytes(const struct jail *);

#endif /* !JAIL_SOCKS_H_ */
