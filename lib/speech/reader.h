#ifndef SPEECH_READER_H_
#define SPEECH_READER_H_

#include <stddef.h>
#include <stdint.h>

#include "base/jspan.h"

#include "speech/problem.h"
#include "speech/text.h"

/*
 * What a dialect's reader carries along: where it is in the caller's JSON, so
 * that a refusal names the position, and the talk it fills in.  Functions that
 * read a value return 0, or -1 after refusing.
 */

/* Opaque types. */
struct refusal;
struct talk;
struct tool;

struct reader {
	struct talk *talk;
	struct tool *tool; /* Being read. */
	struct refusal *why;
	char *system; /* Where the system's text grows... */
	size_t room;  /* ...and how far it can. */
	int brackets; /* Positions as "messages[0].content[1]". */
	char at[160]; /* "messages.0.content.1" */
	size_t len;
};

/**
 * reader_in(rd, key), reader_at(rd, index):
 * Step into a member or an element.  Return what reader_out() wants.
 */
size_t reader_in(struct reader *, const char *);
size_t reader_at(struct reader *, size_t);

/**
 * reader_out(rd, mark):
 * Step out again.
 */
void reader_out(struct reader *, size_t);

/**
 * reader_refuse(rd, fmt, ...):
 * Refuse the value being read: 400, "POSITION: ...".  Returns -1.
 */
int reader_refuse(struct reader *, const char *, ...)
    __attribute__((format(printf, 2, 3)));

/**
 * reader_where(rd):
 * The position in the talk's arena, or NULL.
 */
const char *reader_where(const struct reader *);

/**
 * reader_text(rd, v, x), reader_str(rd, v, s):
 * Read a string; reader_str() one that is neither empty nor holds a NUL.
 */
int reader_text(struct reader *, struct jspan, struct text *);
int reader_str(struct reader *, struct jspan, const char **);

/**
 * reader_member(o, key, v):
 * Set ${v} to the first member ${key} of ${o} and return 1; or return 0 with
 * ${v} as it was if there is none, or if it is null.
 */
int reader_member(struct jspan, const char *, struct jspan *);

/**
 * reader_get_str(rd, o, key, s), reader_get_text(rd, o, key, x):
 * Read the member ${key} of ${o}, which must be there.
 */
int reader_get_str(struct reader *, struct jspan, const char *, const char **);
int reader_get_text(struct reader *, struct jspan, const char *, struct text *);

/**
 * reader_opt_u64(rd, o, key, min, max, x):
 * Read the whole number ${key}; absent leaves ${x} alone.
 */
int reader_opt_u64(struct reader *, struct jspan, const char *, uint64_t,
    uint64_t, uint64_t *);

/**
 * reader_opt_str(rd, o, key, s), reader_opt_bool(rd, o, key, x):
 * Read the member ${key}; absent leaves ${s} or ${x} alone.
 */
int reader_opt_str(struct reader *, struct jspan, const char *, const char **);
int reader_opt_bool(struct reader *, struct jspan, const char *, int *);

/**
 * reader_opt_number(rd, o, key, v):
 * Set ${v} to the number ${key} as it was sent; absent leaves it alone.
 */
int
reader_opt_number(struct reader *, struct jspan, const char *, struct jspan *);

/**
 * reader_no_memory(rd):
 * Refuse for want of memory.  Returns -1.
 */
int reader_no_memory(struct reader *);

/**
 * reader_tool(rd, name):
 * Add the caller's function ${name} and return it; or NULL after refusing a
 * second of that name, or one too many.
 */
struct tool *reader_tool(struct reader *, const char *);

/**
 * reader_stops(rd), reader_stop(rd, v):
 * Make room for the caller's stop texts; and read one of them.
 */
int reader_stops(struct reader *);
int reader_stop(struct reader *, struct jspan);

/**
 * reader_call(rd):
 * Add the call that stands here to what the assistant says and return it; or
 * NULL after refusing one too many for a message.
 */
struct part *reader_call(struct reader *);

/**
 * A function that reads one element.
 */
typedef int reader_fn(struct reader *, struct jspan);

/**
 * reader_each(rd, o, key, fn):
 * Call ${fn} for each element of the array ${key} of ${o}; absent is empty.
 */
int reader_each(struct reader *, struct jspan, const char *, reader_fn *);

#endif /* !SPEECH_READER_H_ */
