#ifndef BASE_ID_H_
#define BASE_ID_H_

#include <stddef.h>

/*
 * Random text from the kernel's random source, read ahead a little per thread.
 * Every character is equally likely.  Safe from any thread and across fork().
 */

/**
 * id_hex(s, n), id_base36(s, n), id_base62(s, n):
 * Write ${n} random characters of [0-9a-f], [0-9a-z] or [0-9A-Za-z] and a NUL
 * to ${s}.  Return 0; or -1, with ${s} empty and the cause logged, if the
 * kernel gave no random bytes.
 */
int id_hex(char *, size_t);
int id_base36(char *, size_t);
int id_base62(char *, size_t);

/**
 * id_bytes(p, n):
 * Write ${n} random bytes to ${p}.  Return 0, or -1 after logging why not.
 */
int id_bytes(void *, size_t);

/**
 * id_plain(s):
 * Is ${s} visible ASCII and not empty?  Nothing else is an id of anybody's, and
 * the database's columns of ids cannot be compared with it.
 */
int id_plain(const char *);

#endif /* !BASE_ID_H_ */
