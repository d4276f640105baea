#ifndef JAIL_PLAIN_H_
#define JAIL_PLAIN_H_

#include <stddef.h>
#include <stdint.h>

#include "jail/landlock.h"

/*
 * Where nothing can be mounted a session's files lie in plain directories
 * beside its lock, and nobody but us holds them to a limit.
 */

struct plain_use {
	uint64_t bytes; /* On the disk, */
	uint64_t files; /* directories and links included. */
	int odd;        /* How much there is that cannot be looked at. */
};

/**
 * plain_make(lock, land, f):
 * Make the directories beside the file ${lock} and fill in ${land}.  Return 0,
 * or -1 with ${f} filled in.
 */
int plain_make(int, struct land *, struct ns_fail *);

/**
 * plain_words(land, words, n):
 * The ${n} ${words} of a command, or NAME=VALUE, with the paths of ${land} for
 * those below the workspace's usual path and /tmp, as one piece to be freed.
 * ${words} is freed.  NULL: memory ran out.
 */
char **plain_words(const struct land *, char **, size_t);

/**
 * plain_path(l):
 * By what path programs of a session with the limits ${l} find its workspace:
 * NS_WORKSPACE, or "." if only their current directory leads there.
 */
const char *plain_path(const struct limits *);

/**
 * plain_here(dir):
 * Has the session whose directory is ${dir} any?
 */
int plain_here(int);

/**
 * plain_look(land, use), plain_look_mapped(land, use):
 * Fill in ${use} with what there is in the directories of ${land}, and in files
 * that have been removed but that guests hold open or run.  The other one also
 * takes those that are only mapped, which are odd.  In a process of one thread.
 */
void plain_look(const struct land *, struct plain_use *);
void plain_look_mapped(const struct land *, struct plain_use *);

/**
 * plain_bound(land, most):
 * See to it that no file that the calling process writes becomes larger than
 * what is left of ${most} bytes: EFBIG.
 */
void plain_bound(const struct land *, uint64_t);

/**
 * plain_remove(dir):
 * Remove the directories, if there are any, from the session's directory
 * ${dir}.  Nobody may be at work in them.
 */
void plain_remove(int);

#endif /* !JAIL_PLAIN_H_ */
