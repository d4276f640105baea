#ifndef TOOLS_ADMIN_WALK_H_
#define TOOLS_ADMIN_WALK_H_

#include <stddef.h>

#include <json.h>

#include "base/buf.h"

/*
 * A walk through a running installation, over HTTP and as its callers go: steps
 * one after the other until one fails, and the last one, which cleans up, in
 * any case.
 */

/* Opaque type. */
struct admin;

#define WALK_ANSWER_MAX (1 << 20)
#define WALK_RAN_SIZE 16

/* What the steps share.  A walk that has more begins with one of these. */
struct walk {
	const char *label, *agent;
	const char *url, *key; /* Where, and the credential or NULL. */
	const char *extra; /* Another header of the next request, or NULL. */

	/* Of the last answer. */
	struct buf answer;
	int status;              /* 0: there was none. */
	char ran[WALK_RAN_SIZE]; /* X-Code-Execution-Ran */
	json_object *o;          /* NULL: no JSON. */

	const char *note; /* What a step saw besides; NULL: nothing. */
};

struct walk_step {
	const char *name, *did;
	int (*run)(struct walk *); /* 0 if it went well. */
};

/**
 * walk_ask(w, method, path, type, body, len):
 * Ask; the answer is in ${w}.  ${type} is that of the body, or NULL.  Return 0,
 * or -1 if there was no answer.
 */
int walk_ask(struct walk *, const char *, const char *, const char *,
    const char *, size_t);

/**
 * walk_astray(w):
 * Does the last answer say that there is no such path where ${w} asks?
 */
int walk_astray(const struct walk *);

/**
 * walk_copy(o, key, out, size):
 * Copy the string ${key} of ${o}.  Return 0, or -1 if it is none or longer.
 */
int walk_copy(json_object *, const char *, char *, size_t);

/**
 * walk_all(a, w, steps, n, remedy):
 * Take the ${n} ${steps} and say of each how it went; ${remedy}(${w}) says what
 * to do about the one that failed.  Returns an enum admin_exit.
 */
int walk_all(const struct admin *, struct walk *, const struct walk_step *,
    size_t, const char *(*)(const struct walk *));

/**
 * walk_free(w):
 * Free what ${w} holds.
 */
void walk_free(struct walk *);

#endif /* !TOOLS_ADMIN_WALK_H_ */
