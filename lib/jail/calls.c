#include "jail/calls.h"

#define HEAD 4

static size_t
length_at(const struct buf *b, size_t at)
{
	const unsigned char *p = (const unsigned char *)b->p + at;

	return ((size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 |
	    (size_t)p[3]);
}

/* Look at what has come behind the last whole call. */
static void
look(struct calls *C)
{
	size_t len;

	while (C->raw.len - C->whole >= HEAD) {
		len = length_at(&C->raw, C->whole);
		if (len == 0) {
			C->complete = 1;
			return;
		}
		if (len > CALLS_ONE_MAX) {
			C->broken = "a call is longer than 1 MiB";
			return;
		}
		if (C->raw.len - C->whole - HEAD < len)
			return;
		if (C->count == CALLS_COUNT) {
			C->broken = "there are more than 1000 calls";
			return;
		}
		C->whole += HEAD + len;
		C->count++;
	}
}

int
calls_feed(struct calls *C, const void *p, size_t len)
{

	if (!C->complete && C->broken == NULL) {
		if (buf_put(&C->raw, p, len))
			C->broken = "the calls are longer than 10 MiB";
		else
			look(C);
	}
	return (C->complete || C->broken != NULL);
}

void
calls_end(struct calls *C)
{

	if (!C->complete && C->broken == NULL && C->whole < C->raw.len)
		C->broken = "the last call is not whole";
}

const char *
calls_next(const struct calls *C, size_t *at, size_t *len)
{
	const char *p;

	if (*at >= C->whole)
		return (NULL);
	*len = length_at(&C->raw, *at);
	p = C->raw.p + *at + HEAD;
	*at += HEAD + *len;
	return (p);
}

void
calls_free(struct calls *C)
{

	buf_free(&C->raw);
}
