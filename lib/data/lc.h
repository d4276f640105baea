#ifndef DATA_LC_H_
#define DATA_LC_H_

#include <stddef.h>
#include <stdint.h>

#include "data/file.h"

/*
 * Files by LibreChat's names (librechat contract section 5): a storage session,
 * bound once to an owner key, and an object in it.  The pair is a second name
 * of the file's row (ruling 2).  A file that came by these routes lives until
 * it has not been used for librechat.retention_seconds; using one object uses
 * its session.
 */

/* Opaque types. */
struct arena;
struct db;

#define LC_IDLEN 21
#define LC_SESSION_MAX 1024 /* Objects of a session that are listed. */

enum lc_kind { LC_USER, LC_AGENT, LC_SKILL, LC_ENTITY, LC_KINDS };

/* To whom a session belongs; compared member by member. */
struct lc_owner {
	enum lc_kind kind;
	uint64_t workspace, names, user; /* user 0: all in the name space. */
	const char *resource;            /* Of kind user its name. */
	const char *version;             /* "" but for skills. */
};

struct lc_object {
	struct file file;
	struct owner of;       /* Who put it there. */
	struct lc_owner owner; /* Who may have it. */
	const char *session, *object;
	const char *place; /* Relative, with slashes. */
	int read_only;
	uint64_t used; /* Last use, Unix ms. */
};

/* A file to be made live under the two names. */
struct lc_new {
	uint64_t row; /* Of file_begin(). */
	struct file_new file;
	const char *place;
	int read_only;

	/* Found. */
	char object[LC_IDLEN + 1];
	struct file made;
};

/**
 * lc_id(id):
 * Make a new random session or object id.  Return 0 or -1.
 */
int lc_id(char[static LC_IDLEN + 1]);

/**
 * lc_id_ok(s):
 * Has ${s} the form of such an id, LibreChat's own included?
 */
int lc_id_ok(const char *);

/**
 * lc_kind_name(kind), lc_kind_parse(s, kind):
 * The word for ${kind}; and back, for the kinds that a client may name, which
 * returns 0 or -1.
 */
const char *lc_kind_name(enum lc_kind);
int lc_kind_parse(const char *, enum lc_kind *);

/**
 * lc_owner_same(a, b):
 * Are ${a} and ${b} one owner?
 */
int lc_owner_same(const struct lc_owner *, const struct lc_owner *);

/**
 * lc_find(db, mem, session, object, now, o):
 * Look up a live object.  DATA_OK; DATA_NONE; DATA_DOWN; DATA_FAIL.  Whether
 * the caller may have it is the caller's to see.
 */
enum data_rc lc_find(struct db *, struct arena *, const char *, const char *,
    uint64_t, struct lc_object *);

/**
 * lc_session_find(db, mem, session, owner, used):
 * Look up whose a session is, and its last use.
 */
enum data_rc lc_session_find(
    struct db *, struct arena *, const char *, struct lc_owner *, uint64_t *);

/**
 * lc_list_objects(db, mem, session, now, o, n):
 * Set ${o} to the ${n} live objects of ${session} by place, at most
 * LC_SESSION_MAX; the members that are the session's own are not filled in.
 */
enum data_rc lc_list_objects(struct db *, struct arena *, const char *,
    uint64_t, struct lc_object **, size_t *);

/**
 * lc_touch(db, session, now, used, retention_s):
 * The ${session}, last used at ${used}, is used now: at most once an hour its
 * files live on for ${retention_s} seconds.  Return the time of its last use,
 * as stored.  A failure is logged.
 */
uint64_t lc_touch(struct db *, const char *, uint64_t, uint64_t, uint64_t);

/**
 * lc_publish(db, mem, of, owner, session, retention_s, x, n):
 * Make the ${n} files ${x} of the user ${of} live as objects of the new
 * ${session} of ${owner}, all or none of them.  Returns as file_publish().
 */
enum data_rc lc_publish(struct db *, struct arena *, const struct owner *,
    const struct lc_owner *, const char *, uint64_t, struct lc_new *, size_t);

/**
 * lc_name(db, mem, owner, f, now, o):
 * Fill in ${o} for the live file ${f} of the user's own ${owner} (kind user),
 * giving it a pair of names unless it has one.
 */
enum data_rc lc_name(struct db *, struct arena *, const struct lc_owner *,
    const struct file *, uint64_t, struct lc_object *);

#endif /* !DATA_LC_H_ */
