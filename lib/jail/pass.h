#ifndef JAIL_PASS_H_
#define JAIL_PASS_H_

#include <sys/types.h>

#include <stddef.h>

/* Descriptors that go from one process to another through a unix socket. */

#define PASS_MAX 8 /* In one message. */

/**
 * pass_send(sock, p, len, fds, n):
 * Send the ${len} bytes at ${p} with the ${n} descriptors ${fds}, at least one
 * of each, without waiting.  Return 0, or -1 with errno.
 */
int pass_send(int, const void *, size_t, const int *, size_t);

/**
 * pass_recv(sock, p, size, fds, n, flags):
 * Receive a message of at most ${size} bytes to ${p}, ${flags} being recv()'s.
 * ${fds} become the ${n} descriptors that came with it; if others came than so
 * many, or the message was longer, what came is closed and they become -1.
 * Return as recv() does.
 */
ssize_t pass_recv(int, void *, size_t, int *, size_t, int);

#endif /* !JAIL_PASS_H_ */
