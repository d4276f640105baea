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

/**
 * editor_known(command):
 * Is there a command of that name?
 */
int editor_known(const char *);

/**
 * editor_run(E, root, m, out, err):
 * Do what the message ${m} says (MSG_EDIT, MSG_PATH and what the command
 * needs) in the workspace ${root}, and print what it says to ${out}, or why it
 * could not to ${err}.  Return 0 or 1.
 */
int editor_run(
    struct editor *, int, const struct msg *, struct out *, struct out *);

/**
 * editor_free(E):
 * Forget the former contents.
 */
void editor_free(struct editor *);

#endif /* !JAIL_EDITOR_H_ */
