#ifndef FCGI_POOL_H_
#define FCGI_POOL_H_

#include <stddef.h>
#include <stdint.h>

/*
 * A parent that keeps a number of like children.  It holds no threads and no
 * connections, so whatever kills a child leaves the parent to replace it: at
 * once if the child had lived for a while, with a growing pause if it had not.
 *
 * A reload starts as many new children and only then tells the old ones to end.
 * While there are not POOL_MAX free slots for them it waits, and those that end
 * make room: each has a time for it, after which it is killed.  If another
 * program is installed in our place (upgrade.h), a reload becomes that one,
 * which then does the same.
 */

#define POOL_MAX 64    /* Children at most... */
#define POOL_SLOTS 192 /* ...and, with those of before a reload, at once. */

struct prefork {
	size_t processes; /* 1 to POOL_MAX. */
	uint64_t drain_s; /* To finish in once told to, seconds; not 0. */

	/* In the child, given its number below POOL_SLOTS; what it returns is
	 * the exit status.  SIGTERM must make it finish and return. */
	int (*child)(void *, size_t);

	/* In the parent: that child is gone.  May be NULL. */
	void (*gone)(void *, size_t);

	/* In the parent, at SIGHUP: return 0 to have all children replaced,
	 * -1 to go on as before.  May change processes and drain_s.  May be
	 * NULL. */
	int (*reload)(struct prefork *, void *);

	/* In the parent, before the children are told to end.  May be NULL. */
	void (*stop)(void *);

	/* An installed program that takes our place is to have this. */
	int listenfd;

	void *cookie;
};

/**
 * pool_run(p):
 * Keep ${p}'s children until SIGTERM or SIGINT, pass SIGTERM on, wait until all
 * have gone and return 0.  Return -1, after logging why, if it cannot start.
 */
int pool_run(struct prefork *);

#endif /* !FCGI_POOL_H_ */
