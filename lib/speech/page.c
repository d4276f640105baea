#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "speech/page.h"

#define PREFIX "page_"
#define VERSION '1'

/*
 * Inside a token: the version, the direction ('a' or 'd'), 16 hex digits of the
 * time, the id; in base64url without padding.
 */
#define TIMELEN 16
#define HEADLEN (2 + TIMELEN)
#define TEXTMAX (HEADLEN + FILE_IDMAX + 1)

/* Ids are made of the same characters. */
static const char b64[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* Write the ${len} bytes at ${s} to ${out}, which is large enough. */
static void
encode(const char *s, size_t len, char *out)
{
	uint32_t acc = 0;
	unsigned int bits = 0;
	size_t i;

	for (i = 0; i < len; i++) {
		acc = (acc << 8) | (unsigned char)s[i];
		for (bits += 8; bits >= 6; bits -= 6)
			*out++ = b64[(acc >> (bits - 6)) & 63];
	}
	if (bits > 0)
		*out++ = b64[(acc << (6 - bits)) & 63];
	*out = '\0';
}

/*
 * Decode ${s} into ${out} and a NUL.  Return -1 if it is too long, holds
 * another character, or has bits left over: one place has one token.
 */
static int
decode(const char *s, char out[static TEXTMAX])
{
	uint32_t acc = 0;
	unsigned int bits = 0;
	const char *p;
	size_t n = 0;

	for (; *s != '\0'; s++) {
		if ((p = strchr(b64, *s)) == NULL)
			return (-1);
		acc = (acc << 6) | (uint32_t)(p - b64);
		if ((bits += 6) < 8)
			continue;
		bits -= 8;
		if (n == TEXTMAX - 1)
			return (-1);
		out[n++] = (char)(acc >> bits);
	}
	out[n] = '\0';
	if (bits >= 6 || (acc & ((1U << bits) - 1)) != 0)
		return (-1);
	return (strlen(out) == n ? 0 : -1);
}

void
page_write(
    const struct file_pos *pos, int ascending, char out[static PAGE_TOKENMAX])
{
	char text[TEXTMAX];
	int n;

	n = snprintf(text, sizeof(text), "%c%c%016" PRIx64 "%s", VERSION,
	    ascending ? 'a' : 'd', pos->created, pos->id);
	(void)snprintf(out, PAGE_TOKENMAX, PREFIX);
	encode(text, (size_t)n, out + strlen(PREFIX));
}

/* Read exactly TIMELEN lower-case hex digits. */
static int
read_time(const char *s, uint64_t *x)
{
	static const char hex[] = "0123456789abcdef";

	*x = 0;
	if (strspn(s, hex) < TIMELEN)
		return (-1);
	for (size_t i = 0; i < TIMELEN; i++)
		*x = *x << 4 | (uint64_t)(strchr(hex, s[i]) - hex);
	return (0);
}

int
page_read(const char *s, struct file_pos *pos, int *ascending)
{
	char text[TEXTMAX];
	const char *id = text + HEADLEN;
	uint64_t created;

	if (strncmp(s, PREFIX, strlen(PREFIX)) != 0 ||
	    decode(s + strlen(PREFIX), text))
		return (-1);
	if (strlen(text) <= HEADLEN || text[0] != VERSION ||
	    (text[1] != 'a' && text[1] != 'd'))
		return (-1);
	if (read_time(text + 2, &created) || id[strspn(id, b64)] != '\0')
		return (-1);
	pos->created = created;
	(void)snprintf(pos->id, sizeof(pos->id), "%s", id);
	*ascending = text[1] == 'a';
	return (0);
}
