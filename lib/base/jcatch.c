#include <string.h>

#include "base/buf.h"
#include "base/jcatch.h"

enum {
	BEFORE, /* Of the whole. */
	AT_KEY,
	AT_COLON, /* Of the key. */
	AT_VALUE, /* Of the key as well. */
	OTHER,
	INSIDE, /* The object. */
	DONE
};

/* Within a string: how many of the ${len} bytes at ${p} do not end it. */
static size_t
plain(const char *p, size_t len)
{
	size_t n = 0;

	while (n < len && p[n] != '"' && p[n] != '\\')
		n++;
	return (n);
}

/* Does the key that has just ended match? */
static int
is_wanted(const struct jcatch *J)
{

	return (J->len == J->same && J->key[J->same] == '\0');
}

/* Bytes of a string, as many as are alike; return how many. */
static size_t
take_string(struct jcatch *J, const char *p, size_t len)
{
	size_t i, n;

	if (J->escape) {
		J->escape = 0;
		J->len++; /* No key of ours has any. */
		return (1);
	}
	if (*p == '"') {
		J->string = 0;
		if (J->state == AT_KEY)
			J->state = is_wanted(J) ? AT_COLON : OTHER;
		return (1);
	}
	if (*p == '\\') {
		J->escape = 1;
		return (1);
	}
	n = plain(p, len);
	for (i = 0; J->state == AT_KEY && i < n; i++, J->len++)
		if (J->same == J->len && p[i] != '\0' &&
		    J->key[J->same] == p[i])
			J->same++;
	return (n);
}

/* An object or array begins. */
static void
take_open(struct jcatch *J, char c)
{

	J->depth++;
	if (J->state == BEFORE)
		J->state = c == '{' ? AT_KEY : DONE;
	else if (J->state == AT_VALUE)
		J->state = c == '{' ? INSIDE : OTHER;
}

static void
take_close(struct jcatch *J)
{

	if (J->depth > 0)
		J->depth--;
	if (J->depth == 0 || (J->depth == 1 && J->state == INSIDE))
		J->state = DONE;
}

/* A byte between strings. */
static void
take_outside(struct jcatch *J, char c)
{

	switch (c) {
	case '{':
	case '[':
		take_open(J, c);
		break;
	case '}':
	case ']':
		take_close(J);
		break;
	case '"':
		J->string = 1;
		J->len = J->same = 0;
		if (J->state == BEFORE)
			J->state = DONE;
		else if (J->state == AT_VALUE)
			J->state = OTHER;
		break;
	case ',':
		if (J->depth == 1 && J->state == OTHER)
			J->state = AT_KEY;
		break;
	case ':':
		if (J->state == AT_COLON)
			J->state = AT_VALUE;
		break;
	case ' ':
	case '\t':
	case '\r':
	case '\n':
		break;
	default:
		if (J->state == AT_VALUE)
			J->state = OTHER;
		break;
	}
}

int
jcatch_feed(struct jcatch *J, const char *p, size_t len, struct buf *out)
{
	size_t n;
	int was;

	for (; len > 0 && J->state != DONE; p += n, len -= n) {
		was = J->state;
		n = 1;
		if (J->string)
			n = take_string(J, p, len);
		else
			take_outside(J, *p);
		if ((was == INSIDE || J->state == INSIDE) && buf_put(out, p, n))
			return (-1);
	}
	return (J->state == DONE);
}
