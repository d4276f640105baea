#include <string.h>

#include "base/buf.h"

#include "base/jput.h"

static int
put_escape(struct buf *b, unsigned char c)
{

	switch (c) {
	case '"':
		return (buf_puts(b, "\\\""));
	case '\\':
		return (buf_puts(b, "\\\\"));
	case '\n':
		return (buf_puts(b, "\\n"));
	case '\r':
		return (buf_puts(b, "\\r"));
	case '\t':
		return (buf_puts(b, "\\t"));
	default:
		return (buf_printf(b, "\\u%04x", c));
	}
}

int
jput_chars(struct buf *b, const char *s, size_t len)
{
	size_t i, done = 0;
	unsigned char c;

	for (i = 0; i < len; i++) {
		c = (unsigned char)s[i];
		if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7f)
			continue;
		if ((i > done && buf_put(b, s + done, i - done)) ||
		    put_escape(b, c))
			return (-1);
		done = i + 1;
	}
	return (len > done ? buf_put(b, s + done, len - done) : 0);
}

int
jput_text(struct buf *b, const char *s, size_t len)
{

	if (buf_put(b, "\"", 1) || jput_chars(b, s, len))
		return (-1);
	return (buf_put(b, "\"", 1));
}

int
jput_str(struct buf *b, const char *s)
{

	if (s == NULL)
		return (buf_puts(b, "null"));
	return (jput_text(b, s, strlen(s)));
}
