#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/path.h"
#include "base/utf8.h"
#include "http/filename.h"
#include "http/param.h"

/* A name as long as the header that held it, every byte made two. */
#define NAME_CEILING 65536

static int
hex_digit(char c)
{

	if (c >= '0' && c <= '9')
		return (c - '0');
	if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
		return ((c | 0x20) - 'a' + 10);
	return (-1);
}

/* The byte that the three at ${s} escape, or -1. */
static int
escaped(const char *s, size_t len)
{
	int hi, lo;

	if (len < 3 || s[0] != '%' || (hi = hex_digit(s[1])) == -1 ||
	    (lo = hex_digit(s[2])) == -1)
		return (-1);
	return (hi << 4 | lo);
}

/* Decode RFC 8187 value-chars; -1 if they are not. */
static int
value_chars(struct buf *b, const char *s, size_t len)
{
	size_t i;
	char c;
	int x;

	for (i = 0; i < len; i++) {
		if ((x = escaped(s + i, len - i)) >= 0) {
			c = (char)x;
			i += 2;
		} else if (param_token(s + i, 1) == 1 &&
		    strchr("*'%", s[i]) == NULL) {
			c = s[i];
		} else {
			return (-1);
		}
		if (buf_put(b, &c, 1))
			return (-1);
	}
	return (0);
}

/*
 * Append what filename* says as UTF-8: charset'language'value-chars.  Return 0,
 * or -1 with ${b} as it was if it is not valid.
 */
static int
ext_value(struct buf *b, const char *s, size_t len)
{
	struct buf raw = BUF_INIT(NAME_CEILING);
	const char *q1, *q2, *end = s + len;
	size_t charset;
	int rc = -1;

	if ((q1 = memchr(s, '\'', len)) == NULL ||
	    (q2 = memchr(q1 + 1, '\'', (size_t)(end - q1) - 1)) == NULL)
		return (-1);
	charset = (size_t)(q1 - s);
	if (value_chars(&raw, q2 + 1, (size_t)(end - q2) - 1))
		goto done;
	if (charset == 5 && strncasecmp(s, "utf-8", 5) == 0) {
		if (utf8_valid(raw.p, raw.len))
			rc = buf_put(b, raw.p, raw.len);
	} else if (charset == 10 && strncasecmp(s, "iso-8859-1", 10) == 0) {
		rc = utf8_latin1(b, raw.p, raw.len);
	}

done:
	buf_free(&raw);
	return (rc);
}

/* Append ${s} with the three escapes decoded that browsers make. */
static int
form_value(struct buf *b, const char *s, size_t len)
{
	size_t i;
	char c;
	int x;

	for (i = 0; i < len; i++) {
		x = escaped(s + i, len - i);
		if (x == '"' || x == '\r' || x == '\n') {
			c = (char)x;
			i += 2;
		} else {
			c = s[i];
		}
		if (buf_put(b, &c, 1))
			return (-1);
	}
	return (0);
}

/* Clean-up of the UTF-8 text in ${b}, from the NUL on. */
static enum filename_rc
finish(const struct buf *b, const char *mime, int strict,
    char name[static FILENAME_SIZE])
{
	const char *s = b->p == NULL ? "" : b->p;
	size_t i, len = b->len;

	if (memchr(s, '\0', len) != NULL)
		return (FILENAME_NUL);
	for (i = len; i > 0 && s[i - 1] != '/' && s[i - 1] != '\\';)
		i--;
	s += i;
	len -= i;
	if (strspn(s, " ") == len || strcmp(s, ".") == 0 ||
	    strcmp(s, "..") == 0) {
		(void)snprintf(
		    name, FILENAME_SIZE, "unnamed%s", path_ext(mime));
		return (FILENAME_OK);
	}
	if (strict && strpbrk(s, "<>:\"|?*") != NULL)
		return (FILENAME_STRICT);
	if (utf8_count(s, len) > FILENAME_MAX_CHARS)
		return (FILENAME_LONG);
	for (i = 0; i < len; i++)
		name[i] =
		    (unsigned char)s[i] < 0x20 || s[i] == 0x7f ? '_' : s[i];
	name[len] = '\0';
	return (FILENAME_OK);
}

enum filename_rc
filename_text(const char *s, size_t len, const char *mime, int strict,
    char name[static FILENAME_SIZE])
{
	struct buf b = BUF_INIT(NAME_CEILING);
	enum filename_rc rc;

	if (len > NAME_CEILING / 2)
		return (FILENAME_LONG);
	if (utf8_valid(s, len) ? buf_put(&b, s, len) : utf8_latin1(&b, s, len))
		rc = FILENAME_MEMORY;
	else
		rc = finish(&b, mime, strict, name);
	buf_free(&b);
	return (rc);
}

int
filename_decode(const struct filename_raw *raw, struct buf *out)
{
	struct buf b = BUF_INIT(NAME_CEILING);
	int rc;

	if (raw->ext != NULL && ext_value(out, raw->ext, raw->ext_len) == 0)
		return (0);
	if (raw->plain == NULL)
		return (0);
	if ((rc = form_value(&b, raw->plain, raw->plain_len)) == 0 && b.len > 0)
		rc = utf8_valid(b.p, b.len) ? buf_put(out, b.p, b.len)
					    : utf8_latin1(out, b.p, b.len);
	buf_free(&b);
	return (rc);
}

enum filename_rc
filename_form(const struct filename_raw *raw, const char *mime, int strict,
    char name[static FILENAME_SIZE])
{
	struct buf b = BUF_INIT(NAME_CEILING);
	enum filename_rc rc = FILENAME_MEMORY;

	if (filename_decode(raw, &b) == 0)
		rc = finish(&b, mime, strict, name);
	buf_free(&b);
	return (rc);
}
