#include <sys/socket.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"

#include "jail/script.h"

#define SOURCES_MAX 65536

int
script_send(
    int sock, const char *const *sources, char first[static SCRIPT_FIRST])
{
	struct buf b = BUF_INIT(SOURCES_MAX);
	int rc = -1;
	size_t i;

	for (i = 0; sources[i] != NULL; i++)
		(void)buf_put(&b, sources[i],
		    strlen(sources[i]) + (sources[i + 1] != NULL));
	errno = ENOMEM;
	if (buf_ok(&b) &&
	    send(sock, b.p, b.len, MSG_NOSIGNAL) == (ssize_t)b.len) {
		(void)snprintf(first, SCRIPT_FIRST,
		    "import os; sources = os.read(3, %zu).split(b'\\0');"
		    " exec(sources[0]); serve()",
		    b.len);
		rc = 0;
	}
	buf_free(&b);
	return (rc);
}
