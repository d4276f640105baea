#ifndef RUN_HERE_H_
#define RUN_HERE_H_

/* Opaque types. */
struct conf;

/**
 * here_only(c):
 * Does the sandbox of the settings ${c} leave code no /mnt/data, but only the
 * directory in which it begins?  It is asked once a minute, where the settings
 * leave that open.
 */
int here_only(const struct conf *);

#endif /* !RUN_HERE_H_ */
