#include <errno.h>
#include <unistd.h>

#include "jail/out.h"

#define PIECE 65536
#define PIECES 64

void
out_put(struct out *o, const void *p, size_t len)
{
	size_t n = o->kept.max - o->kept.len;

	if (n > len)
		n = len;
	if (buf_put(&o->kept, p, n)) {
		o->kept.spoiled = 0;
		o->kept.max = o->kept.len;
		n = 0;
	}
	o->dropped += len - n;
}

void
out_drain(struct out *o)
{
	char piece[PIECE];
	ssize_t n;
	int i;

	for (i = 0; i < PIECES && o->fd != -1 && !o->over; i++) {
		n = read(o->fd, piece, sizeof(piece));
		if (n > 0)
			out_put(o, piece, (size_t)n);
		else if (n == -1 && errno == EINTR)
			continue;
		else if (n == -1 && errno == EAGAIN)
			break;
		else
			o->over = 1;
	}
}

void
out_free(struct out *o)
{

	buf_free(&o->kept);
}
