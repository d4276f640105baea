#ifndef JAIL_META_H_
#define JAIL_META_H_

#include <stdint.h>

/* The file "meta" of a session's directory: its supervisor and its times. */

struct meta {
	uint64_t pid;        /* Of the supervisor, as its host sees it, */
	uint64_t start;      /* which began then (clock ticks since boot). */
	uint64_t created_ms; /* Unix time. */
	uint64_t idle_s, lifetime_s;
};

/**
 * meta_write(dir, m), meta_read(dir, m):
 * Write the file in the directory ${dir}, at one stroke if there is one; read
 * it.  Return 0, or -1 with errno, also if it is not what meta_write() writes.
 */
int meta_write(int, const struct meta *);
int meta_read(int, struct meta *);

/**
 * meta_of(pid, start):
 * Set ${start} to when the process ${pid} began.  Return 0 or -1.
 */
int meta_of(uint64_t, uint64_t *);

#endif /* !JAIL_META_H_ */
