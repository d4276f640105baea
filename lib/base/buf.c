#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#define BUF_FIRST 256

/* Make room for ${more} bytes and a NUL. */
static int
room(struct buf *b, size_t more)
{
	size_t cap;
	char *p;

	if (b->spoiled || b->len > b->max || more > b->max - b->len ||
	    b->len + more == (size_t)-1)
		goto err0;
	if (b->len + more < b->cap)
		return (0);

	cap = b->cap > 0 ? b->cap : BUF_FIRST;
	while (cap <= b->len + more)
		cap = cap > (size_t)-1 / 2 ? b->len + more + 1 : cap * 2;
	if (cap > b->max)
		cap = b->max + 1;
	if ((p = realloc(b->p, cap)) == NULL)
		goto err0;
	b->p = p;
	b->cap = cap;
	return (0);

err0:
	b->spoiled = 1;
	return (-1);
}

int
buf_put(struct buf *b, const void *p, size_t len)
{

	if (room(b, len))
		return (-1);
	if (len > 0)
		memcpy(b->p + b->len, p, len);
	b->len += len;
	b->p[b->len] = '\0';
	return (0);
}

int
buf_puts(struct buf *b, const char *s)
{

	return (buf_put(b, s, strlen(s)));
}

int
buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (len < 0) {
		b->spoiled = 1;
		return (-1);
	}
	if (room(b, (size_t)len))
		return (-1);
	va_start(ap, fmt);
	(void)vsnprintf(b->p + b->len, (size_t)len + 1, fmt, ap);
	va_end(ap);
	b->len += (size_t)len;
	return (0);
}

int
buf_ok(const struct buf *b)
{

	return (!b->spoiled);
}

void
buf_drop(struct buf *b, size_t n)
{

	if (n == 0 || b->p == NULL)
		return;
	if (n > b->len)
		n = b->len;
	memmove(b->p, b->p + n, b->len - n + 1);
	b->len -= n;
}

void
buf_free(struct buf *b)
{

	free(b->p);
	b->p = NULL;
	b->len = b->cap = 0;
	b->spoiled = 0;
}
