#include <string.h>

#include "base/arena.h"
#include "base/num.h"
#include "http/query.h"

struct pair {
	const char *name, *value;
};

struct query {
	size_t n;
	struct pair pair[];
};

/* Decode ${len} bytes at ${s} into the arena, '+' as ${plus}. */
static char *
decode(struct arena *mem, const char *s, size_t len, char plus)
{
	char *out, *p;
	size_t i;
	int hi, lo;

	if (len == (size_t)-1 || (out = arena_alloc(mem, len + 1)) == NULL)
		return (NULL);
	for (i = 0, p = out; i < len; i++) {
		if (s[i] == '+') {
			*p++ = plus;
		} else if (s[i] != '%') {
			*p++ = s[i];
		} else {
			if (len - i < 3 || (hi = num_hex(s[i + 1])) == -1 ||
			    (lo = num_hex(s[i + 2])) == -1 || hi + lo == 0)
				return (NULL);
			*p++ = (char)(hi << 4 | lo);
			i += 2;
		}
	}
	*p = '\0';
	return (out);
}

char *
percent_decode(struct arena *mem, const char *s, size_t len)
{

	if (memchr(s, '\0', len) != NULL)
		return (NULL);
	return (decode(mem, s, len, '+'));
}

static int
add_pair(struct arena *mem, struct query *q, const char *s, size_t len)
{
	const char *eq = memchr(s, '=', len);
	size_t name_len = eq == NULL ? len : (size_t)(eq - s);
	struct pair *pair;

	if (q->n == QUERY_MAX)
		return (-1);
	pair = &q->pair[q->n++];
	if ((pair->name = decode(mem, s, name_len, ' ')) == NULL)
		return (-1);
	if (eq == NULL)
		pair->value = "";
	else
		pair->value = decode(mem, eq + 1, len - name_len - 1, ' ');
	return (pair->value == NULL ? -1 : 0);
}

struct query *
query_parse(struct arena *mem, const char *s)
{
	struct query *q;
	size_t len;

	q = arena_alloc(mem, sizeof(*q) + QUERY_MAX * sizeof(q->pair[0]));
	if (q == NULL)
		return (NULL);
	if (s == NULL)
		return (q);
	for (; *s != '\0'; s += len + (s[len] == '&')) {
		len = strcspn(s, "&");
		if (len > 0 && add_pair(mem, q, s, len))
			return (NULL);
	}
	return (q);
}

const char *
query_get(const struct query *q, const char *name, size_t nth)
{
	size_t i;

	for (i = 0; i < q->n; i++)
		if (strcmp(q->pair[i].name, name) == 0 && nth-- == 0)
			return (q->pair[i].value);
	return (NULL);
}

size_t
query_count(const struct query *q, const char *name)
{
	size_t i, n = 0;

	for (i = 0; i < q->n; i++)
		n += strcmp(q->pair[i].name, name) == 0;
	return (n);
}
