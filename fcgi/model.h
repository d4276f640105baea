#ifndef FCGI_MODEL_H_
#define FCGI_MODEL_H_

#include "base/jspan.h"

#include "data/policy.h"
#include "run/executor.h"
#include "run/tally.h"
#include "speech/model_dialect.h"
#include "speech/peek.h"
#include "speech/refusal.h"

/*
 * What the three model routes share: read the request, find the provider,
 * decide who runs code, then either relay it untouched or answer it here.
 */

/* Opaque types. */
struct buf;
struct arena;
struct conf_provider;
struct req;
struct run_env;
struct talk;

struct model_req {
	struct req *r;
	const struct model_dialect *dialect;
	struct arena *mem; /* While it is passed on: files may be large. */
	struct jspan text; /* The body, checked. */
	struct jspan root; /* Its value. */
	struct peek peek;
	const struct conf_provider *provider;
	const char *model; /* The provider's name for it. */
	struct executor_header header;
	struct policy_in_force force; /* Zeroed but where code is declared. */
	const char *previous; /* Bare id of what it goes on from, or NULL, */
	struct jspan before;  /* and a list of what that held. */
	struct tally tally;
	struct refusal why;
};

/**
 * model_handle(r, d):
 * Answer a model request of the dialect ${d}.  Returns as a handler.
 */
int model_handle(struct req *, const struct model_dialect *);

/**
 * model_open(m):
 * Read the request of ${m}, whose r and dialect are set, and find its provider.
 * Return 0, or -1 after answering or finding the client gone.
 */
int model_open(struct model_req *);

/**
 * model_problem(why):
 * The row of ${why}'s kind, with what ${why} says otherwise.
 */
struct problem_row model_problem(const struct refusal *);

/**
 * model_data(m, rc):
 * Fill in ${m}->why for rows that cannot be had because of ${rc}.  Returns -1.
 */
int model_data(struct model_req *, enum data_rc);

/**
 * model_refuse(m):
 * Answer with ${m}->why.  Returns as a handler.
 */
int model_refuse(struct model_req *);

/**
 * model_header(m):
 * Read what the request's headers say of who runs code.  Return 0, or -1 with
 * ${m}->why filled in.
 */
int model_header(struct model_req *);

/**
 * model_decide(m, runs):
 * Decide who runs the code that ${m} declares, by the workspace's policy, which
 * is read for this once.  Return 0, or -1 with ${m}->why filled in.
 */
int model_decide(struct model_req *, enum runs *);

/**
 * model_narrow(m, t, env):
 * Set what policy and request leave of the deployment's limits in ${env}, and
 * add the hint that counts to ${t}, which has been read.  Return 0, or -1 if
 * memory ran out.
 */
int model_narrow(const struct model_req *, struct talk *, struct run_env *);

/**
 * model_usage(m, runs, since):
 * Write the rows of what ${m} used, answered or not: it began at the clock_ms()
 * ${since}.
 */
void model_usage(struct model_req *, enum runs, uint64_t);

/**
 * model_continue(m, relayed):
 * If ${m} goes on from an answer that is kept here, set ${m}->before to what
 * that answered and came to; with ${relayed} put it into the request, which no
 * longer says so, and leave an answer of the provider's own alone.  Return 0,
 * or -1 with ${m}->why filled in.
 */
int model_continue(struct model_req *, int);

/**
 * model_refer(m, relayed):
 * Put the items of the caller's kept answers into ${m} where its input only
 * names them by their ids.  With ${relayed} an id that is not of our form is
 * left to the provider.  What ${m} goes on from has been found before.  Return
 * as model_continue().
 */
int model_refer(struct model_req *, int);

/**
 * model_replace(m, b):
 * Put the JSON text in ${b}, which is emptied, in the place of ${m}'s request.
 * Return 0, or -1 with ${m}->why filled in.
 */
int model_replace(struct model_req *, struct buf *);

/**
 * model_disown(m):
 * Take containers of ours out of ${m}, which a provider is to have: it has
 * never heard of them (executor contract section 4).  Return as
 * model_continue().
 */
int model_disown(struct model_req *);

/**
 * model_keep(m, w):
 * Keep the answer that ${w} has gathered, if its caller may ask for it again.
 * What goes wrong costs no more than that.
 */
void model_keep(struct model_req *, struct writer *);

/**
 * model_run(m):
 * Answer ${m} here: translated, with code run locally if it declares any.
 */
int model_run(struct model_req *);

/* Where else than to its wire's path a request is passed on. */
struct relay_to {
	const char *path;
	const char *answer; /* The member without which JSON is no answer. */
	int any_type;       /* An answer need not be JSON. */
	int *absent; /* Set, and nothing answered, if there is no such path. */
};

/**
 * model_relay(m, to):
 * Pass ${m} on to its provider, to another path with ${to} (NULL: none), and
 * the answer back, untouched but for the model's name and for stored files.
 */
int model_relay(struct model_req *, const struct relay_to *);

/**
 * model_vocabulary(m, t):
 * Set in ${t} which functions of ours the caller of ${m} knows.
 */
void model_vocabulary(const struct model_req *, struct talk *);

#endif /* !FCGI_MODEL_H_ */
