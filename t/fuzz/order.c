/* Orders of the keeper from any bytes and any number of descriptors: limits of
 * a session, which are the same when they are sent again, or nothing; and
 * nothing stays open. */

#include <sys/socket.h>

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jail/order.h"
#include "jail/pass.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

/* The number that the next descriptor will have. */
static int
next_free(void)
{
	int fd = dup(0);

	(void)close(fd);
	return (fd);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const int fds[PASS_MAX] = {0};
	struct order o, again;
	int sv[2], before, rc;
	enum order_rc got;

	if (len < 2 || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sv))
		return (0);
	if (data[0] % (PASS_MAX + 1) == 0)
		rc = send(sv[0], data + 1, len - 1, 0) == -1 ? -1 : 0;
	else
		rc = pass_send(
		    sv[0], data + 1, len - 1, fds, data[0] % (PASS_MAX + 1));
	before = next_free();
	if (rc == 0) {
		got = order_next(sv[1], &o);
		if (got == ORDER_GONE)
			abort();
		if (got == ORDER_OK) {
			memset(&again, 0, sizeof(again));
			if (order_send(sv[0], &o.lim, fds) ||
			    order_next(sv[1], &again) != ORDER_OK ||
			    memcmp(&again.lim, &o.lim, sizeof(o.lim)) != 0)
				abort();
			order_drop(&again);
		}
		order_drop(&o);
		if (next_free() != before)
			abort();
	}
	(void)close(sv[0]);
	(void)close(sv[1]);
	return (0);
}
