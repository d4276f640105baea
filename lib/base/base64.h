#ifndef BASE_BASE64_H_
#define BASE_BASE64_H_

#include <stddef.h>

/* Base64 with '+' and '/', padded, without line ends (RFC 4648 section 4). */

/* How many bytes base64_encode() writes for ${n} bytes, its NUL included. */
#define BASE64_SIZE(n) (((n) + 2) / 3 * 4 + 1)

/**
 * base64_encode(p, len, out):
 * Write the ${len} bytes at ${p} to ${out}, which has BASE64_SIZE(${len})
 * bytes.
 */
void base64_encode(const void *, size_t, char *);

/**
 * base64_decode(s, len, out, n):
 * Write what the ${len} bytes at ${s} stand for to ${out}, which has ${len}
 * bytes, and set ${n} to how many they are.  Return 0, or -1 if it is not
 * base64 to the last byte.
 */
int base64_decode(const char *, size_t, unsigned char *, size_t *);

#endif /* !BASE_BASE64_H_ */
