#ifndef JAIL_MANIFEST_H_
#define JAIL_MANIFEST_H_

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#include "jail/frame.h"
#include "jail/walk.h"

/*
 * What a call has made of its workspace, told by content: the caller names the
 * files that it has put there, its inputs, with the SHA-256 of each, and is
 * told what is new, what has other content now, and what is gone.
 */

enum manifest_state { MANIFEST_NEW, MANIFEST_CHANGED, MANIFEST_DELETED };

struct manifest {
	int wanted;
	int root;
	uint64_t budget; /* Bytes that may still be hashed. */
	int truncated;   /* There was more than WALK_ENTRIES to tell. */

	/* manifest.c's own. */
	char **words;
	struct manifest_input *in; /* In the order of their paths. */
	size_t n;
	struct manifest_item *item;
	size_t nitem, room;
	struct buf names;
};

/**
 * manifest_begin(M, root, budget, inputs):
 * Read ${inputs}, words (words.h), three a file: its path, "r" if a program
 * shall only read it or else "w", and its SHA-256; NULL: no manifest is wanted.
 * Make those to be read only so.  At most ${budget} bytes of files are read
 * later on.  REPLY_OK; REPLY_BAD for what makes no sense; another one if an
 * input is not a file of the workspace ${root}.  manifest_free() is due in
 * either case.
 */
enum reply manifest_begin(struct manifest *, int, uint64_t, const char *);

/**
 * manifest_put(M, before, after, since, b):
 * Append a FRAME_FILE with MSG_PATH and MSG_STATE to ${b} for each file that is
 * not as it was, in the order of their paths, and MSG_SIZE and MSG_SHA unless
 * it is gone; MSG_SHA is left out where the budget did not suffice.  An input
 * is judged by its hash alone, other files as walk_diff() does.  Return 0, or
 * -1 with ${b} spoiled or M's memory at its end.
 */
int manifest_put(struct manifest *, const struct walk *, const struct walk *,
    int64_t, struct buf *);

/**
 * manifest_free(M):
 * Free what ${M} holds.
 */
void manifest_free(struct manifest *);

#endif /* !JAIL_MANIFEST_H_ */
