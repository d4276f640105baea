#ifndef JAIL_LIMITS_H_
#define JAIL_LIMITS_H_

#include <stddef.h>
#include <stdint.h>

#include "base/conf.h"

#define LIMITS_PATH 256

/* What a session may use, and what keeps it apart. */
struct limits {
	uint64_t memory;     /* Bytes, of all its processes together. */
	uint64_t workspace;  /* Bytes of files. */
	uint64_t processes;  /* Threads count too, as do the supervisor's. */
	uint64_t watches;    /* Descriptors in epolls. */
	uint64_t idle_s;     /* It ends when unused for so long, */
	uint64_t lifetime_s; /* and this long after it began. */
	uint64_t cpu_s;      /* CPU time of one call; 0 = no limit. */
	uint64_t address; /* Bytes of addresses of a process; 0 = by memory. */
	uint64_t isolation;       /* enum isolation */
	char rootfs[LIMITS_PATH]; /* Whose /usr it sees; "" = the machine's. */
	char cgroup[LIMITS_PATH]; /* Where its group is made. */
};

/* What no setting changes. */
#define LIMIT_TMP (64ULL << 20) /* Bytes of /tmp, */
#define LIMIT_SHM (16ULL << 20) /* of /dev/shm, */
#define LIMIT_OUTPUT (1U << 20) /* and kept of each output stream. */
#define LIMIT_FDS 256
#define LIMIT_SIGNALS 1024 /* That wait for processes, timers included. */

#define LIMITS_WORDS 11
#define LIMITS_WORD (LIMITS_PATH + 16) /* Room for one of them. */

/**
 * limits_of(c, l):
 * Set ${l} to what the settings ${c} say of every session.
 */
void limits_of(const struct conf *, struct limits *);

/**
 * limits_isolation(l):
 * The word for what keeps a session apart.
 */
const char *limits_isolation(const struct limits *);

/**
 * limits_looked_at(l):
 * What the kernel does not hold to its limit at this level, so that the
 * supervisor looks at it and ends who has passed it; "" if nothing.
 */
const char *limits_looked_at(const struct limits *);

/**
 * limits_write(l, words):
 * Write ${l} as words for a command line.
 */
void limits_write(const struct limits *, char[LIMITS_WORDS][LIMITS_WORD]);

/**
 * limits_read(words, n, l):
 * Read the ${n} words at ${words} that limits_write() wrote.  Return 0, or -1
 * unless each limit is there exactly once.
 */
int limits_read(char *const *, size_t, struct limits *);

/**
 * limits_inodes(l):
 * How many files and directories a workspace may hold.
 */
uint64_t limits_inodes(const struct limits *);

/**
 * limits_loaded():
 * The bytes of memory that the calling process may write to so far.
 */
uint64_t limits_loaded(void);

/**
 * limits_alike(a, b):
 * Does limits_apply() make no difference between ${a} and ${b}?
 */
int limits_alike(const struct limits *, const struct limits *);

/**
 * limits_supervisor():
 * Put the calling supervisor under those limits that bound what its guests can
 * have wait for it.  Return 0 or -1 with errno.
 */
int limits_supervisor(void);

/**
 * limits_apply(l, loaded):
 * Put the calling process, which is about to run a caller's code, under ${l}.
 * ${loaded} bytes of its memory are not the caller's.  Return 0 or -1 with
 * errno.
 */
int limits_apply(const struct limits *, uint64_t);

#endif /* !JAIL_LIMITS_H_ */
