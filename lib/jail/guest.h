#ifndef JAIL_GUEST_H_
#define JAIL_GUEST_H_

#include <sys/types.h>

#include <signal.h>

#include "jail/editor.h"
#include "jail/held.h"
#include "jail/landlock.h"
#include "jail/limits.h"
#include "jail/out.h"

/* Processes that run callers' code, and the supervisor's hold on them. */

struct guest {
	pid_t pid;  /* 0 = none was started. */
	int dead;   /* It has ended, and been waited for: */
	int status; /* so. */
	int out, err;
	int ctl;  /* Our end of its descriptor 3; -1 = none. */
	int asks; /* For broker_serve(), or -1. */
};

/* No process. */
#define GUEST_INIT                                          \
	{                                                   \
		.out = -1, .err = -1, .ctl = -1, .asks = -1 \
	}

/**
 * In a fork of a supervisor that has all that a Python interpreter needs,
 * become the session's; or, with the words ${argv} and the environment ${env},
 * do what execve() with them would: "python3 -u FILE ARGUMENT ...".  Does not
 * return.
 */
typedef void jail_interpreter(char *const *, char *const *);

/* What a session's supervisor knows. */
struct jail {
	struct limits lim;
	uint64_t began; /* clock_ms() */
	int ready;      /* Nobody's yet. */
	int over;       /* It is to end. */
	int root;       /* The workspace. */
	int sigs;       /* signalfd of SIGCHLD, SIGTERM, GUEST_LEAVES. */
	int group;      /* For cgroup_kills(). */
	int rules;      /* Of its guests, for landlock_enter(); -1: none. */
	int proc;       /* The session's, to be written to; -1: the usual. */
	int socks;      /* For socks_bytes(). */
	struct held held;
	uint64_t held_at; /* When that was looked at: clock_ms(). */
	struct land land;
	struct guest
	    kernel; /* The Python interpreter, stopped between calls. */
	int fresh;  /* It has all that the jail's has, and has run nothing. */
	struct guest bash; /* The shell, if one is running. */
	int dying; /* Some that can run nothing any more have yet to go. */
	struct editor editor;

	/* NULL: an interpreter must be started. */
	jail_interpreter *interpreter;
};

/* Of no session yet. */
#define JAIL_INIT                                                             \
	{                                                                     \
		.root = -1, .sigs = -1, .group = -1, .rules = -1, .proc = -1, \
		.socks = -1, .kernel = GUEST_INIT, .bash = GUEST_INIT         \
	}

/* What a guest is started as. */
struct guest_how {
	const char *path;  /* NULL: the interpreter that the jail has, */
	char *const *argv; /* for a program; NULL: for the session. */
	char *const *env;  /* Besides its usual environment; NULL: nothing. */
	const struct limits *lim; /* NULL: the session's. */
	int dir;                  /* It starts there; -1: in the workspace. */
	int extra;                /* Becomes its descriptor 3, unless -1. */
	int ctl;                  /* Our end of that, or -1. */
};

/**
 * guest_start(J, how, g):
 * Start the program that ${how} says under the limits and the filter, and fill
 * in ${g}.  Its descriptors are 0 (nothing to read), 1 and 2 (pipes to us) and
 * 3.  Return 0, or -1 with errno; the descriptors of ${how} stay the caller's
 * then.
 */
int guest_start(const struct jail *, const struct guest_how *, struct guest *);

/* All the environment that a guest has; ends with NULL. */
extern char *const guest_environment[];

#define GUEST_ENVIRONMENT 256 /* Variables of one guest, a NULL included. */

/**
 * guest_variables(more, env):
 * Write to ${env} the usual environment and ${more}, which wins; NULL is none.
 * ${env} has room for GUEST_ENVIRONMENT.
 */
void guest_variables(char *const *, char **);

/**
 * guest_signals():
 * Set all signals as a program expects to find them.
 */
void guest_signals(void);

/**
 * guest_close(g):
 * Close what we hold of a guest that is dead, and make ${g} none.
 */
void guest_close(struct guest *);

/**
 * guests_reap(J):
 * Wait for all that has ended, and note it where it was one of ${J}'s.  Return
 * whether there are others.
 */
int guests_reap(struct jail *);

#define GUEST_LEAVES SIGRTMIN /* The signal of guest_leave(). */

/**
 * guest_leave(status):
 * As a program that is done: end with ${status}.  The supervisor is told, so
 * that it need not wait until the memory has been given back.
 */
_Noreturn void guest_leave(int);

/**
 * guests_heed(J, g, status):
 * Take the signals that have come: as guests_reap(), but SIGTERM from outside
 * the session stops all guests for good, closes the socket and ends us and with
 * us them, without a return.  Return whether ${g} (NULL: nobody) has said that
 * it leaves, with ${status} set then.
 */
int guests_heed(struct jail *, const struct guest *, int *);

/**
 * guests_end(J):
 * Kill every process but the supervisor and the interpreter, which is stopped,
 * and come back once none can run any more.
 */
void guests_end(struct jail *);

/**
 * guests_gone(J):
 * Come back once those that guests_end() has ended are not there any more.
 */
void guests_gone(struct jail *);

/**
 * guests_kill(J):
 * Kill every process but the supervisor, and come back once they have gone.
 */
void guests_kill(struct jail *);

/**
 * guests_each(fn, cookie):
 * Call ${fn}(${cookie}, proc, pid) for each process of the session but the
 * calling one, ${proc} being /proc.  Return 0, or -1 if some may not have been
 * seen.
 */
typedef void guests_fn(void *, int, pid_t);
int guests_each(guests_fn *, void *);

/**
 * guests_tasks():
 * How many processes and threads the guests are; PROC_BLIND if that cannot be
 * told.
 */
uint64_t guests_tasks(void);

/**
 * guests_cpu_ms():
 * The CPU time that all guests, living and dead, have used so far; PROC_BLIND
 * if that cannot be told.
 */
uint64_t guests_cpu_ms(void);

#endif /* !JAIL_GUEST_H_ */
