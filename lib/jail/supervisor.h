#ifndef JAIL_SUPERVISOR_H_
#define JAIL_SUPERVISOR_H_

/*
 * A session's supervisor: the first process of its namespaces.  It never runs a
 * caller's program itself, and everything in the session ends with it.
 */

/* The descriptors it is started with, besides 0 and 2, which lead nowhere. */
#define SUPERVISOR_REPORT 1 /* A pipe: see supervisor_main(). */
#define SUPERVISOR_LOCK 3   /* The session's lock, held. */
#define SUPERVISOR_LISTEN 4 /* Its socket, listening. */
#define SUPERVISOR_USERS 5  /* users_held(), if any, for supervisor_main(). */

/**
 * supervisor_main(argc, argv):
 * Start a session with the limits that the words ${argv} (limits_write()) say.
 * The calling process reports and exits 0, the session lives on.  Reported on
 * SUPERVISOR_REPORT: "pid N", N being the supervisor as the caller sees it, and
 * "ok", a line each in any order; or "fail STEP: REASON".  Does not return.
 */
_Noreturn void supervisor_main(int, char *const *);

/* Opaque type. */
struct jail;
struct ns_fail;

/**
 * supervisor_first(J):
 * Be the first process of a session in its new namespaces, with the descriptors
 * above and ${J}'s lim set; the "ok" is reported from here.
 */
_Noreturn void supervisor_first(struct jail *);

/**
 * supervisor_failed(f):
 * Report the failure ${f} and exit.
 */
_Noreturn void supervisor_failed(const struct ns_fail *);

#endif /* !JAIL_SUPERVISOR_H_ */
