#ifndef JAIL_PROC_H_
#define JAIL_PROC_H_

#include <sys/types.h>

#include <stddef.h>
#include <stdint.h>

#include "jail/guest.h"

/* What the supervisor reads in /proc. */

/* A number that could not be had: it is above every limit. */
#define PROC_BLIND UINT64_MAX

/**
 * proc_gone():
 * Does errno say of a process, after a look at it, that it is not there?
 */
int proc_gone(void);

/**
 * proc_read(dir, name, text, size):
 * Read the beginning of the file ${name} of ${dir} as a string.  Return its
 * length, 0 if what it is about has gone, or -1 with errno.
 */
ssize_t proc_read(int, const char *, char *, size_t);

/**
 * proc_walk(dir, path, least, fn, cookie):
 * Call ${fn}(${cookie}, fd, n) for each entry of the directory ${path} of
 * ${dir} that is a number ${n} of at least ${least}, ${fd} being the directory.
 * Return 0, also if it has gone, or -1 with errno.
 */
int proc_walk(int, const char *, uint64_t, guests_fn *, void *);

/**
 * proc_line(text, name):
 * The number of KiB that the line ${name} of ${text} gives, in bytes; 0 if
 * there is none.
 */
uint64_t proc_line(const char *, const char *);

/**
 * proc_alive(proc, pid, text, size, tid):
 * Set ${tid} to a thread of the process ${pid} that has memory, and ${text} to
 * what its file status says: the first thread may have ended before the others.
 * Return 1, 0 if there is none, or -1 if that cannot be told.
 */
int proc_alive(int, pid_t, char *, size_t, pid_t *);

/**
 * proc_sum(a, b):
 * The sum, which is PROC_BLIND if one of them is or if it is too large.
 */
uint64_t proc_sum(uint64_t, uint64_t);

#endif /* !JAIL_PROC_H_ */
