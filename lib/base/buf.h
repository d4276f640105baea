#ifndef BASE_BUF_H_
#define BASE_BUF_H_

#include <stddef.h>

/*
 * A byte buffer that grows up to a ceiling given at birth.  Once an append
 * would pass the ceiling, or memory runs out, the buffer is spoiled: nothing
 * more is appended and buf_ok() is 0, so that a run of appends needs one check.
 */
struct buf {
	char *p; /* ${len} bytes and a NUL; NULL while empty. */
	size_t len, cap, max;
	int spoiled;
};

/* An empty buffer that will hold at most ${m} bytes. */
#define BUF_INIT(m)        \
	{                  \
		.max = (m) \
	}

/**
 * buf_put(b, p, len), buf_puts(b, s), buf_printf(b, fmt, ...):
 * Append.  Return 0, or -1 with ${b} spoiled.
 */
int buf_put(struct buf *, const void *, size_t);
int buf_puts(struct buf *, const char *);
int buf_printf(struct buf *, const char *, ...)
    __attribute__((format(printf, 2, 3)));

/**
 * buf_ok(b):
 * Return non-zero if everything appended so far is in ${b}.
 */
int buf_ok(const struct buf *);

/**
 * buf_drop(b, n):
 * Remove the first ${n} bytes, at most all.
 */
void buf_drop(struct buf *, size_t);

/**
 * buf_free(b):
 * Free what ${b} holds and make it empty again, its ceiling kept.
 */
void buf_free(struct buf *);

#endif /* !BASE_BUF_H_ */
