#include <stdlib.h>

#include <uninorm.h>

#include "base/buf.h"
#include "base/nfc.h"

/* No code point from U+0300, the first combining mark, begins below this. */
#define FIRST_MARK_BYTE 0xcc

int
nfc_put(struct buf *b, const char *s, size_t len)
{
	uint8_t *composed;
	size_t i, n;
	int rc;

	/* Text below the first combining mark is composed already. */
	for (i = 0; i < len && (unsigned char)s[i] < FIRST_MARK_BYTE; i++)
		continue;
	if (i == len)
		return (buf_put(b, s, len));
	if (len > b->max ||
	    (composed = u8_normalize(
		 UNINORM_NFC, (const uint8_t *)s, len, NULL, &n)) == NULL) {
		b->spoiled = 1;
		return (-1);
	}
	rc = buf_put(b, (const char *)composed, n);
	free(composed);
	return (rc);
}
