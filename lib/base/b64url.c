#include <string.h>

#include "base/b64url.h"

/* The value of one character, or -1. */
static int
digit(char c)
{

	if (c >= 'A' && c <= 'Z')
		return (c - 'A');
	if (c >= 'a' && c <= 'z')
		return (c - 'a' + 26);
	if (c >= '0' && c <= '9')
		return (c - '0' + 52);
	return (c == '-' ? 62 : c == '_' ? 63 : -1);
}

int
b64url_decode(
    const char *s, size_t len, unsigned char *out, size_t max, size_t *n)
{
	unsigned int bits = 0, have = 0;
	size_t i, at = 0;
	int d;

	if (len % 4 == 1 || len / 4 * 3 + (len % 4 + 1) / 2 > max + 1)
		return (-1);
	for (i = 0; i < len; i++) {
		if ((d = digit(s[i])) == -1)
			return (-1);
		bits = bits << 6 | (unsigned int)d;
		if ((have += 6) < 8)
			continue;
		have -= 8;
		if (at == max)
			return (-1);
		out[at++] = (unsigned char)(bits >> have);
		bits &= (1U << have) - 1;
	}
	*n = at;
	return (bits == 0 ? 0 : -1);
}
