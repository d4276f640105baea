#include <openssl/evp.h>

#include <string.h>

#include "base/base64.h"

#define CHUNK (3U << 20) /* The library counts in int. */

void
base64_encode(const void *p, size_t len, char *out)
{
	const unsigned char *s = p;
	size_t n;

	do {
		n = len < CHUNK ? len : CHUNK;
		out += EVP_EncodeBlock((unsigned char *)out, s, (int)n);
		s += n;
		len -= n;
	} while (len > 0);
}

int
base64_decode(const char *s, size_t len, unsigned char *out, size_t *n)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz"
				     "0123456789+/";
	size_t pad = 0, at, take;

	while (pad < 2 && pad < len && s[len - 1 - pad] == '=')
		pad++;
	if (len % 4 != 0)
		return (-1);
	for (at = 0; at < len - pad; at++)
		if (s[at] == '\0' || strchr(digits, s[at]) == NULL)
			return (-1);
	for (at = 0, *n = 0; at < len; at += take) {
		take = len - at < 4 * CHUNK ? len - at : 4 * CHUNK;
		if (EVP_DecodeBlock(
			out + *n, (const unsigned char *)s + at, (int)take) < 0)
			return (-1);
		*n += take / 4 * 3;
	}
	*n -= pad;
	return (0);
}
