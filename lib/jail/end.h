#ifndef JAIL_END_H_
#define JAIL_END_H_

#include "jail/meta.h"

/**
 * end_session(dir, m):
 * End the session in the directory ${dir}, whose supervisor ${m} names, never
 * another process that has got its number.  Come back once nothing that it ran
 * can do anything any more; what the kernel still has to take apart may take
 * longer.  Waits about a second at most.  Return 0, or -1 if it goes on.
 */
int end_session(int, const struct meta *);

#endif /* !JAIL_END_H_ */
