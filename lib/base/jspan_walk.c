#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/jspan.h"
#include "base/utf8.h"

/*
 * Walking a text that jspan_check() has passed, so that nothing needs checking
 * twice; every loop still ends with the text.
 */

static const char *
skip_space(const char *p, const char *end)
{

	while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
		p++;
	return (p);
}

/*
 * The byte behind the string that begins at ${p}: behind its first quote that
 * an even number of backslashes precedes.
 */
static const char *
skip_string(const char *p, const char *end)
{
	const char *q, *b;

	for (p++; p < end && (q = memchr(p, '"', (size_t)(end - p))) != NULL;
	     p = q + 1) {
		for (b = q; b > p && b[-1] == '\\'; b--)
			continue;
		if ((q - b) % 2 == 0)
			return (q + 1);
	}
	return (end);
}

/* The byte behind the array or object that begins at ${p}. */
static const char *
skip_nested(const char *p, const char *end)
{
	size_t depth = 0;

	while (p < end) {
		if (*p == '"') {
			p = skip_string(p, end);
			continue;
		}
		if (*p == '{' || *p == '[')
			depth++;
		else if (*p == '}' || *p == ']')
			depth--;
		p++;
		if (depth == 0)
			break;
	}
	return (p);
}

/* The byte behind the value that begins at ${p}. */
static const char *
skip_value(const char *p, const char *end)
{

	if (p < end && *p == '"')
		return (skip_string(p, end));
	if (p < end && (*p == '{' || *p == '['))
		return (skip_nested(p, end));
	while (p < end && memchr(",}] \t\r\n", *p, 7) == NULL)
		p++;
	return (p);
}

int
jspan_iter(struct jspan_iter *it, struct jspan v)
{

	if (v.len < 2 || (v.p[0] != '{' && v.p[0] != '['))
		return (-1);
	it->p = v.p + 1;
	it->end = v.p + v.len - 1;
	it->object = v.p[0] == '{';
	return (0);
}

int
jspan_step(struct jspan_iter *it, struct jspan *key)
{
	const char *p = skip_space(it->p, it->end), *start;

	if (p < it->end && *p == ',')
		p = skip_space(p + 1, it->end);
	it->p = p;
	if (p == it->end || *p == ']' || *p == '}')
		return (0);
	if (it->object) {
		start = p;
		p = skip_string(p, it->end);
		if (key != NULL)
			*key = (struct jspan){start, (size_t)(p - start)};
		p = skip_space(p, it->end);
		if (p < it->end)
			p = skip_space(p + 1, it->end);
	}
	it->p = p;
	return (1);
}

void
jspan_value(struct jspan_iter *it, struct jspan *v)
{

	v->p = it->p;
	it->p = skip_value(it->p, it->end);
	v->len = (size_t)(it->p - v->p);
}

int
jspan_next(struct jspan_iter *it, struct jspan *key, struct jspan *v)
{

	if (!jspan_step(it, key))
		return (0);
	jspan_value(it, v);
	return (1);
}

/* The number that the four hex digits at ${p} make. */
static uint32_t
hex4(const char *p)
{
	uint32_t x = 0;
	int i;

	for (i = 0; i < 4; i++)
		x = x << 4 |
		    (uint32_t)(p[i] <= '9' ? p[i] - '0'
					   : (p[i] | 0x20) - 'a' + 10);
	return (x);
}

/* Decode the \u escape at *${p}, with its second half if it has one. */
static size_t
decode_u(const char **p, const char *end, char out[static 4])
{
	uint32_t cp = hex4(*p + 2), low;

	*p += 6;
	if (cp >= 0xd800 && cp < 0xdc00 && end - *p >= 6 && (*p)[0] == '\\' &&
	    (*p)[1] == 'u') {
		low = hex4(*p + 2);
		if (low >= 0xdc00 && low < 0xe000) {
			cp = 0x10000 + ((cp - 0xd800) << 10) + (low - 0xdc00);
			*p += 6;
		}
	}
	return (utf8_encode(cp, out));
}

/*
 * Decode the next piece of a string's inside at *${p} to ${out}, and return its
 * length: one byte, or what an escape stands for.
 */
static size_t
decode(const char **p, const char *end, char out[static 4])
{
	static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
	const char *at;

	if (**p != '\\' || end - *p < 2) {
		out[0] = *(*p)++;
		return (1);
	}
	if ((*p)[1] == 'u' && end - *p >= 6)
		return (decode_u(p, end, out));
	at = strchr(from, (*p)[1]);
	out[0] = at == NULL || *at == '\0' ? (*p)[1] : to[at - from];
	*p += 2;
	return (1);
}

static int
is_string(struct jspan v)
{

	return (v.len >= 2 && v.p[0] == '"');
}

