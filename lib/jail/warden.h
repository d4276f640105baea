#ifndef JAIL_WARDEN_H_
#define JAIL_WARDEN_H_

#include "jail/guest.h"

/*
 * Where no namespace ends with its first process, something must see to it that
 * a session ends whole with its supervisor.  The warden is the supervisor's
 * parent, in a domain (landlock.h) around that of the supervisor, and does
 * nothing until that has ended: then it kills all that is left, and lets go of
 * the session's lock.  A supervisor whose warden ends does as much itself; for
 * when both are killed at once there is strays.h.
 */

/**
 * warden_supervise(J):
 * supervisor_main() of the level "landlock": start the warden and in its domain
 * the supervisor of ${J}, whose lim is set, and report its process id.
 */
_Noreturn void warden_supervise(struct jail *);

#endif /* !JAIL_WARDEN_H_ */
