#ifndef JAIL_OUT_H_
#define JAIL_OUT_H_

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/*
 * What a call prints: its first half of what is allowed is kept, and the last
 * of what comes after that.
 */
struct out {
	struct buf kept;  /* The beginning. */
	struct buf last;  /* The end; more than ${half} until out_end(). */
	size_t half;      /* Bytes that are to be kept of each. */
	uint64_t dropped; /* Bytes between them. */
	size_t told;      /* Bytes of the beginning that the worker was told. */
	int fd;           /* The pipe it comes from, not ours; or -1. */
	int over;         /* Nothing will come any more. */
};

/* An output stream of which LIMIT_OUTPUT bytes are kept. */
/* clang-format off */
#define OUT_INIT							\
	{								\
		.kept = BUF_INIT(LIMIT_OUTPUT / 2),			\
		.last = BUF_INIT(2 * LIMIT_OUTPUT),			\
		.half = LIMIT_OUTPUT / 2,				\
		.fd = -1						\
	}
/* clang-format on */

/**
 * out_limit(o, max):
 * Keep ${max} bytes, at most LIMIT_OUTPUT, of ${o}, which has none yet.
 */
void out_limit(struct out *, size_t);

/**
 * out_put(o, p, len):
 * Take the ${len} bytes at ${p}.  What there is no memory for is dropped.
 */
void out_put(struct out *, const void *, size_t);

/**
 * out_end(o):
 * No more will come: keep no more than is allowed.
 */
void out_end(struct out *);

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
