#ifndef IO_FAULT_H_
#define IO_FAULT_H_

#include <signal.h>

/*
 * Faults on purpose, for tests.  The environment variable SATCHEL_FAULT is a
 * comma list of NAME=N: the next N times this process comes to the place called
 * NAME, that place fails.  Names:
 *   commit-1213   COMMIT is rolled back and reported as a deadlock
 *   commit-lost   the connection dies after the server has committed
 *   commit-cut    the connection dies before the server hears of the COMMIT,
 *                 and nobody can tell
 *   exec-1205     a statement that writes runs into a lock wait timeout
 *   answer-lost   the connection to the client is cut instead of answering a
 *                 finished upload
 *   sync-enospc   the store's fsync() of a blob finds no space
 *   close-edquot  the store's close() of a blob finds no quota
 *   slow-batch    a sweep rests for 20 ms between two batches
 *   kill-...      the process dies on the spot, by SIGKILL; see fault_kill()
 * A list that is not of this form ends the process at once: a test whose fault
 * never fires proves nothing.
 */

extern int fault_armed;

/**
 * fault_hit(name):
 * Use up one of the faults called ${name}.  Return 0 if there was none left.
 */
int fault_hit(const char *);

/**
 * fault(name):
 * Shall the place called ${name} fail now?  Costs one test of a variable while
 * SATCHEL_FAULT is not set.
 */
static inline int
fault(const char *name)
{

	return (fault_armed && fault_hit(name));
}

/**
 * fault_kill(name):
 * Die as if by kill -9 if the place called ${name} shall fail now.
 */
static inline void
fault_kill(const char *name)
{

	if (fault(name))
		(void)raise(SIGKILL);
}

#endif /* !IO_FAULT_H_ */
