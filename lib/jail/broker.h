#ifndef JAIL_BROKER_H_
#define JAIL_BROKER_H_

#include "jail/landlock.h"

/*
 * Landlock leaves everybody the modes and times of all files of his user.  At
 * its level such calls wait (filter_lone()) for the supervisor, which does them
 * itself where the file is one of the session's.
 */

/**
 * broker_serve(fd, land):
 * Answer one call that waits at ${fd}, if there is one.
 */
void broker_serve(int, const struct land *);

#endif /* !JAIL_BROKER_H_ */
