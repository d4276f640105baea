#ifndef RUN_HOLD_COPY_H_
#define RUN_HOLD_COPY_H_

#include <stdint.h>

#include "run/env.h"

/* What the files of a provider's that are held there have in common. */

/* Opaque types. */
struct ask_head;
struct conf_provider;
struct file_held;

#define HOLD_PATH_SIZE 512

/**
 * hold_path(h, what, path):
 * Write the path of ${what} ("" or "/content") of ${h} at its provider.  Return
 * 0, or -1 if it is too long.
 */
int
hold_path(const struct file_held *, const char *, char[static HOLD_PATH_SIZE]);

/**
 * hold_head(head, h):
 * Add the header that asking for ${h} needs.  Return as ask_head_add().
 */
int hold_head(struct ask_head *, const struct file_held *);

/**
 * hold_name(env, p, h, row):
 * Ask the provider ${p} for the name and the type of ${h}, recorded as ${row},
 * whose reply named it by its id alone, and note them.  A failure is logged.
 */
void hold_name(const struct run_env *, const struct conf_provider *,
    const struct file_held *, uint64_t);

/**
 * hold_copy(env, id):
 * Copy the bytes of the caller's file ${id}, which its provider holds, to the
 * store.  A failure is logged and leaves them where they are.
 */
void hold_copy(const struct run_env *, const char *);

#endif /* !RUN_HOLD_COPY_H_ */
