#ifndef RUN_HERE_H_
#define RUN_HERE_H_

#include <stddef.h>
#include <stdint.h>

#include "io/sandbox_client.h"

/* Opaque type. */
struct conf;

/* What code finds in the sandbox, as far as that is known. */
struct here {
	int only; /* No /mnt/data, but only the directory in which it begins. */
	char packages[SANDBOX_PACKAGES]; /* "numpy, pandas"; "": not told. */
};

#define HERE_FACTS (SANDBOX_PACKAGES + 256)

/**
 * here_look(c, h):
 * Fill in ${h} for the sandbox of the settings ${c}.  It is asked once a
 * minute.
 */
void here_look(const struct conf *, struct here *);

/**
 * here_say(h, timeout_s, text):
 * Write to ${text} what a model is told of it, where one call may take
 * ${timeout_s} seconds.
 */
void here_say(const struct here *, uint64_t, char[static HERE_FACTS]);

#endif /* !RUN_HERE_H_ */
