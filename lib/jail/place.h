#ifndef JAIL_PLACE_H_
#define JAIL_PLACE_H_

#include <sys/un.h>

#include <stddef.h>

#include "jail/limits.h"

/*
 * The directory of one session, made or waiting to be claimed; see session.h
 * for what lies in it.  It is named by the directory that holds it, open, and
 * its own name there.
 */

/**
 * place_open(at, name):
 * Open the directory.  Return -1 with errno if it is not there.
 */
int place_open(int, const char *);

/**
 * place_make(at, name, dir, lock):
 * Make the directory and its lock, which is held; both come back open.  Return
 * 0, or -1 with errno and nothing left.
 */
int place_make(int, const char *, int *, int *);

/**
 * place_listen(dir):
 * Return the socket of the new directory ${dir}, listening; or -1 with errno.
 */
int place_listen(int);

/**
 * place_record(dir, l, pid):
 * Write meta: the supervisor ${pid} serves there, with the limits ${l}.  Return
 * 0, or -1 with errno; the supervisor ends when its directory has gone.
 */
int place_record(int, const struct limits *, long);

/**
 * place_held(lock):
 * Does somebody else hold the lock file open as ${lock}?
 */
int place_held(int);

/**
 * place_over(at, name):
 * Is the directory that of a session which has ended?  One that cannot be
 * opened is not.
 */
int place_over(int, const char *);

/**
 * place_sock(dir, sun):
 * Fill in the address of the socket in ${dir}, which must stay open.
 */
void place_sock(int, struct sockaddr_un *);

/**
 * place_discard(at, name, dir):
 * Remove the directory, open as ${dir}, which is closed, and end what may run
 * of a session whose supervisor was killed.  Return 0; or -1, after logging, if
 * that does not end: the directory stays then.
 */
int place_discard(int, const char *, int);

/**
 * place_end(at, name):
 * End the session, if it lives (end_session()), and remove the directory.
 * Return 0 when nothing of it runs, or is there, any more; or -1, after
 * logging: the directory stays then.
 */
int place_end(int, const char *);

#endif /* !JAIL_PLACE_H_ */