int
jspan_is(struct jspan v, const char *s)
{
	const char *p, *end;
	size_t left = strlen(s), n;
	char out[4];

	if (!is_string(v))
		return (0);
	p = v.p + 1;
	end = v.p + v.len - 1;
	while (p < end) {
		n = decode(&p, end, out);
		if (n > left || memcmp(out, s, n) != 0)
			return (0);
		s += n;
		left -= n;
	}
	return (left == 0);
}

int
jspan_str(struct buf *b, struct jspan v)
{
	const char *p, *end, *plain;
	char out[4];
	size_t n;

	if (!is_string(v))
		return (-1);
	end = v.p + v.len - 1;
	for (p = v.p + 1; p < end;) {
		plain = memchr(p, '\\', (size_t)(end - p));
		n = (size_t)((plain == NULL ? end : plain) - p);
		if (buf_put(b, p, n))
			return (-1);
		p += n;
		if (p < end && buf_put(b, out, decode(&p, end, out)))
			return (-1);
	}
	return (buf_put(b, "", 0));
}

size_t
jspan_get(struct jspan o, const char *key, struct jspan *v)
{
	struct jspan_iter it;
	struct jspan k, x;
	size_t n = 0;

	if (jspan_iter(&it, o) || !it.object)
		return (0);
	while (jspan_next(&it, &k, &x))
		if (jspan_is(k, key)) {
			*v = x;
			n++;
		}
	return (n);
}

/* A string's inside, decoded byte by byte. */
struct bytes {
	const char *p, *end;
	char out[4];
	size_t at, n;
};

/* The next byte, or -1 at the end. */
static int
next_byte(struct bytes *b)
{

	if (b->at == b->n) {
		if (b->p >= b->end)
			return (-1);
		b->n = decode(&b->p, b->end, b->out);
		b->at = 0;
	}
	return ((unsigned char)b->out[b->at++]);
}

static int
compare(const void *a, const void *b)
{
	const struct jspan *x = a, *y = b;
	struct bytes s = {.p = x->p + 1, .end = x->p + x->len - 1};
	struct bytes t = {.p = y->p + 1, .end = y->p + y->len - 1};
	int c, d;

	do {
		c = next_byte(&s);
		d = next_byte(&t);
	} while (c == d && c >= 0);
	return (c - d);
}

/* The keys of the objects that a walk is inside of. */
struct keys {
	struct jspan *key;
	size_t n, size;
};

static int
push_key(struct keys *k, struct jspan key)
{
	const size_t size = k->size > 0 ? k->size * 2 : 64;
	struct jspan *p;

	if (k->n == k->size) {
		if ((p = realloc(k->key, size * sizeof(*p))) == NULL)
			return (-1);
		k->key = p;
		k->size = size;
	}
	k->key[k->n++] = key;
	return (0);
}

/* As jspan_repeated(), of the array or object that ${in} has begun. */
static int
walk_keys(struct keys *k, struct jspan_iter *in)
{
	const size_t from = k->n;
	struct jspan_iter sub;
	struct jspan key, v;
	int rc = 0;

	while (jspan_step(in, &key)) {
		if (in->object && push_key(k, key))
			return (-1);
		if (*in->p != '[' && *in->p != '{') {
			jspan_value(in, &v);
			continue;
		}
		sub = (struct jspan_iter){in->p + 1, in->end, *in->p == '{'};
		if ((rc = walk_keys(k, &sub)) != 0)
			return (rc);
		in->p = sub.p + 1;
	}
	if (k->n - from > 1)
		qsort(k->key + from, k->n - from, sizeof(*k->key), compare);
	for (size_t i = from + 1; i < k->n && rc == 0; i++)
		rc = compare(&k->key[i - 1], &k->key[i]) == 0;
	k->n = from;
	return (rc);
}

int
jspan_repeated(struct jspan v)
{
	struct keys k = {NULL, 0, 0};
	struct jspan_iter it;
	int rc;

	if (jspan_iter(&it, v))
		return (0);
	rc = walk_keys(&k, &it);
	free(k.key);
	return (rc);
}

int
jspan_splice(
    struct buf *b, struct jspan whole, const struct jspan_edit *e, size_t n)
{
	const char *p = whole.p, *end = whole.p + whole.len;
	size_t i;

	for (i = 0; i < n; i++) {
		if (e[i].at.p < p || e[i].at.p > end ||
		    e[i].at.len > (size_t)(end - e[i].at.p)) {
			b->spoiled = 1;
			return (-1);
		}
		if (buf_put(b, p, (size_t)(e[i].at.p - p)) ||
		    buf_put(b, e[i].text.p, e[i].text.len))
			return (-1);
		p = e[i].at.p + e[i].at.len;
	}
	return (buf_put(b, p, (size_t)(end - p)));
}
