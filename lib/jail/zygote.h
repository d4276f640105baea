#ifndef JAIL_ZYGOTE_H_
#define JAIL_ZYGOTE_H_

#include "jail/guest.h"

/*
 * The zygote: a Python interpreter that has loaded and exercised what programs
 * use most, and whose clones become sessions (zygote.py).  The library that it
 * loads has two functions that are called there with the interpreter locked:
 * zygote_serve(), whose clones never let go of it, and guest_leave().
 *
 * What passes between it and the keeper, in packets: first it says "ready", or
 * why it is not; then each packet of the keeper's (order.h) asks for a session,
 * with the descriptors of a pipe for the report, the lock and the listening
 * socket.  The report is as that of supervisor_main().
 */

#define ZYGOTE_MAX 8192 /* Bytes of what it says. */

/**
 * zygote_serve(fd, interpreter):
 * Make sessions for the keeper at the other end of ${fd} until it has gone.
 * ${interpreter} is struct jail's.  Return then, and in no clone.
 */
void zygote_serve(int, jail_interpreter *);

#endif /* !JAIL_ZYGOTE_H_ */
