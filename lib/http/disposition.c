#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "http/disposition.h"
#include "http/filename.h"

/* One '_' a character that cannot stand between the quotes. */
static size_t
ascii_form(const char *name, char out[static FILENAME_MAX_CHARS + 1])
{
	size_t len = strlen(name), n = 0, step;
	uint32_t cp;

	for (; len > 0 && n < FILENAME_MAX_CHARS; name += step, len -= step) {
		if ((step = utf8_next(name, len, &cp)) == 0) {
			step = 1;
			cp = 0;
		}
		if (cp < 0x20 || cp > 0x7e || cp == '"' || cp == '\\')
			cp = '_';
		out[n++] = (char)cp;
	}
	out[n] = '\0';
	return (n);
}

/* The bytes that RFC 8187 leaves bare. */
static int
attr_char(unsigned char c)
{

	return ((c >= '0' && c <= '9') ||
	    ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
	    (c != '\0' && strchr("!#$&+-.^_`|~", c) != NULL));
}

/* Percent-encode ${name}; return the length, which stops short of ${max}. */
static size_t
encode(const char *name, char *out, size_t max)
{
	size_t n = 0;

	for (; *name != '\0' && n + 3 < max; name++) {
		if (attr_char((unsigned char)*name))
			out[n++] = *name;
		else
			n += (size_t)snprintf(
			    out + n, 4, "%%%02X", (unsigned char)*name);
	}
	out[n] = '\0';
	return (n);
}

void
disposition_attachment(const char *name, char value[static DISPOSITION_SIZE])
{
	static const char form[] =
	    "attachment; filename=\"%.*s%s\"; filename*=UTF-8''%s";
	char ascii[FILENAME_MAX_CHARS + 1], ext[3 * FILENAME_SIZE];
	size_t ascii_len = ascii_form(name, ascii), head, room, tail = 0;

	if (strcmp(ascii, name) == 0) {
		(void)snprintf(value, DISPOSITION_SIZE,
		    "attachment; filename=\"%s\"", ascii);
		return;
	}
	room = DISPOSITION_MAX - (sizeof(form) - 1 - 8) -
	    encode(name, ext, sizeof(ext));
	head = ascii_len;
	if (head > room) {
		/* The end matters more: it holds the extension. */
		tail = room / 2 < 16 ? room / 2 : 16;
		head = room - tail;
	}
	(void)snprintf(value, DISPOSITION_SIZE, form, (int)head, ascii,
	    ascii + ascii_len - tail, ext);
}
