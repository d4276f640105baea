#ifndef BASE_B64URL_H_
#define BASE_B64URL_H_

#include <stddef.h>

/**
 * b64url_decode(s, len, out, max, n):
 * Decode the ${len} characters of unpadded base64url (RFC 4648 section 5) at
 * ${s} into at most ${max} bytes at ${out} and set ${n}.  Return 0; or -1 if
 * they hold any other character or padding, are of a length that no bytes give,
 * have spare bits that are not zero, or ${max} is too small.
 */
int b64url_decode(const char *, size_t, unsigned char *, size_t, size_t *);

#endif /* !BASE_B64URL_H_ */
