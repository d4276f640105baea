#ifndef SPEECH_STORED_H_
#define SPEECH_STORED_H_

#include <stddef.h>

#include "base/jspan.h"
#include "data/file.h"

/*
 * Stored files that a request of any dialect names, wherever it does: the
 * member "file_id", or the list "file_ids", with an id of the form that only
 * this gateway gives out.
 */

#define STORED_WHERE 160

struct stored {
	char id[FILE_IDMAX + 1];  /* As file_find() wants it. */
	char where[STORED_WHERE]; /* "messages[0].content[1].file_id" */
};

/**
 * stored_find(root, s):
 * Fill in ${s} with the first such name in ${root} (checked by jspan_check()).
 * Return 1, or 0 if there is none.
 */
int stored_find(struct jspan, struct stored *);

#endif /* !SPEECH_STORED_H_ */
