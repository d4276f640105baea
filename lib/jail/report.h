#ifndef JAIL_REPORT_H_
#define JAIL_REPORT_H_

#include <stddef.h>
#include <stdint.h>

/**
 * report_read(fd, ms, pid, why, size):
 * Read from the pipe ${fd} what a supervisor that is being started reports
 * (supervisor.h), for ${ms} milliseconds at most.  Return 0 once it serves,
 * with its process id in ${pid}; or -1 with the reason in ${why}.
 */
int report_read(int, uint64_t, long *, char *, size_t);

#endif /* !JAIL_REPORT_H_ */
