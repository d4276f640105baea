#ifndef BASE_NFC_H_
#define BASE_NFC_H_

#include <stddef.h>

/* Opaque type. */
struct buf;

/**
 * nfc_put(b, s, len):
 * Append the valid UTF-8 of ${len} bytes at ${s} in Unicode normalization form
 * C, so that names that read the same compare the same.  Return 0; or -1, with
 * ${b} spoiled, when it passes ${b}'s ceiling or memory ran out.
 */
int nfc_put(struct buf *, const char *, size_t);

#endif /* !BASE_NFC_H_ */
