#ifndef JAIL_EDITOR_H_
#define JAIL_EDITOR_H_

#include <stddef.h>

#include "jail/frame.h"
#include "jail/out.h"

/* The text editor tool, on the files of a workspace. */

#define EDITOR_FILE_MAX (4U << 20) /* Bytes of a file that can be edited. */
#define EDITOR_UNDO_MAX (8U << 20) /* Bytes of former contents kept. */
#define EDITOR_UNDO_STATES 32

/* Former contents, the latest last. */
struct editor {
	struct {
		char *path;
		char *text;
		size_t len;
	} undo[EDITOR_UNDO_STATES];
	size_t n, bytes;
};

/* What a command has done, in numbers. */
enum edited_kind {
	EDITED_NOTHING, /* It failed, or says no more. */
	EDITED_VIEW,
	EDITED_DIRECTORY,
	EDITED_CREATE,
	EDITED_CHANGE
};

struct edited {
	enum edited_kind kind;
	enum reply why; /* Of a failure; REPLY_BAD for what made no sense. */
	uint64_t start, lines, total; /* VIEW: of the file.  CHANGE: old. */
	uint64_t new_start, new_lines;
	int update;      /* CREATE: it was there before. */
	struct buf diff; /* CHANGE: the old lines, each behind a '-', and the
			  * new, behind a '+'; empty if that is too long. */
};

#define EDITED_DIFF_MAX (1U << 20)
#define EDITED_INIT                               \
	{                                         \
		.diff = BUF_INIT(EDITED_DIFF_MAX) \
	}

/**
 * editor_known(command):
 * Is there a command of that name?
 */
int editor_known(const char *);

/**
 * editor_run(E, root, m, out, err, did):
 * Do what the message ${m} says (MSG_EDIT, MSG_PATH and what the command
 * needs) in the workspace ${root}, and print what it says to ${out}, or why it
 * could not to ${err}; ${did} says the same in numbers, its diff to be freed.
 * Return 0 or 1.
 */
int editor_run(struct editor *, int, const struct msg *, struct out *,
    struct out *, struct edited *);

/**
 * editor_free(E):
 * Forget the former contents.
 */
void editor_free(struct editor *);

#endif /* !JAIL_EDITOR_H_ */
