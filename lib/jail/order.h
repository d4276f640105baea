#ifndef JAIL_ORDER_H_
#define JAIL_ORDER_H_

#include "jail/limits.h"

/*
 * What the keeper sends its zygote (zygote.h): a packet for each session that
 * is asked for, with the words of limits_write(), a line each, and three
 * descriptors.
 */

enum order_fd { ORDER_REPORT, ORDER_LOCK, ORDER_SOCKET, ORDER_FDS };

struct order {
	struct limits lim;
	int fd[ORDER_FDS];
};

enum order_rc {
	ORDER_OK,
	ORDER_BAD, /* It makes no sense. */
	ORDER_GONE /* There will be no more. */
};

/**
 * order_send(sock, l, fds):
 * Ask for a session with the limits ${l}.  Return 0, or -1 with errno.
 */
int order_send(int, const struct limits *, const int[static ORDER_FDS]);

/**
 * order_next(sock, o):
 * Wait for the next order and fill in ${o}.  With ORDER_BAD it may have been
 * without descriptors, which are -1 then.  order_drop() is due unless the
 * answer is ORDER_GONE.
 */
enum order_rc order_next(int, struct order *);

/**
 * order_drop(o):
 * Close the descriptors of ${o}.
 */
void order_drop(struct order *);

#endif /* !JAIL_ORDER_H_ */
