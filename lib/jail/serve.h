#ifndef JAIL_SERVE_H_
#define JAIL_SERVE_H_

#include <stdint.h>

#include "jail/guest.h"

/**
 * serve(J, conn, ends):
 * Do the one thing that the worker at the other end of ${conn} asks for, and
 * tell it what came of it.  The session ends at ${ends} (clock_ms()), and so
 * does what is asked for.
 */
void serve(struct jail *, int, uint64_t);

#endif /* !JAIL_SERVE_H_ */
