/*
 * Texts of any encoding: the first line of an input is its media type, the rest
 * the text, whatever it is.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/charset.h"
#include "base/utf8.h"

#define MIME_MAX 255
#define TEXT_MAX 4096

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
must(int cond)
{

	if (!cond)
		abort();
}

/* Whatever it is, what is read of it is bounded, and clean but for NULs. */
static void
read_text(const char *mime, const char *p, size_t len, int whole, size_t max)
{
	struct buf b = BUF_INIT(4 * TEXT_MAX);
	char name[CHARSET_SIZE];
	size_t used;

	(void)charset_of(mime, p, len, whole, name);
	must(name[0] != '\0' && strlen(name) < CHARSET_SIZE);
	must(strpbrk(name, "/ '\"$`\\;&|<>\n") == NULL);
	must(charset_put(&b, name, p, len, max, &used) == 0);
	must(used <= len);
	must(strcmp(name, "UTF-8") == 0 || b.len <= max);
	must(utf8_valid(b.p != NULL ? b.p : "", b.len));
	buf_free(&b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const uint8_t *nl = len > 0 ? memchr(data, '\n', len) : NULL;
	size_t n = nl != NULL ? (size_t)(nl - data) : 0;
	char mime[MIME_MAX + 1], *text;

	if (nl == NULL || n > MIME_MAX || len - n - 1 > TEXT_MAX)
		return (0);
	memcpy(mime, data, n);
	mime[n] = '\0';
	if ((text = malloc(len - n)) == NULL)
		abort();
	memcpy(text, nl + 1, len - n - 1);
	read_text(mime, text, len - n - 1, 1, TEXT_MAX);
	read_text(mime, text, len - n - 1, 0, 7);
	free(text);
	return (0);
}
