#ifndef RUN_PICTURE_H_
#define RUN_PICTURE_H_

#include <stdint.h>

#include "run/env.h"

/* Opaque type. */
struct outcome;

#define PICTURE_MAX (1U << 20)  /* A larger one is not held in an answer. */
#define PICTURES_MAX (8U << 20) /* Nor are more in one turn. */

/**
 * picture_load(env, o, left):
 * Say which files of ${o} are images, and fill in the bytes of those of at most
 * PICTURE_MAX, as long as ${left} lasts, which is reduced.  One that cannot be
 * read is left without.
 */
void picture_load(const struct run_env *, struct outcome *, uint64_t *);

#endif /* !RUN_PICTURE_H_ */
