#ifndef JAIL_SESSION_H_
#define JAIL_SESSION_H_

#include <stddef.h>
#include <stdint.h>

#include "jail/limits.h"

/*
 * Sessions as a worker sees them.  Each is a directory below the host's with
 *	sock	where its supervisor listens
 *	lock	held by the supervisor as long as it lives; its time is that of
 *		the last call
 *	meta	what the supervisor is and when it began
 * and nothing else is known of it anywhere: any process that can open the
 * directory serves any session.
 */

#define SESSION_IDLEN 28 /* "sbx_", 2 of the host, 22 random. */
#define SESSION_WHY 128

enum session_rc {
	SESSION_OK,
	SESSION_NONE, /* No such session. */
	SESSION_FULL, /* The host has as many as it may. */
	SESSION_FAIL  /* Logged. */
};

/* Opaque type: a directory of sessions. */
struct host;

struct session {
	char id[SESSION_IDLEN + 1];
	uint64_t created_ms, used_ms; /* Unix time. */
	uint64_t idle_s, lifetime_s;
};

/**
 * host_user(program, dir):
 * Started as root, go on as the owner of ${dir}: sandboxes are confined by what
 * their user may not do, and root may do everything.  Before that, take users
 * for sessions (users.h).  In a process of one thread.  Return 0, or -1 after a
 * line of ${program} on standard error.
 */
int host_user(const char *, const char *);

/**
 * host_open(dir, label, most):
 * Use ${dir} for at most ${most} sessions, whose ids carry the two characters
 * ${label}.  It is made, for us alone, if it is not there; it must be ours.
 * Return NULL after logging why not.
 */
struct host *host_open(const char *, const char *, uint64_t);

/**
 * host_probe(H, l, why):
 * Can sessions be made here?  Makes one and ends it.  Return 0, or -1 with the
 * step that failed and its cause in ${why}.
 */
int host_probe(struct host *, const struct limits *, char[static SESSION_WHY]);

/**
 * host_count(H):
 * How many sessions there are.
 */
uint64_t host_count(struct host *);

/**
 * host_most(H):
 * How many there may be.
 */
uint64_t host_most(const struct host *);

/**
 * host_sweep(H):
 * Remove the directories that ended sessions have left.
 */
void host_sweep(struct host *);

/**
 * host_dir(H):
 * The directory, open as long as ${H} is.
 */
int host_dir(const struct host *);

/**
 * host_close(H):
 * Free ${H}; its sessions live on.  NULL is allowed.
 */
void host_close(struct host *);

/**
 * session_create(H, l, s):
 * Claim a ready session with the limits ${l} (ready.h), or start one where no
 * keeper makes any, and fill in ${s}.  Directories that ended sessions have
 * left are removed on the way.  SESSION_OK, SESSION_FULL or SESSION_FAIL.
 */
enum session_rc
session_create(struct host *, const struct limits *, struct session *);

/**
 * session_find(H, id, s):
 * Fill in ${s} with the live session ${id}.  Does not count as a use of it.
 */
enum session_rc session_find(struct host *, const char *, struct session *);

/**
 * session_connect(H, id, until, fd):
 * Connect to the supervisor of ${id} and set ${fd}.  Waits while too many wait
 * before us, until ${until} (clock_ms()); then SESSION_FULL.
 */
enum session_rc session_connect(struct host *, const char *, uint64_t, int *);

/**
 * session_destroy(H, id):
 * End ${id} at once with all that runs in it, and remove it.  SESSION_NONE if
 * there is none, SESSION_FAIL if some of it runs on.
 */
enum session_rc session_destroy(struct host *, const char *);

/**
 * session_retire(H, id):
 * End ${id} unless a call of it runs.  SESSION_NONE if one does, or if there is
 * no such session.
 */
enum session_rc session_retire(struct host *, const char *);

/**
 * session_is_id(id):
 * Could ${id} be a session's?
 */
int session_is_id(const char *);

#endif /* !JAIL_SESSION_H_ */
