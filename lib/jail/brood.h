#ifndef JAIL_BROOD_H_
#define JAIL_BROOD_H_

#include <sys/types.h>

#include <stddef.h>
#include <stdint.h>

#include "jail/limits.h"
#include "jail/ready.h"

/* The keeper's hold on a zygote (zygote.h) and on what comes from it. */

enum brood_state {
	BROOD_NONE,
	BROOD_LOADING, /* Not ready yet. */
	BROOD_READY
};

struct brood {
	enum brood_state state;
	pid_t pid;
	int fd;         /* To the zygote; poll it for POLLIN. */
	uint64_t began; /* clock_ms() */
	char name[READY_MAKER];
};

/**
 * brood_start(B, image, l, why, size):
 * Start a zygote for sessions with the limits ${l}, in ${B}, which has none.
 * ${image} is the library of zygote.h, as a descriptor.  In a process of one
 * thread.  Return 0, with ${B} loading; or -1 with the reason in ${why}.
 */
int brood_start(struct brood *, int, const struct limits *, char *, size_t);

/**
 * brood_hear(B, why, size):
 * Take what the zygote says, without waiting.  Return 0; or -1 with the reason
 * in ${why} if it cannot be of use: it is to be ended.
 */
int brood_hear(struct brood *, char *, size_t);

/**
 * brood_order(B, l, b, why, size):
 * Tell the zygote of ${B}, which is ready, to make the supervisor of ${b}, with
 * the limits ${l}; it takes several orders, which it serves in turn.  Return 0,
 * or -1 with the reason in ${why}.
 */
int brood_order(const struct brood *, const struct limits *, struct birth *,
    char *, size_t);

/**
 * brood_end(B):
 * End the zygote, if there is one; its sessions live on.
 */
void brood_end(struct brood *);

#endif /* !JAIL_BROOD_H_ */
