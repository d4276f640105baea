#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/num.h"

#include "speech/pick.h"

int
pick_is(struct jspan v, char c)
{

	return (v.len > 0 && v.p[0] == c);
}

int
pick_text(struct arena *mem, struct jspan v, struct text *x)
{
	struct buf b = BUF_INIT(v.len * 3);
	int rc = -2;

	if (!pick_is(v, '"'))
		return (-1);
	x->p = v.p + 1;
	x->len = v.len - 2;
	if (x->len == 0 || memchr(x->p, '\\', x->len) == NULL)
		return (0);
	if (jspan_str(&b, v) == 0 &&
	    (x->p = arena_strndup(mem, b.p, b.len)) != NULL) {
		x->len = b.len;
		rc = 0;
	}
	buf_free(&b);
	return (rc);
}

int
pick_decoded(struct buf *b, struct jspan v, struct text *x)
{

	if (!pick_is(v, '"'))
		return (-1);
	x->p = v.p + 1;
	x->len = v.len - 2;
	if (x->len == 0 || memchr(x->p, '\\', x->len) == NULL)
		return (0);
	b->len = 0;
	if (jspan_str(b, v))
		return (-2);
	x->p = b->p;
	x->len = b->len;
	return (0);
}

struct jspan
pick_member(struct jspan o, const char *key)
{
	static const struct jspan absent = {"null", 4};
	struct jspan v;

	return (jspan_get(o, key, &v) > 0 ? v : absent);
}

const char *
pick_str(struct arena *mem, struct jspan v)
{
	struct text x;

	if (pick_text(mem, v, &x) || memchr(x.p, '\0', x.len) != NULL)
		return (NULL);
	return (arena_strndup(mem, x.p, x.len));
}

int
pick_u64(struct jspan v, uint64_t *x)
{
	char s[24];

	if (v.len == 0 || v.len >= sizeof(s))
		return (-1);
	memcpy(s, v.p, v.len);
	s[v.len] = '\0';
	return (num_u64(s, 0, UINT64_MAX, x));
}

int
pick_tokens(struct jspan v, uint64_t *x)
{
	uint64_t n;

	if (pick_u64(v, &n) || n > TOKENS_MAX)
		return (-1);
	*x = n;
	return (0);
}
