#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "jail/out.h"

#define PIECE 65536
#define PIECES 64

void
out_limit(struct out *o, size_t max)
{

	o->half = max / 2;
	o->kept.max = max - max / 2;
}

void
out_end(struct out *o)
{
	const size_t more = o->last.len > o->half ? o->last.len - o->half : 0;

	if (more == 0)
		return;
	o->dropped += more;
	o->last.len = o->half;
	memmove(o->last.p, o->last.p + more, o->half);
}

void
out_put(struct out *o, const void *p, size_t len)
{
	const char *text = p;
	size_t n = o->kept.max - o->kept.len;

	if (n > len)
		n = len;
	if (buf_put(&o->kept, text, n)) {
		o->kept.spoiled = 0;
		o->kept.max = o->kept.len;
		n = 0;
	}
	for (text += n, len -= n; len > 0; text += n, len -= n) {
		n = len < PIECE ? len : PIECE;
		/* It is moved once for many bytes, not for each. */
		if (o->last.len + n > 2 * o->half + PIECE)
			out_end(o);
		if (buf_put(&o->last, text, n)) {
			o->last.spoiled = 0;
			o->dropped += n;
		}
	}
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
	buf_free(&o->last);
}
