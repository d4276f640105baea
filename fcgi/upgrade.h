#ifndef FCGI_UPGRADE_H_
#define FCGI_UPGRADE_H_

#include <sys/types.h>

#include <stddef.h>
#include <stdint.h>

/*
 * A parent becomes the program that has been installed in its place: same
 * process, same arguments, same listening socket, and its children go on as
 * children of it.  Only a parent without threads may.
 */

/* A child that is handed on. */
struct upgrade_child {
	pid_t pid;
	uint64_t until; /* ms: to be gone by then; 0: not told to. */
};

/**
 * upgrade_begin(argv):
 * Remember which file this program is and how it was started, to be called
 * before ${argv} is changed.  Without it there is never an upgrade.
 */
void upgrade_begin(char *const *);

/**
 * upgrade_listener():
 * The listening socket that the program before this one has handed on, or -1.
 */
int upgrade_listener(void);

/**
 * upgrade_children(child, max):
 * Write the children that were handed on, at most ${max}, to ${child}, and
 * return how many they are.
 */
size_t upgrade_children(struct upgrade_child *, size_t);

/**
 * upgrade_due():
 * Is another file installed where this program was?
 */
int upgrade_due(void);

/**
 * upgrade_try():
 * Run what is installed as "ARGUMENTS -t", which must look whether it could
 * start.  Return 0, or -1 after logging what it says.
 */
int upgrade_try(void);

/**
 * upgrade_exec(fd, child, n):
 * Become the installed program, handing on the listening socket ${fd} and ${n}
 * children.  Returns, -1 after logging why, only if that cannot be done.
 */
int upgrade_exec(int, const struct upgrade_child *, size_t);

#endif /* !FCGI_UPGRADE_H_ */
