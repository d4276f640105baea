#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/path.h"
#include "http/mediatype.h"
#include "http/param.h"

/* The charset among the parameters at ${s}, if it is a token. */
static void
find_charset(const char *s, const char *end, struct buf *charset)
{
	struct param param;

	while (param_next(&s, end, &param) == PARAM_OK) {
		if (!param_is(&param, "charset"))
			continue;
		if (param_value(charset, &param) ||
		    param_token(charset->p, charset->len) != charset->len)
			buf_free(charset);
		return;
	}
}

/* The length of the type/subtype at ${s}, or 0. */
static size_t
type_len(const char *s, size_t len)
{
	size_t type, sub;

	type = param_token(s, len);
	if (type == 0 || type == len || s[type] != '/')
		return (0);
	if ((sub = param_token(s + type + 1, len - type - 1)) == 0)
		return (0);
	return (type + 1 + sub);
}

static const char *
skip_space(const char *s, const char *end)
{

	while (s < end && (*s == ' ' || *s == '\t'))
		s++;
	return (s);
}

static int
has_control(const char *s, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (((unsigned char)s[i] < 0x20 && s[i] != '\t') ||
		    s[i] == 0x7f)
			return (1);
	return (0);
}

void
mediatype_clean(const char *s, size_t len, char out[static MEDIATYPE_SIZE])
{
	struct buf charset = BUF_INIT(MEDIATYPE_MAX);
	const char *end, *p;
	size_t i, n;

	(void)snprintf(out, MEDIATYPE_SIZE, "%s", MEDIATYPE_NONE);
	if (s == NULL)
		return;
	end = s + len;
	s = skip_space(s, end);
	n = type_len(s, (size_t)(end - s));
	if (n == 0 || n > MEDIATYPE_MAX || has_control(s, (size_t)(end - s)))
		return;
	p = skip_space(s + n, end);
	if (p < end && *p != ';')
		return;
	find_charset(s + n, end, &charset);
	if (n + (charset.len > 0 ? 10 + charset.len : 0) > MEDIATYPE_MAX)
		goto done;
	for (i = 0; i < n; i++)
		out[i] =
		    (char)(s[i] >= 'A' && s[i] <= 'Z' ? s[i] | 0x20 : s[i]);
	(void)snprintf(out + n, MEDIATYPE_SIZE - n, "%s%s",
	    charset.len > 0 ? "; charset=" : "",
	    charset.len > 0 ? charset.p : "");

done:
	buf_free(&charset);
}

void
mediatype_choose(const char *s, size_t len, const char *name,
    char out[static MEDIATYPE_SIZE])
{
	static const char none[] = MEDIATYPE_NONE;
	const char *mime;

	mediatype_clean(s, len, out);
	if (strncmp(out, none, sizeof(none) - 1) != 0 ||
	    (out[sizeof(none) - 1] != '\0' && out[sizeof(none) - 1] != ';'))
		return;
	if ((mime = path_mime(name)) == NULL)
		mime = none;
	(void)snprintf(out, MEDIATYPE_SIZE, "%s", mime);
}
