#ifndef JAIL_METER_H_
#define JAIL_METER_H_

#include <stdint.h>

#include "jail/guest.h"
#include "jail/plain.h"

/* What a call uses, against what it may. */

enum meter_rc {
	METER_OK,
	METER_MEMORY,
	METER_CPU,
	METER_FILES,
	METER_SPACE,
	METER_TASKS,
	METER_WATCHES
};

struct meter {
	struct jail *J;
	uint64_t memory;         /* Bytes it may use. */
	uint64_t cpu_ms, before; /* It may use; all before it have used. */
	uint64_t kills;          /* As cgroup_kills() was. */
	uint64_t tasks;          /* How many there may be. */
	struct plain_use most;   /* What its files may be, */
	struct plain_use there;  /* and were before it. */
	uint64_t next;           /* When to look at them again. */
	uint64_t held_next;      /* The same of what is held. */
	uint64_t deadline;       /* Of the call: clock_ms(). */
};

/**
 * meter_start(m, J, l, deadline):
 * A call with the limits ${l} begins in ${J}, and ends at ${deadline}
 * (clock_ms()).
 */
void
meter_start(struct meter *, struct jail *, const struct limits *, uint64_t);

/**
 * meter_look(m):
 * Which limit has been passed, if any.
 */
enum meter_rc meter_look(struct meter *);

/**
 * meter_last(m):
 * The same of what a call leaves that has ended by itself, maybe before anybody
 * looked.
 */
enum meter_rc meter_last(struct meter *);

#endif /* !JAIL_METER_H_ */
