#ifndef JAIL_FILES_H_
#define JAIL_FILES_H_

#include <stddef.h>
#include <stdint.h>

#include "jail/frame.h"

/*
 * Files of a workspace, as its supervisor reads and writes them: ${root} is the
 * workspace's directory, ${conn} the connection to the worker that asked.
 */

/**
 * files_slurp(root, path, b):
 * Append the whole file ${path} to ${b}.  REPLY_FULL if ${b} cannot hold it.
 */
enum reply files_slurp(int, const char *, struct buf *);

/**
 * files_replace(root, path, p, len, fresh):
 * Make ${path} a file of these ${len} bytes, its directories too, in one step:
 * others see the old file or the new one.  With ${fresh}, REPLY_BAD if there is
 * something at ${path} already.
 */
enum reply files_replace(int, const char *, const char *, size_t, int);

/**
 * files_put(root, conn, until):
 * Take the file that the worker sends on ${conn} as DATA frames, ended by LAST
 * with its path.  Nothing is left of one that does not end.  What went wrong is
 * told at once, the rest of the frames unread; so is ${until} passing
 * (clock_ms()).  REPLY_FAIL also if the worker left.
 */
enum reply files_put(int, int, uint64_t, uint64_t *, struct buf *);

/**
 * files_get(root, conn, path):
 * Send the file ${path} on ${conn}: FILE with its size, then exactly so many
 * bytes as DATA.
 */
enum reply files_get(int, int, const char *);

/**
 * files_list(root, path, b, truncated):
 * Append a FILE frame to ${b} for each regular file in the directory ${path},
 * or for ${path} itself if it is a file, in the order of their names, hidden
 * ones left out.
 */
enum reply files_list(int, const char *, struct buf *, int *);

#endif /* !JAIL_FILES_H_ */
