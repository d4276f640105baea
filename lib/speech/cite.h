#ifndef SPEECH_CITE_H_
#define SPEECH_CITE_H_

#include <stddef.h>

#include "speech/text.h"

/*
 * Files that runs wrote, to be cited in the answer's text (executor contract
 * 5.2 and 5.4).
 */

/* Opaque types. */
struct arena;
struct outcome;

struct cited {
	struct cited *next;
	const char *id;   /* As file_id_print() wants it. */
	const char *path; /* Below /mnt/data. */
};

struct cites {
	struct cited *first, **end; /* Begins zeroed. */
};

/* A range of code points. */
struct cite_range {
	size_t start, end;
};

/**
 * cite_add(cs, mem, o):
 * Add the files of ${o}; one that is there already, of the same path, becomes
 * the newer.  Return 0, or -1 if memory ran out.
 */
int cite_add(struct cites *, struct arena *, const struct outcome *);

/**
 * cite_find(x, path, range):
 * Where the text ${x} names the file ${path}: by a Markdown link to it, else by
 * its whole path, else by its name.  Both ends are the text's length if it does
 * not.
 */
void cite_find(struct text, const char *, struct cite_range *);

/**
 * cite_name(path):
 * The last component of ${path}.
 */
const char *cite_name(const char *);

#endif /* !SPEECH_CITE_H_ */
