#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"

#define REPLACEMENT 0xfffdU

/* By first byte: length, and what the second byte may be at least and most. */
static const struct {
	unsigned char first, last, len, low, high;
} kinds[] = {
    /* clang-format off */
	{ 0x00, 0x7f, 1, 0x00, 0x00 },
	{ 0xc2, 0xdf, 2, 0x80, 0xbf },
	{ 0xe0, 0xe0, 3, 0xa0, 0xbf },
	{ 0xe1, 0xec, 3, 0x80, 0xbf },
	{ 0xed, 0xed, 3, 0x80, 0x9f },
	{ 0xee, 0xef, 3, 0x80, 0xbf },
	{ 0xf0, 0xf0, 4, 0x90, 0xbf },
	{ 0xf1, 0xf3, 4, 0x80, 0xbf },
	{ 0xf4, 0xf4, 4, 0x80, 0x8f }
    /* clang-format on */
};

/*
 * The length of the code point at ${s}; or 0 with ${bad} set to how many bytes
 * are a broken piece (as much of a code point as there is, at least one).
 */
static size_t
piece(const unsigned char *s, size_t len, size_t *bad)
{
	size_t i, k;

	*bad = len > 0;
	if (len == 0)
		return (0);
	if (s[0] < 0x80)
		return (1);
	for (k = 1; k < sizeof(kinds) / sizeof(kinds[0]); k++)
		if (s[0] >= kinds[k].first && s[0] <= kinds[k].last)
			break;
	if (k == sizeof(kinds) / sizeof(kinds[0]))
		return (0);
	if (len < 2 || s[1] < kinds[k].low || s[1] > kinds[k].high)
		return (0);
	for (i = 2; i < kinds[k].len; i++) {
		*bad = i;
		if (i >= len || (s[i] & 0xc0) != 0x80)
			return (0);
	}
	return (kinds[k].len);
}

size_t
utf8_next(const char *s, size_t len, uint32_t *cp)
{
	const unsigned char *u = (const unsigned char *)s;
	size_t bad, i, n;

	if ((n = piece(u, len, &bad)) == 0)
		return (0);
	*cp = n == 1 ? u[0] : u[0] & (0x7fU >> n);
	for (i = 1; i < n; i++)
		*cp = *cp << 6 | (u[i] & 0x3fU);
	return (n);
}

/* How many bytes at ${s}, eight by eight, are ASCII. */
static size_t
ascii(const char *s, size_t len)
{
	uint64_t w;
	size_t i;

	for (i = 0; i + sizeof(w) <= len; i += sizeof(w)) {
		memcpy(&w, s + i, sizeof(w));
		if (w & 0x8080808080808080ULL)
			break;
	}
	return (i);
}

int
utf8_valid(const char *s, size_t len)
{
	size_t bad, i, n;

	for (i = ascii(s, len); i < len; i += n) {
		n = piece((const unsigned char *)s + i, len - i, &bad);
		if (n == 0)
			return (0);
		if (n == 1)
			n += ascii(s + i + 1, len - i - 1);
	}
	return (1);
}

size_t
utf8_count(const char *s, size_t len)
{
	size_t i, n = 0;

	for (i = 0; i < len; i++)
		n += ((unsigned char)s[i] & 0xc0) != 0x80;
	return (n);
}

size_t
utf8_cut(const char *s, size_t len, size_t max)
{
	size_t back;

	if (len <= max)
		return (len);
	for (back = 0; back < 3 && back < max; back++)
		if (((unsigned char)s[max - back] & 0xc0) != 0x80)
			break;
	return (max - back);
}

size_t
utf8_encode(uint32_t cp, char s[static 4])
{

	if (cp > 0x10ffff || (cp >= 0xd800 && cp <= 0xdfff))
		cp = REPLACEMENT;
	if (cp < 0x80) {
		s[0] = (char)cp;
		return (1);
	}
	if (cp < 0x800) {
		s[0] = (char)(0xc0 | cp >> 6);
		s[1] = (char)(0x80 | (cp & 0x3f));
		return (2);
	}
	if (cp < 0x10000) {
		s[0] = (char)(0xe0 | cp >> 12);
		s[1] = (char)(0x80 | (cp >> 6 & 0x3f));
		s[2] = (char)(0x80 | (cp & 0x3f));
		return (3);
	}
	s[0] = (char)(0xf0 | cp >> 18);
	s[1] = (char)(0x80 | (cp >> 12 & 0x3f));
	s[2] = (char)(0x80 | (cp >> 6 & 0x3f));
	s[3] = (char)(0x80 | (cp & 0x3f));
	return (4);
}

int
utf8_put(struct buf *b, uint32_t cp)
{
	char s[4];

	return (buf_put(b, s, utf8_encode(cp, s)));
}

int
utf8_latin1(struct buf *b, const char *s, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (utf8_put(b, (unsigned char)s[i]))
			return (-1);
	return (0);
}

int
utf8_scrub(struct buf *b, const char *s, size_t len)
{
	size_t bad, i, n, start = 0;
	int rc;

	for (i = 0; i < len; i += n) {
		n = piece((const unsigned char *)s + i, len - i, &bad);
		if (n > 0 && s[i] != '\0')
			continue;
		rc = buf_put(b, s + start, i - start);
		if (n == 0) {
			rc = rc || utf8_put(b, REPLACEMENT);
			n = bad;
		}
		if (rc)
			return (-1);
		start = i + n;
	}
	return (buf_put(b, s + start, len - start));
}
