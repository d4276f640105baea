#ifndef RUN_HOLD_H_
#define RUN_HOLD_H_

#include <stddef.h>

#include "data/rc.h"
#include "io/upstream.h"
#include "run/env.h"

/*
 * Files that a provider holds: noticed in its reply as that passes by, recorded
 * once it has passed, fetched when somebody wants them.
 */

/* Opaque types. */
struct conf_provider;
struct file;
struct hold;

/**
 * hold_new(p, stream):
 * Return a watch over a reply of ${p}, an event ${stream} or one JSON text; or
 * NULL if memory ran out.
 */
struct hold *hold_new(const struct conf_provider *, int);

/**
 * hold_see(H, p, len):
 * The next ${len} bytes of the reply.  Never fails: what cannot be read is not
 * noticed.
 */
void hold_see(struct hold *, const void *, size_t);

/**
 * hold_record(H, env):
 * Record what was noticed as the caller's, and copy the bytes here at once if
 * the setting files.provider_copy says so.  Failures are logged.
 */
void hold_record(struct hold *, const struct run_env *);

/**
 * hold_free(H):
 * Free ${H}.  NULL is allowed.
 */
void hold_free(struct hold *);

enum hold_rc {
	HOLD_OK,
	HOLD_NONE,  /* The provider has it no longer. */
	HOLD_FAIL,  /* The provider refuses, or cannot be reached. */
	HOLD_BROKE, /* It broke off after the first byte. */
	HOLD_GONE   /* The client has left, or the callback stopped it. */
};

/**
 * hold_fetch(env, f, on_head, on_body, cookie):
 * Fetch the bytes of ${f} from its provider, with its credential: first
 * ${on_head}(${cookie}, length), -1 if it is not told, once the provider has
 * said that it has them; at most files.max_bytes.
 */
enum hold_rc hold_fetch(const struct run_env *, const struct file *,
    int (*)(void *, int64_t), upstream_body_fn *, void *);

/**
 * hold_find(env, id, f):
 * As file_find() for the caller's file ${id}; one whose bytes its provider has
 * is copied here first, for it is to be used somewhere else.  A file that
 * cannot be had from there is DATA_NONE.
 */
enum data_rc hold_find(const struct run_env *, const char *, struct file *);

#endif /* !RUN_HOLD_H_ */
