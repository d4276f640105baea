#ifndef FCGI_LC_REFS_H_
#define FCGI_LC_REFS_H_

#include <stddef.h>

#include <json.h>

#include "run/exec.h"

/* The files that a run for LibreChat mounts. */

/* Opaque type. */
struct req;

#define LC_REFS_MAX 256

/* Where a program finds the answers of its tools; no input may be called so. */
#define LC_RESERVED "_ptc_history.json"

/**
 * lc_refs(r, o, reserved, input, n):
 * Resolve the member "files" of ${o} for the caller, who has been identified,
 * into the ${n} inputs ${input} in r->mem, using each of their sessions.  With
 * ${reserved} an input may not be called LC_RESERVED.  Return 0, or -1 after
 * answering: 400 for what makes no sense, 403 for what is not there or not the
 * caller's.
 */
int lc_refs(struct req *, json_object *, int, struct exec_input **, size_t *);

#endif /* !FCGI_LC_REFS_H_ */
