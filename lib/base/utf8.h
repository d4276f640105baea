#ifndef BASE_UTF8_H_
#define BASE_UTF8_H_

#include <stddef.h>
#include <stdint.h>

/* UTF-8 as RFC 3629 has it: nothing overlong, no surrogates, up to U+10FFFF. */

/* Opaque type. */
struct buf;

/**
 * utf8_next(s, len, cp):
 * Decode the code point that begins the ${len} bytes at ${s} into ${cp}.
 * Return its length in bytes, or 0 if none does (${len} is 0, broken, cut
 * short).
 */
size_t utf8_next(const char *, size_t, uint32_t *);

/**
 * utf8_valid(s, len):
 * Are the ${len} bytes at ${s} valid UTF-8?  NUL counts as valid.
 */
int utf8_valid(const char *, size_t);

/**
 * utf8_count(s, len):
 * How many code points the valid UTF-8 at ${s} holds.
 */
size_t utf8_count(const char *, size_t);

/**
 * utf8_cut(s, len, max):
 * The length to which the ${len} bytes at ${s} must be cut to hold at most
 * ${max} bytes and no broken code point at the cut.
 */
size_t utf8_cut(const char *, size_t, size_t);

/**
 * utf8_encode(cp, s):
 * Write the code point ${cp} to ${s}, U+FFFD in place of one that UTF-8 cannot
 * hold.  Return its length in bytes.
 */
size_t utf8_encode(uint32_t, char[static 4]);

/**
 * utf8_put(b, cp):
 * Append the code point ${cp}; U+FFFD in place of one that UTF-8 cannot hold.
 * Return 0, or -1 with ${b} spoiled.
 */
int utf8_put(struct buf *, uint32_t);

/**
 * utf8_latin1(b, s, len):
 * Append the ${len} bytes of ISO-8859-1 at ${s} as UTF-8.  Return 0 or -1.
 */
int utf8_latin1(struct buf *, const char *, size_t);

/**
 * utf8_scrub(b, s, len):
 * Append the ${len} bytes at ${s} made clean: each broken piece becomes one
 * U+FFFD, NULs go.  Return 0 or -1.
 */
int utf8_scrub(struct buf *, const char *, size_t);

#endif /* !BASE_UTF8_H_ */
