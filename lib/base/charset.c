#include <errno.h>
#include <iconv.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/charset.h"
#include "base/utf8.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define DECLARED_MAX 1024 /* Where XML and HTML must have said it. */
#define PIECE 4096
#define NAME                                                   \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" \
	"0123456789._:+-"

/* clang-format off */
static const struct {
	const char *mark;
	size_t len;
	const char *name;
} marks[] = {
	{ "\xef\xbb\xbf", 3, "UTF-8" },
	{ "\xff\xfe\0\0", 4, "UTF-32LE" },
	{ "\0\0\xfe\xff", 4, "UTF-32BE" },
	{ "\xff\xfe", 2, "UTF-16LE" },
	{ "\xfe\xff", 2, "UTF-16BE" },
};

/* Names for which everybody takes windows-1252, which holds what they do. */
static const char *const latin1[] = {
	"iso-8859-1", "iso8859-1", "iso_8859-1", "latin1", "l1", "us-ascii",
	"ascii",
};
/* clang-format on */

/* The row of the mark at ${p}, or NELEM(marks). */
static size_t
mark_at(const char *p, size_t len)
{
	size_t i;

	for (i = 0; i < NELEM(marks); i++)
		if (len >= marks[i].len &&
		    memcmp(p, marks[i].mark, marks[i].len) == 0)
			break;
	return (i);
}

/* How many bytes at the end of ${p} begin a code point that is cut short. */
static size_t
begun(const char *p, size_t len)
{
	size_t n;
	unsigned char c;

	for (n = 1; n <= 3 && n <= len; n++) {
		c = (unsigned char)p[len - n];
		if (c >= 0xc0)
			return (n < (c < 0xe0          ? 2U
					    : c < 0xf0 ? 3U
						       : 4U)
				? n
				: 0);
		if (c < 0x80)
			break;
	}
	return (0);
}

static int
is_utf8(const char *p, size_t len, int whole)
{

	return (memchr(p, '\0', len) == NULL &&
	    utf8_valid(p, whole ? len : len - begun(p, len)));
}

/* Write the name at ${s}, if it is one that can be read.  Return 0 or -1. */
static int
take(const char *s, size_t len, char name[static CHARSET_SIZE])
{
	iconv_t cd;
	size_t i, n;

	while (len > 0 && strchr(" \t=\"'", *s) != NULL) {
		s++;
		len--;
	}
	for (n = 0; n < len && s[n] != '\0' && strchr(NAME, s[n]); n++)
		continue;
	if (n == 0 || n >= CHARSET_SIZE ||
	    (n < len && s[n] != '\0' && strchr(" \t\n;\"'?>", s[n]) == NULL))
		return (-1);
	memcpy(name, s, n);
	name[n] = '\0';
	for (i = 0; i < NELEM(latin1); i++)
		if (strcasecmp(name, latin1[i]) == 0)
			(void)snprintf(name, CHARSET_SIZE, "WINDOWS-1252");
	if ((cd = iconv_open("UTF-8", name)) == (iconv_t)-1)
		return (-1);
	(void)iconv_close(cd);
	return (0);
}

/* What is called ${key} in the text at ${p}. */
static int
find(const char *p, size_t len, const char *key, char name[static CHARSET_SIZE])
{
	size_t i, n = strlen(key);

	for (i = 0; i + n <= len; i++)
		if (strncasecmp(p + i, key, n) == 0 &&
		    take(p + i + n, len - i - n, name) == 0)
			return (0);
	return (-1);
}

static int
declared(
    const char *mime, const char *p, size_t len, char name[static CHARSET_SIZE])
{
	const char *more = mime != NULL ? strchr(mime, ';') : NULL;

	if (more != NULL && find(more, strlen(more), "charset=", name) == 0)
		return (0);
	if (len > DECLARED_MAX)
		len = DECLARED_MAX;
	if (len > 5 && memcmp(p, "<?xml", 5) == 0)
		return (find(p, len, "encoding=", name));
	if (mime != NULL && strncasecmp(mime, "text/html", 9) == 0)
		return (find(p, len, "charset=", name));
	return (-1);
}

/* Is there a byte that windows-1252 does not have, or that no text has? */
static int
is_odd(const char *p, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (p[i] == '\0' || strchr("\x81\x8d\x8f\x90\x9d", p[i]) ||
		    (p[i] > 0 && p[i] < 0x20 &&
			!strchr("\b\t\n\f\r\x1b", p[i])))
			return (1);
	return (0);
}

enum charset_rc
charset_of(const char *mime, const char *p, size_t len, int whole,
    char name[static CHARSET_SIZE])
{
	size_t i = mark_at(p, len);

	if (i < NELEM(marks)) {
		(void)snprintf(name, CHARSET_SIZE, "%s", marks[i].name);
		return (CHARSET_SURE);
	}
	if (is_utf8(p, len, whole)) {
		(void)snprintf(name, CHARSET_SIZE, "UTF-8");
		return (CHARSET_SURE);
	}
	if (declared(mime, p, len, name) == 0)
		return (CHARSET_SURE);
	(void)snprintf(name, CHARSET_SIZE, "WINDOWS-1252");
	return (is_odd(p, len) ? CHARSET_NONE : CHARSET_REST);
}

/* How many bytes are skipped where they cannot be read. */
static size_t
unit(const char *name)
{

	return (strncasecmp(name, "UTF-16", 6) == 0   ? 2
		: strncasecmp(name, "UTF-32", 6) == 0 ? 4
						      : 1);
}

/* Append what is converted, U+FFFD in place of ${skip} bytes that cannot be. */
static int
convert(
    struct buf *b, iconv_t cd, char **in, size_t *left, size_t max, size_t skip)
{
	char piece[PIECE], *out;
	size_t room, had = b->len, before;

	while (*left > 0) {
		before = *left;
		room = max - (b->len - had);
		out = piece;
		if (room > sizeof(piece))
			room = sizeof(piece);
		errno = 0;
		(void)iconv(cd, in, left, &out, &room);
		if (buf_put(b, piece, (size_t)(out - piece)))
			return (-1);
		if (errno == EILSEQ || errno == EINVAL) {
			if (max - (b->len - had) < 3)
				return (0);
			if (skip > *left)
				skip = *left;
			*in += skip;
			*left -= skip;
			if (utf8_put(b, 0xfffd))
				return (-1);
		} else if (*left == before)
			return (0); /* No room for another. */
	}
	return (0);
}

int
charset_put(struct buf *b, const char *name, const char *p, size_t len,
    size_t max, size_t *used)
{
	size_t i = mark_at(p, len), left, skip = 0;
	char *in;
	iconv_t cd;
	int rc;

	if (i < NELEM(marks) && strcasecmp(name, marks[i].name) == 0)
		skip = marks[i].len;
	if (strcasecmp(name, "UTF-8") == 0) {
		left = utf8_cut(p + skip, len - skip, max);
		*used = skip + left;
		return (utf8_scrub(b, p + skip, left));
	}
	if ((cd = iconv_open("UTF-8", name)) == (iconv_t)-1)
		return (-1);
	in = (char *)(uintptr_t)(p + skip);
	left = len - skip;
	rc = convert(b, cd, &in, &left, max, unit(name));
	(void)iconv_close(cd);
	*used = len - left;
	return (rc);
}
