#ifndef IO_SANDBOX_CLIENT_H_
#define IO_SANDBOX_CLIENT_H_

#include <stddef.h>
#include <stdint.h>

#include "base/jspan.h"

#include "io/upstream.h"

/*
 * The code-execution protocol, version 1, from its client's side (sandbox
 * protocol contract, sections 1 and 2).  Every call ends early when the
 * caller's own client leaves; dropping an execution kills what it started.
 */

/* Opaque type. */
struct arena;

#define SANDBOX_IDMAX 128

enum sandbox_rc {
	SANDBOX_OK,
	SANDBOX_NONE,    /* No such session, file or directory. */
	SANDBOX_BAD,     /* Refused as malformed, or outside the workspace. */
	SANDBOX_BUSY,    /* No capacity. */
	SANDBOX_TOO_BIG, /* Over the sandbox's cap, or over the given one. */
	SANDBOX_GONE,    /* Our own client has gone. */
	SANDBOX_STOPPED, /* The sink said so. */
	SANDBOX_SLOW,    /* No answer in time. */
	SANDBOX_DOWN     /* Away, or not speaking the protocol; logged. */
};

/* Which sandbox, and for whom we ask. */
struct sandbox {
	const char *url;           /* "http://HOST:PORT" or "unix:PATH" */
	const char *token;         /* Bearer credential, or NULL. */
	int gone_fd;               /* See struct upstream_call... */
	upstream_wait_fn *on_wait; /* ...and this too. */
	void *wait_cookie;
};

/* What a call printed and wrote.  Lives in the arena given. */
struct sandbox_result {
	const char *out, *err; /* UTF-8, NUL-terminated, may hold NULs. */
	size_t outlen, errlen;
	int return_code;
	uint64_t ms;        /* How long it ran, as the sandbox or we saw it. */
	const char **paths; /* Files new or changed; for sandbox_get(). */
	size_t npaths;
	int truncated; /* There were more. */
};

/* One entry of a directory. */
struct sandbox_entry {
	const char *path;
	uint64_t bytes;
};

/**
 * sandbox_health(s):
 * Ask whether the sandbox is there.
 */
enum sandbox_rc sandbox_health(const struct sandbox *);

/**
 * sandbox_create(s, idle_s, lifetime_s, id):
 * Start a session that is reclaimed after ${idle_s} seconds unused and
 * ${lifetime_s} in all, and write its id.
 */
enum sandbox_rc sandbox_create(
    const struct sandbox *, uint64_t, uint64_t, char[static SANDBOX_IDMAX + 1]);

/**
 * sandbox_exec(s, mem, id, tool, input, timeout_s, max, res):
 * Run ${tool} with ${input}, a JSON object, for at most ${timeout_s} seconds,
 * and fill in ${res}, each stream cut at ${max} bytes on a character's end.  A
 * failing program is SANDBOX_OK.
 */
enum sandbox_rc
sandbox_exec(const struct sandbox *, struct arena *, const char *, const char *,
    struct jspan, uint64_t, size_t, struct sandbox_result *);

/**
 * sandbox_put(s, id, path, read, cookie, len):
 * Write the ${len} bytes that ${read}(${cookie}, ...) gives to the file
 * ${path}.
 */
enum sandbox_rc sandbox_put(const struct sandbox *, const char *, const char *,
    upstream_read_fn *, void *, uint64_t);

/**
 * sandbox_get(s, id, path, max, sink, cookie):
 * Give the bytes of ${path}, at most ${max}, to ${sink}(${cookie}, ...) as they
 * come.  Only after SANDBOX_OK has the sink had the whole file.
 */
enum sandbox_rc sandbox_get(const struct sandbox *, const char *, const char *,
    uint64_t, upstream_body_fn *, void *);

/**
 * sandbox_list(s, mem, id, path, entries, n):
 * List the files of the directory ${path} into ${mem}.
 */
enum sandbox_rc sandbox_list(const struct sandbox *, struct arena *,
    const char *, const char *, struct sandbox_entry **, size_t *);

/**
 * sandbox_destroy(s, id):
 * End a session.  Does not watch the client: it is also the way to clean up
 * after one who left.  A session that is gone already is SANDBOX_OK.
 */
enum sandbox_rc sandbox_destroy(const struct sandbox *, const char *);

#endif /* !IO_SANDBOX_CLIENT_H_ */
