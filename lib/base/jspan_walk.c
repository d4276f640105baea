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

static int
compare(const void *a, const void *b)
{
	const struct jspan *x = a, *y = b;
	size_t n = x->len < y->len ? x->len : y->len;
	int rc;

	if (n > 0 && (rc = memcmp(x->p, y->p, n)) != 0)
		return (rc);
	return (x->len < y->len ? -1 : x->len > y->len);
}

/* The keys of ${it}, ${n} of them, decoded into ${text}. */
static struct jspan *
decoded_keys(struct jspan_iter it, size_t n, struct buf *text)
{
	struct jspan *keys, k, v;
	size_t at = 0, i;

	if ((keys = calloc(n, sizeof(*keys))) == NULL)
		return (NULL);
	for (i = 0; i < n && jspan_next(&it, &k, &v); i++) {
		if (jspan_str(text, k)) {
			free(keys);
			return (NULL);
		}
		keys[i].len = text->len - at;
		at = text->len;
	}

	/* Only now does ${text} stay where it is. */
	for (at = i = 0; i < n; at += keys[i++].len)
		keys[i].p = text->p + at;
	return (keys);
}

int
jspan_repeated(struct jspan o)
{
	struct buf text = BUF_INIT(o.len);
	struct jspan *keys, v;
	struct jspan_iter it, count;
	size_t i, n = 0;
	int rc = -1;

	if (jspan_iter(&it, o) || !it.object)
		return (0);
	for (count = it; jspan_next(&count, NULL, &v);)
		n++;
	if (n < 2)
		return (0);
	if ((keys = decoded_keys(it, n, &text)) == NULL)
		goto done;
	qsort(keys, n, sizeof(*keys), compare);
	for (rc = 0, i = 1; i < n && !rc; i++)
		rc = compare(&keys[i - 1], &keys[i]) == 0;
	free(keys);

done:
	buf_free(&text);
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
