#include <stdlib.h>
#include <string.h>

#include "jail/words.h"

int
words_put(struct buf *b, const char *s, size_t len)
{

	if (buf_printf(b, "%zu:", len) || buf_put(b, s, len))
		return (-1);
	return (0);
}

/* The word that begins ${s}; step behind it.  NULL: there is none. */
static const char *
next(const char **s, size_t *len)
{
	const char *p = *s;
	size_t n = 0;

	if (*p == '0' && p[1] != ':')
		return (NULL);
	for (; *p >= '0' && *p <= '9' && p - *s < 8; p++)
		n = n * 10 + (size_t)(*p - '0');
	if (p == *s || *p != ':' || strnlen(p + 1, n) != n)
		return (NULL);
	*len = n;
	*s = p + 1 + n;
	return (p + 1);
}

char **
words_read(const char *s, size_t most, size_t *n)
{
	const char *p = s != NULL ? s : "", *w;
	size_t len, room = strlen(p), i;
	char **list, *text;

	for (*n = 0; *p != '\0'; ++*n)
		if (*n == most || next(&p, &len) == NULL)
			return (NULL);
	/* Each word has given up at least two bytes: a NUL takes one. */
	if ((list = malloc((*n + 1) * sizeof(*list) + room + 1)) == NULL)
		return (NULL);
	text = (char *)(list + *n + 1);
	p = s;
	for (i = 0; i < *n; i++) {
		w = next(&p, &len);
		list[i] = memcpy(text, w, len);
		text[len] = '\0';
		text += len + 1;
	}
	list[i] = NULL;
	return (list);
}
