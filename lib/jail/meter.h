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
	METER_TASKS
};

struct meter {
	const struct jail *J;
	uint64_t memory;         /* Bytes it may use. */
	uint64_t cpu_ms, before; /* It may use; all before it have used. */
	uint64_t kills;          /* As cgroup_kills() was. */
	uint64_t tasks;          /* How many there may be. */
	struct plain_use most;   /* What its files may be, */
	struct plain_use there;  /* and were before it. */
	uint64_t next;           /* When to look at them again. */
};

/**
 * meter_start(m, J, l):
 * A call with the limits ${l} begins in ${J}.
 */
void meter_start(struct meter *, const struct jail *, const struct limits *);

/**
 * meter_look(m):
 * Which limit has been passed, if any.
 */
enum meter_rc meter_look(struct meter *);

/**
 * meter_last(m):
 * The same of what a call leaves that has ended by itself, maybe before anybody
 * looked: what it has killed and its files.
 */
enum meter_rc meter_last(struct meter *);

#endif /* !JAIL_METER_H_ */
