#ifndef HTTP_SSE_H_
#define HTTP_SSE_H_

#include <stddef.h>

/*
 * Event streams.  The reader takes what servers really send: LF, CRLF or CR, a
 * byte-order mark, comments, several data lines, "data:" with or without a
 * space, a last event without its blank line.
 */

#define SSE_EVENT_MAX (8U << 20) /* Bytes of an event, its longest line too. */

/* Opaque types. */
struct buf;
struct sse;

enum sse_rc {
	SSE_EVENT, /* There is an event. */
	SSE_MORE,  /* None yet (or, at the end, none left). */
	SSE_TOO_BIG,
	SSE_MEMORY
};

/* An event; valid until the next call with the same reader. */
struct sse_event {
	const char *name; /* "" if it has no event line. */
	const char *data; /* Lines joined by LF, and a NUL after ${len}. */
	size_t len;
};

/**
 * sse_new():
 * Return a reader at the beginning of a stream, or NULL.
 */
struct sse *sse_new(void);

/**
 * sse_next(S, p, len, ev):
 * Read from the *${len} bytes at *${p}, move both past what was used, and stop
 * at the first whole event.  Call again with the rest until SSE_MORE.  An event
 * without data is none.  After SSE_TOO_BIG or SSE_MEMORY only sse_free() may
 * follow.
 */
enum sse_rc sse_next(struct sse *, const char **, size_t *, struct sse_event *);

/**
 * sse_end(S, ev):
 * The stream is over: SSE_EVENT if a last event lacked its blank line, else
 * SSE_MORE.
 */
enum sse_rc sse_end(struct sse *, struct sse_event *);

/**
 * sse_free(S):
 * Free ${S}.  NULL is allowed.
 */
void sse_free(struct sse *);

/**
 * sse_put(b, name, data, len):
 * Append an event with the ${len} bytes at ${data}, one data line a line, under
 * ${name} unless that is NULL.  Return 0, or -1 with ${b} spoiled.
 */
int sse_put(struct buf *, const char *, const char *, size_t);

/**
 * sse_comment(b, text):
 * Append a comment line of ${text}, which must have no line end, and a blank
 * line.  Return 0 or -1.
 */
int sse_comment(struct buf *, const char *);

#endif /* !HTTP_SSE_H_ */
