#include <string.h>

#include "base/buf.h"
#include "base/jlines.h"

/* clang-format off */
static const struct {
	const char *raw, *escaped;
	size_t len;
} rows[] = {
	{ "\xe2\x80\xa8", "\\u2028", 3 },
	{ "\xe2\x80\xa9", "\\u2029", 3 },
	{ "\xc2\x85", "\\u0085", 2 },
};
/* clang-format on */
#define NROWS (sizeof(rows) / sizeof(rows[0]))

int
jlines_has(const char *p, size_t len)
{
	size_t i;

	for (i = 0; i < NROWS; i++)
		if (len > 0 && memmem(p, len, rows[i].raw, rows[i].len) != NULL)
			return (1);
	return (0);
}

int
jlines_put(struct buf *b, const char *p, size_t len)
{
	const char *end = p + len, *from = p;
	size_t i;

	while (p < end) {
		for (i = 0; i < NROWS; i++)
			if ((size_t)(end - p) >= rows[i].len &&
			    memcmp(p, rows[i].raw, rows[i].len) == 0)
				break;
		if (i == NROWS) {
			p++;
			continue;
		}
		if ((p > from && buf_put(b, from, (size_t)(p - from))) ||
		    buf_puts(b, rows[i].escaped))
			return (-1);
		p += rows[i].len;
		from = p;
	}
	return (p > from ? buf_put(b, from, (size_t)(p - from)) : 0);
}

int
jlines_mend(struct buf *b)
{
	struct buf mended = {.max = 3 * b->max};
	int rc;

	if (!jlines_has(b->p, b->len))
		return (0);
	rc = jlines_put(&mended, b->p, b->len);
	mended.max = b->max;
	buf_free(b);
	*b = mended;
	return (rc);
}
