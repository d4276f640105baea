#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/path.h"
#include "base/utf8.h"

#include "http/filename.h"
#include "http/place.h"

#define NAME_CEILING 65536

static int
is_control(const char *s, size_t len)
{

	for (size_t i = 0; i < len; i++)
		if ((unsigned char)s[i] < ' ' || s[i] == 0x7f)
			return (1);
	return (0);
}

int
place_ok(const char *s, size_t len)
{
	const char *end = s + len, *p, *slash;
	size_t n = 1;

	if (len == 0 || !utf8_valid(s, len) || is_control(s, len) ||
	    memchr(s, '\\', len) != NULL || utf8_count(s, len) > PLACE_CHARS ||
	    (len >= 2 && s[1] == ':' && isalpha((unsigned char)s[0])))
		return (0);
	for (p = s;; p = slash + 1, n++) {
		slash = memchr(p, '/', (size_t)(end - p));
		const size_t seg = (size_t)((slash != NULL ? slash : end) - p);

		if (seg == 0 || seg > PLACE_NAME || *p == '.' ||
		    n > PLACE_LEVELS)
			return (0);
		if (slash == NULL)
			return (1);
	}
}

const char *
place_base(const char *place)
{
	const char *slash = strrchr(place, '/');

	return (slash != NULL ? slash + 1 : place);
}

/* The last component of the ${len} bytes at ${s}, made safe. */
static void
flatten(
    const char *s, size_t len, const char *mime, char place[static PLACE_SIZE])
{
	size_t at = len, n, i;

	while (at > 0 && s[at - 1] != '/' && s[at - 1] != '\\')
		at--;
	s += at;
	/* In bytes a segment holds less than the characters of a place. */
	n = utf8_cut(s, len - at, PLACE_NAME);
	memcpy(place, s, n);
	place[n] = '\0';
	for (i = 0; i < n; i++)
		if (is_control(place + i, 1) || (n == 2 && place[i] == ':'))
			place[i] = '_';
	if (*place == '.')
		*place = '_';
	if (!place_ok(place, n))
		(void)snprintf(place, PLACE_SIZE, "unnamed%s", path_ext(mime));
}

int
place_form(const struct filename_raw *raw, const char *mime,
    char place[static PLACE_SIZE])
{
	struct buf b = BUF_INIT(NAME_CEILING);
	int rc;

	if ((rc = filename_decode(raw, &b)) == 0) {
		if (place_ok(b.len > 0 ? b.p : "", b.len)) {
			memcpy(place, b.p, b.len);
			place[b.len] = '\0';
		} else {
			flatten(b.len > 0 ? b.p : "", b.len, mime, place);
		}
	}
	buf_free(&b);
	return (rc);
}
