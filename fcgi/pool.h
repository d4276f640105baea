#ifndef FCGI_POOL_H_
#define FCGI_POOL_H_

#include <stddef.h>

/*
 * A parent that keeps a number of like children.  It holds no threads and no
 * connections, so whatever kills a child leaves the parent to replace it: at
 * once if the child had lived for a while, with a growing pause if it had not.
 */

#define POOL_MAX 64    /* Children at most... */
#define POOL_SLOTS 192 /* ...and, with those of before a reload, at once. */

struct prefork {
	size_t processes; /* 1 to POOL_MAX. */

	/* In the child, given its number below POOL_SLOTS; what it returns is
	 * the exit status.  SIGTERM must make it finish and return. */
	int (*child)(void *, size_t);

	/* In the parent: that child is gone.  May be NULL. */
	void (*gone)(void *, size_t);

	/* In the parent, at SIGHUP: return 0 to have all children replaced,
	 * -1 to go on as before.  May change processes.  May be NULL. */
	int (*reload)(struct prefork *, void *);

	/* In the parent, before the children are told to end.  May be NULL. */
	void (*stop)(void *);

	void *cookie;
};

/**
 * pool_run(p):
 * Keep ${p}'s children until SIGTERM or SIGINT, pass SIGTERM on, wait until all
 * have gone and return 0.  Return -1, after logging why, if it cannot start.
 */
int pool_run(struct prefork *);

#endif /* !FCGI_POOL_H_ */
