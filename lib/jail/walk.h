#ifndef JAIL_WALK_H_
#define JAIL_WALK_H_

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/buf.h"

/*
 * What a workspace holds, and what a call has changed in it.  A walk follows no
 * link, leaves out what ws_skipped() says, and is bounded: a guest can put any
 * number of names anywhere.
 */

#define WALK_DEPTH 10
#define WALK_ENTRIES 10000

struct walk_entry {
	const char *path; /* Relative to where the walk began. */
	uint64_t bytes;
	int64_t mtime, ctime; /* Nanoseconds, or the last or first there is. */
	int64_t seconds;      /* The former, as it is, */
	uint64_t ms;          /* and as walk_ms() has it. */
	uint64_t inode;
	int dir;
};

struct walk {
	struct walk_entry *e; /* In the order of strcmp() on their paths. */
	size_t n;
	int truncated; /* There is more than the bounds allow. */

	/* walk.c's own. */
	struct buf names;
	size_t room, seen;
	int want_dirs;
};

/**
 * walk_take(dir, depth, dirs, w):
 * Fill in ${w} with the regular files at most ${depth} levels below the
 * directory ${dir}, and with the directories too if ${dirs} is not 0.  Return
 * 0; or -1, with ${w} empty, if memory ran out or ${dir} cannot be read.
 */
int walk_take(int, unsigned int, int, struct walk *);

/**
 * walk_diff(before, after, since, fn, cookie):
 * Call ${fn}(${cookie}, was, is) for each path that is new (${was} is NULL), is
 * another file or has other content (neither is), or is gone (${is} is NULL),
 * in the order of the paths, until it returns other than 0.  ${since} (ns, the
 * wall clock) is when ${before} was taken: it decides where ${before} is
 * truncated.  Where ${after} is, what is gone may still be there.  Return what
 * ${fn} returned last.
 */
typedef int
walk_diff_fn(void *, const struct walk_entry *, const struct walk_entry *);
int walk_diff(
    const struct walk *, const struct walk *, int64_t, walk_diff_fn *, void *);

/**
 * walk_ms(t):
 * The Unix time ${t} in milliseconds: from 1970 to 9999, the nearest that is.
 */
uint64_t walk_ms(const struct timespec *);

/**
 * walk_free(w):
 * Free what ${w} holds and make it empty.
 */
void walk_free(struct walk *);

#endif /* !JAIL_WALK_H_ */
