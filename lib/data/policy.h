#ifndef DATA_POLICY_H_
#define DATA_POLICY_H_

#include <stddef.h>
#include <stdint.h>

#include "base/conf.h"
#include "data/rc.h"

/*
 * What a workspace may do with code execution (executor contract section 8).
 * Without a row it does what the deployment does; a row can only narrow that.
 */

/* Opaque types. */
struct arena;
struct db;

#define POLICY_HINT_MAX 2048 /* Bytes. */

struct policy {
	int configured; /* There is a row. */
	int enabled;
	int pinned; /* ${executor} is the workspace's, whatever is asked. */
	enum conf_executor executor;
	uint64_t max_iterations, exec_timeout_s; /* 0: the deployment's. */
	const char *hint;                        /* NULL: the deployment's. */
	uint64_t created, updated;               /* Unix ms. */
};

/* What decides for a request, read at once. */
struct policy_in_force {
	struct policy policy;
	int defaulted; /* A row of the table setting overrides the file: */
	enum conf_executor executor; /* by this. */
};

/**
 * policy_word(e), policy_parse(s, e):
 * The word for ${e} as rows and routes have it; and back, which also knows the
 * alias "otari" and returns 0, or -1 if ${s} is none.
 */
const char *policy_word(enum conf_executor);
int policy_parse(const char *, enum conf_executor *);

/**
 * policy_in_force(db, mem, workspace, f):
 * Read what holds for the row id ${workspace}.  DATA_OK, DATA_DOWN, DATA_FAIL.
 */
enum data_rc policy_in_force(
    struct db *, struct arena *, uint64_t, struct policy_in_force *);

/**
 * policy_find(db, mem, workspace, id, p):
 * Find the workspace named so: set ${id} to its row's and ${p} to its policy.
 * DATA_OK, also without a row; DATA_NONE: no such workspace; DATA_DOWN;
 * DATA_FAIL.
 */
enum data_rc policy_find(
    struct db *, struct arena *, const char *, uint64_t *, struct policy *);

/**
 * policy_put(db, workspace, p, now):
 * Replace the policy of the row id ${workspace} by ${p}, whose times are set.
 * DATA_OK, DATA_DOWN, DATA_UNSURE or DATA_FAIL.
 */
enum data_rc policy_put(struct db *, uint64_t, struct policy *, uint64_t);

/**
 * policy_drop(db, workspace):
 * Take the row away.  DATA_OK, also if there was none.
 */
enum data_rc policy_drop(struct db *, uint64_t);

/**
 * policy_each(db, fn, cookie):
 * Call ${fn}(${cookie}, workspace, p) for every one, by the workspace's id;
 * they live only during the call.  DATA_OK, DATA_DOWN, DATA_FAIL.
 */
enum data_rc policy_each(
    struct db *, int (*)(void *, const char *, const struct policy *), void *);

#endif /* !DATA_POLICY_H_ */
