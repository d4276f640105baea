#ifndef JAIL_READY_H_
#define JAIL_READY_H_

#include <stddef.h>

#include "jail/limits.h"
#include "jail/place.h"

/*
 * Sessions that wait for a caller.  They lie in READY_DIR of the host's
 * directory, one directory each as session.h says, named MARK.MAKER.RANDOM:
 * MARK says with what limits they were made, MAKER by which zygote.  Whoever
 * renames one has it.  Beside them are the files
 *	keeper	locked while a keeper runs
 *	served	locked while one makes a new session for each that is taken
 *	claim	locked by the one worker that waits for the next
 */

#define READY_DIR ".idle"
#define READY_MARK 17  /* 16 hex digits and a NUL. */
#define READY_MAKER 9  /* 8 hex digits and a NUL. */
#define READY_NAME 256 /* Room for any name there. */

/**
 * ready_open(host, make):
 * Open READY_DIR of the directory ${host}; with ${make}, make it first.  Return
 * -1 with errno if it is not there.
 */
int ready_open(int, int);

/**
 * ready_lock(idle, name, wait):
 * Open and lock one of the files, waiting for it if ${wait}.  Return a
 * descriptor that holds the lock until it is closed, or -1 if it could not be.
 */
int ready_lock(int, const char *, int);

/**
 * ready_held(idle, name):
 * Does somebody hold that lock?
 */
int ready_held(int, const char *);

/**
 * ready_able(l):
 * Is a zygote able to make sessions at the isolation level of ${l}?
 */
int ready_able(const struct limits *);

/**
 * ready_mark(l, mark):
 * Write what sessions are marked with that have the limits ${l}.  Its times do
 * not count: a session is told them when it is claimed.  Return 0, or -1 after
 * logging why not.
 */
int ready_mark(const struct limits *, char[static READY_MARK]);

/**
 * ready_take(host, idle, mark, id):
 * Make a waiting session with ${mark} the session ${id} of ${host}.  Return 0,
 * or -1 if there is none.
 */
int ready_take(int, int, const char *, const char *);

/* One that is being made. */
struct birth {
	int dir, lock, sock;
	int report; /* See supervisor.h; -1: nobody has been told to make it. */
	char made[READY_NAME], name[READY_NAME]; /* Its name now and then. */
};

/**
 * ready_begin(idle, mark, maker, b, why, size):
 * Make the place of another: its directory, lock and socket, in ${b}.  Return
 * 0, or -1 with the reason in ${why}.
 */
int
ready_begin(int, const char *, const char *, struct birth *, char *, size_t);

/**
 * ready_finish(idle, l, b, why, size):
 * Wait until the supervisor that is being started for ${b}, with the limits
 * ${l}, serves, and have it wait for a caller; or end what there is of it.
 * Return 0, or -1 with the reason in ${why}.
 */
int ready_finish(int, const struct limits *, struct birth *, char *, size_t);

/**
 * ready_count(idle, mark, maker):
 * How many wait with ${mark} that ${maker} has made; NULL stands for any.
 */
size_t ready_count(int, const char *, const char *);

/**
 * ready_prune(idle, maker):
 * End those of other makers than ${maker} (NULL: of all), and remove what dead
 * ones have left.  Called by the keeper alone.
 */
void ready_prune(int, const char *);

#endif /* !JAIL_READY_H_ */
