#ifndef JAIL_USAGE_H_
#define JAIL_USAGE_H_

#include <stdint.h>

#include "jail/guest.h"
#include "jail/plain.h"

/*
 * What a session holds of its host's memory, written by its supervisor into its
 * lock file, whose time it leaves as it is.
 */

/**
 * usage_files(J, use):
 * Called by the supervisor: what there is of files in the session ${J}.
 */
void usage_files(const struct jail *, struct plain_use *);

/**
 * usage_write(J, lock):
 * Called by the supervisor: measure and write it.
 */
void usage_write(struct jail *, int);

/**
 * usage_read(lock):
 * The bytes; 0 if there is nothing written yet.
 */
uint64_t usage_read(int);

#endif /* !JAIL_USAGE_H_ */
