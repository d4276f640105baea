#ifndef RUN_EXECUTOR_H_
#define RUN_EXECUTOR_H_

#include "base/conf.h"

#include "speech/ours.h"

/* Opaque type. */
struct policy_in_force;

/*
 * Who runs the code that a request declares (executor contract section 1): the
 * decision table as data, one row a line of the contract.
 */

enum runs {
	RUNS_NOBODY,   /* Plain proxy or translation. */
	RUNS_LOCAL,    /* This gateway's sandbox. */
	RUNS_UPSTREAM, /* Forwarded as it is. */
	RUNS_NO_SANDBOX,
	RUNS_UNAVAILABLE, /* Upstream cannot, and we may not. */
	RUNS_DISABLED     /* By the workspace's policy. */
};

/* What the decision depends on; the contract's letters in brackets. */
struct executor_case {
	enum declared declared;
	enum conf_executor setting; /* [S] */
	int by_header;              /* [S] is from the request's header. */
	int native;                 /* [N] */
	int translated;             /* [T] */
	int sandbox;                /* [X] */
	int enabled;                /* [P] */
};

/**
 * executor_decide(c):
 * The answer of the first row that fits ${c}.
 */
enum runs executor_decide(const struct executor_case *);

/**
 * executor_row(c):
 * That row's number in the contract, 1 to 14.
 */
int executor_row(const struct executor_case *);

/* What the X-Code-Execution headers of a request say together. */
struct executor_header {
	int given; /* Some value was neither absent nor empty. */
	enum conf_executor setting;
};

/**
 * executor_header_add(h, value):
 * Take one header's ${value} (NULL: absent) into ${h}, which begins zeroed.
 * Return 0; or -1 if it is none of the words or contradicts an earlier one.
 */
int executor_header_add(struct executor_header *, const char *);

/**
 * executor_settle(h, f, def, c):
 * Set the setting of ${c} by the precedence of section 1.2: the workspace's pin
 * in ${f}, else the header ${h}, else the row in ${f} that overrides the
 * deployment's ${def}, else that; and whether policy allows it.  ${f} NULL: no
 * policy was read.  Return 0, or -1 if the header contradicts the pin.
 */
int executor_settle(const struct executor_header *,
    const struct policy_in_force *, enum conf_executor, struct executor_case *);

/**
 * executor_is_native(wire, kind):
 * Does that ${wire}'s vendor know a declaration of this ${kind}?
 */
int executor_is_native(enum conf_wire, enum declared);

#endif /* !RUN_EXECUTOR_H_ */
