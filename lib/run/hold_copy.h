#ifndef RUN_HOLD_COPY_H_
#define RUN_HOLD_COPY_H_

#include "run/env.h"

/**
 * hold_copy(env, id):
 * Copy the bytes of the caller's file ${id}, which its provider holds, to the
 * store.  A failure is logged and leaves them where they are.
 */
void hold_copy(const struct run_env *, const char *);

#endif /* !RUN_HOLD_COPY_H_ */
