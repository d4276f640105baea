#ifndef SPEECH_HELD_H_
#define SPEECH_HELD_H_

#include "base/jspan.h"

/*
 * The files that a provider's own code execution wrote, as its reply names
 * them: Anthropic's "..._code_execution_output" blocks, OpenAI's
 * "container_file_citation" annotations, wherever they stand.
 */

struct held {
	struct jspan id;        /* A string. */
	struct jspan name;      /* A string; else not said. */
	struct jspan container; /* Likewise. */
};

/**
 * Take one.  Return 0 to go on.
 */
typedef int held_fn(void *, const struct held *);

/**
 * held_may(p, len):
 * May the ${len} bytes at ${p} name such a file?  A look at their bytes only.
 */
int held_may(const char *, size_t);

/**
 * held_each(root, fn, cookie):
 * Call ${fn}(${cookie}, ...) for each of them in ${root} (checked by
 * jspan_check()).  Return 0, or what ${fn} returned to stop.
 */
int held_each(struct jspan, held_fn *, void *);

#endif /* !SPEECH_HELD_H_ */
