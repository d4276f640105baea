#ifndef FCGI_LC_H_
#define FCGI_LC_H_

#include <stddef.h>

#include <json.h>

#include "data/lc.h"

/*
 * What LibreChat's routes share (librechat contract sections 3 to 6): who
 * calls, for which user and with which owner key, and errors in its client's
 * words.
 */

/* Opaque type. */
struct req;

/* How the caller has shown who he is. */
enum lc_how { LC_HOW_NONE, LC_HOW_KEY, LC_HOW_JWT, LC_HOW_LOCAL };

/* Whose a file is to be, as the client says it; NULL where it does not. */
struct lc_said {
	const char *kind, *id, *version, *entity;
};

/**
 * lc_auth(r):
 * Find who calls ${r}, whose route is LibreChat's; a route with R_BODY_KEY may
 * have its key in its JSON body, if that is small.  Return 0, or -1 after
 * answering.
 */
int lc_auth(struct req *);

/* Where older hosts' tools put a key in the body; the first of them counts.
 * Ends with NULL. */
extern const char *const lc_body_keys[];

#define LC_JSON_DEPTH 64

/**
 * lc_ambiguous(r):
 * Answer 400: the body has a key of lc_body_keys twice.  Returns -1.
 */
int lc_ambiguous(struct req *);

/**
 * lc_json(r, o):
 * The JSON object of the body, which belongs to ${r}.  A key that stands twice
 * means its last value, but for those of lc_body_keys, which are refused.
 * Return 0, or -1 after answering.
 */
int lc_json(struct req *, json_object **);

/**
 * lc_assume(r, user):
 * Settle for whom the call is: a token's user; else ${user}, else the header
 * User-Id, else the key's own.  Return 0, or -1 after answering.
 */
int lc_assume(struct req *, const char *);

/**
 * lc_identify(r, user):
 * As lc_assume(), and count the call against that user's rate, once.
 */
int lc_identify(struct req *, const char *);

/**
 * lc_owner_of(r, said, need, owner):
 * The owner key that ${said} comes to for the caller, who has been identified.
 * With ${need} a token's caller must name a kind.  Return 0, or -1 after
 * answering 400.
 */
int lc_owner_of(struct req *, const struct lc_said *, int, struct lc_owner *);

/**
 * lc_owner_user(r, owner):
 * The owner key of the caller's own files.
 */
void lc_owner_user(const struct req *, struct lc_owner *);

/**
 * lc_owner_why(r, said, need, owner):
 * As lc_owner_of(), but return what is wrong as a constant text, or NULL.
 */
const char *
lc_owner_why(struct req *, const struct lc_said *, int, struct lc_owner *);

/**
 * lc_version(s, out):
 * Write the number ${s} in its one form.  Return 0, or -1 if it is none.
 */
#define LC_VERSION_SIZE 32
int lc_version(const char *, char[static LC_VERSION_SIZE]);

/**
 * lc_reply(r, status, error, message):
 * Answer ${status} with the members error and, unless it is NULL, message.
 * Returns as reply_json().
 */
int lc_reply(struct req *, int, const char *, const char *);

/**
 * lc_error(error, message):
 * That body alone; the caller must put it.  NULL if memory ran out.
 */
json_object *lc_error(const char *, const char *);

/**
 * lc_rate_limited(r, wait, text):
 * Answer 429, to be tried again in ${wait} seconds, with the message ${text}.
 * Returns as reply_json().
 */
int lc_rate_limited(struct req *, unsigned int, const char *);

/**
 * lc_time(ms, out):
 * Write ${ms} as ISO 8601 in UTC with milliseconds.
 */
#define LC_TIME_SIZE 32
const char *lc_time(uint64_t, char[static LC_TIME_SIZE]);

#endif /* !FCGI_LC_H_ */
