#ifndef JAIL_TITLE_H_
#define JAIL_TITLE_H_

/*
 * What ps shows of a process, in place of the words it was started with.  The
 * title is at most as long as those.
 */

/**
 * title_find():
 * Find where the words are, with the help of /proc.  Until then, and if they
 * are not found, the others do nothing.  Forks know it too.
 */
void title_find(void);

/**
 * title_set(title):
 * Show ${title}.
 */
void title_set(const char *);

/**
 * title_session(what, lock):
 * Show "satchel: ", ${what} and the session's id, which is the name of the
 * directory that holds its open file ${lock}.
 */
void title_session(const char *, int);

#endif /* !JAIL_TITLE_H_ */
