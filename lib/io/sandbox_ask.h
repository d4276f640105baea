#ifndef IO_SANDBOX_ASK_H_
#define IO_SANDBOX_ASK_H_

#include "base/buf.h"

#include "io/sandbox_client.h"

/* Inside the sandbox client: one request, and the reading of its answer. */

#define SANDBOX_LABEL "sandbox"
#define SANDBOX_ANSWER_MAX 16777216 /* Two escaped MiB and names. */
#define SANDBOX_PATH_MAX 4096
#define SANDBOX_PATHS 10000
#define SANDBOX_GRACE_MS 10000 /* Waited beyond what a run may take. */

/* One request and what becomes of its answer. */
struct ask {
	const struct sandbox *s;
	struct upstream_call call;
	struct buf path;
	int status;

	/* A good answer goes to the sink if there is one, else here. */
	upstream_body_fn *sink;
	void *cookie;
	struct buf body;
};

/**
 * ask_session(s, method, id, rest, path):
 * Begin a request about the session ${id}: to /sessions/ID${rest}, with ?path=
 * unless ${path} is NULL.  ask_free() ends it.
 */
struct ask ask_session(const struct sandbox *, const char *, const char *,
    const char *, const char *);

/**
 * ask_health(s):
 * Begin the request for the sandbox's health.
 */
struct ask ask_health(const struct sandbox *);

/**
 * ask(a, type):
 * Send ${a}, with the header line ${type} unless that is NULL, and take the
 * answer.  What a refusal says is in its body, too.
 */
enum sandbox_rc ask(struct ask *, const char *);

/**
 * ask_free(a):
 * Free what ${a} holds.
 */
void ask_free(struct ask *);

/**
 * answer_root(a, root):
 * Check the JSON answer and find its root.  Return 0, or -1 after logging.
 */
int answer_root(const struct ask *, struct jspan *);

/**
 * answer_str(mem, v, max):
 * The string ${v} in ${mem}; NULL if it is none, is empty, too long, or holds a
 * NUL.
 */
char *answer_str(struct arena *, struct jspan, size_t);

/**
 * answer_int(o, key, otherwise):
 * The whole number under ${key}, or ${otherwise}.
 */
long long answer_int(struct jspan, const char *, long long);

/**
 * answer_result(a, mem, max, res):
 * Read the answer to an execution into ${res}; see sandbox_exec().
 */
enum sandbox_rc answer_result(
    const struct ask *, struct arena *, size_t, struct sandbox_result *);

#endif /* !IO_SANDBOX_ASK_H_ */
