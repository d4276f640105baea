#ifndef JAIL_OUT_H_
#define JAIL_OUT_H_

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* What a call prints: its beginning is kept, and the rest counted. */
struct out {
	struct buf kept;
	uint64_t dropped; /* Bytes. */
	size_t told;      /* Bytes kept that the worker has been told. */
	int fd;           /* The pipe it comes from, not ours; or -1. */
	int over;         /* Nothing will come any more. */
};

/* An output stream of which LIMIT_OUTPUT bytes are kept. */
#define OUT_INIT                                         \
	{                                                \
		.kept = BUF_INIT(LIMIT_OUTPUT), .fd = -1 \
	}

/**
 * out_put(o, p, len):
 * Keep as much of the ${len} bytes at ${p} as there is room for.  Running out
 * of memory counts as running out of room.
 */
void out_put(struct out *, const void *, size_t);

/**
 * out_drain(o):
 * Take what is in the pipe now, without waiting.  Returns after some 4 MiB even
 * if there is more.
 */
void out_drain(struct out *);

/**
 * out_free(o):
 * Free what is kept.
 */
void out_free(struct out *);

#endif /* !JAIL_OUT_H_ */
