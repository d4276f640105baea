#ifndef BASE_NUM_H_
#define BASE_NUM_H_

#include <stdint.h>

/**
 * num_u64(s, min, max, x):
 * Parse all of ${s} as an unsigned decimal number between ${min} and ${max}
 * inclusive into ${x}.  Return 0, or -1 (with ${x} untouched) if ${s} is
 * NULL, empty, has a sign, a space or any other character, or is out of range.
 */
int num_u64(const char *, uint64_t, uint64_t, uint64_t *);

/**
 * num_hex(c):
 * The value of the hexadecimal digit ${c}, in either case; or -1.
 */
int num_hex(char);

#endif /* !BASE_NUM_H_ */
