#ifndef JAIL_WS_H_
#define JAIL_WS_H_

#include <sys/stat.h>

#include <stddef.h>

#include "jail/frame.h"

/*
 * Paths in a workspace, as callers write them.  Whatever is opened here is
 * opened by the kernel's own rule that no link is followed and the workspace is
 * never left, so that no check can go stale.
 */

#define WS_PATH_SIZE 4096

/**
 * ws_path(s, out):
 * Write the path ${s}, relative to the workspace or beginning "/mnt/data", to
 * ${out} without superfluous parts; the workspace itself is ".".  REPLY_OK;
 * REPLY_OUTSIDE if it holds a ".." or is absolute elsewhere; REPLY_NAME if it
 * is empty, too long, or a part of it is.
 */
enum reply ws_path(const char *, char[static WS_PATH_SIZE]);

/**
 * ws_hidden(path):
 * Does a part of ${path}, as ws_path() writes it, begin with a dot?
 */
int ws_hidden(const char *);

/**
 * ws_skipped(name):
 * Is ${name} left out of what a call has produced, and all below it: hidden, or
 * a cache?
 */
int ws_skipped(const char *);

/**
 * ws_escape(b, path):
 * Append ${path} as callers see it: as it is if it is valid UTF-8 without
 * control characters, else with each offending byte and each '%' as %XX.
 * Return 0, or -1 with ${b} spoiled.
 */
int ws_escape(struct buf *, const char *);

/**
 * ws_open(root, path, flags, fd):
 * Open ${path}, as ws_path() writes it, below the directory ${root} and set
 * ${fd}.  A name that is not there is tried again with ws_escape() undone.
 * ${flags} are open()'s, without O_CREAT; O_CLOEXEC and O_NONBLOCK are added.
 */
enum reply ws_open(int, const char *, int, int *);

/**
 * ws_reply(err):
 * What the errno ${err} of a file operation means to the caller.
 */
enum reply ws_reply(int);

/**
 * ws_parents(root, path, dir, base):
 * Make the directories above ${path}, open the last of them as ${dir} and point
 * ${base} at the last part of ${path}.
 */
enum reply ws_parents(int, const char *, int *, const char **);

/**
 * ws_replaceable(dir, base):
 * May a new file take the place of ${base} in ${dir}?  REPLY_OK if it is not
 * there or a file, REPLY_OUTSIDE if it is a link, REPLY_DIRECTORY.
 */
enum reply ws_replaceable(int, const char *);

/**
 * ws_temp(dir, name):
 * Make a new file with a hidden name in ${dir}, write that name to ${name} and
 * return the file, open for writing; or -1 with errno.
 */
#define WS_TEMP_SIZE 32
int ws_temp(int, char[static WS_TEMP_SIZE]);

#endif /* !JAIL_WS_H_ */
