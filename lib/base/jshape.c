#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/jshape.h"
#include "base/num.h"

#define DIGITS_MAX 20 /* Of UINT64_MAX. */

/* The member with ${key}, its quotes included. */
static const struct jshape *
find_row(const struct jshape *rows, size_t n, struct jspan key)
{

	for (size_t i = 0; i < n; i++)
		if (jspan_is(key, rows[i].name))
			return (&rows[i]);
	return (NULL);
}

/* Decode the string ${v} into ${mem}, with a NUL behind it. */
static enum jshape_rc
take_bytes(struct arena *mem, struct jspan v, const struct jshape *row,
    struct jspan *s)
{
	struct buf b = BUF_INIT(v.len);
	enum jshape_rc rc = JSHAPE_MEMORY;

	if (v.p[0] != '"')
		return (JSHAPE_TYPE);
	if (jspan_str(&b, v))
		goto done;
	rc = JSHAPE_RANGE;
	if (b.len < row->min || b.len > row->max)
		goto done;
	s->len = b.len;
	s->p = arena_strndup(mem, b.len > 0 ? b.p : "", b.len);
	rc = s->p != NULL ? JSHAPE_OK : JSHAPE_MEMORY;

done:
	buf_free(&b);
	return (rc);
}

static enum jshape_rc
take_text(
    struct arena *mem, struct jspan v, const struct jshape *row, const char **s)
{
	struct jspan bytes;
	enum jshape_rc rc;

	if ((rc = take_bytes(mem, v, row, &bytes)) != JSHAPE_OK)
		return (rc);
	if (memchr(bytes.p, '\0', bytes.len) != NULL)
		return (JSHAPE_RANGE);
	*s = bytes.p;
	return (JSHAPE_OK);
}

/* An integer; one below or above all of ours is JSHAPE_RANGE with a bound. */
static enum jshape_rc
take_integer(struct jspan v, const struct jshape *row, uint64_t *x)
{
	char digits[DIGITS_MAX + 1];

	if (v.p[0] != '-' && (v.p[0] < '0' || v.p[0] > '9'))
		return (JSHAPE_TYPE);
	for (size_t i = 0; i < v.len; i++)
		if (strchr(".eE", v.p[i]) != NULL)
			return (JSHAPE_TYPE);
	*x = v.p[0] == '-' ? row->min : row->max;
	if (v.p[0] == '-' || v.len > DIGITS_MAX)
		return (JSHAPE_RANGE);
	memcpy(digits, v.p, v.len);
	digits[v.len] = '\0';
	if (num_u64(digits, 0, UINT64_MAX, x))
		return (JSHAPE_RANGE);
	if (*x >= row->min && *x <= row->max)
		return (JSHAPE_OK);
	*x = *x < row->min ? row->min : row->max;
	return (JSHAPE_RANGE);
}

static enum jshape_rc
take_number(struct jspan v, const struct jshape *row, uint64_t *out)
{
	enum jshape_rc rc;
	uint64_t x = 0;

	rc = take_integer(v, row, &x);
	if (rc == JSHAPE_RANGE && row->kind == JSHAPE_U64_CLAMP)
		rc = JSHAPE_OK;
	if (rc == JSHAPE_OK)
		*out = x;
	return (rc);
}

static enum jshape_rc
take_part(struct jspan v, char begins, struct jspan *out)
{

	if (v.p[0] != begins)
		return (JSHAPE_TYPE);
	*out = v;
	return (JSHAPE_OK);
}

static enum jshape_rc
take(struct arena *mem, struct jspan v, const struct jshape *row, void *out)
{
	void *at = (char *)out + row->at;

	switch (row->kind) {
	case JSHAPE_TEXT:
		return (take_text(mem, v, row, at));
	case JSHAPE_BYTES:
		return (take_bytes(mem, v, row, at));
	case JSHAPE_BOOL:
		if (v.p[0] != 't' && v.p[0] != 'f')
			return (JSHAPE_TYPE);
		*(int *)at = v.p[0] == 't';
		return (JSHAPE_OK);
	case JSHAPE_U64:
	case JSHAPE_U64_CLAMP:
		return (take_number(v, row, at));
	case JSHAPE_OBJECT:
		return (take_part(v, '{', at));
	case JSHAPE_ARRAY:
		return (take_part(v, '[', at));
	}
	return (JSHAPE_TYPE);
}

/* Are all required members among those in the mask ${there}? */
static enum jshape_rc
check_required(const struct jshape *rows, size_t n, uint64_t there,
    struct jshape_fault *fault)
{

	for (size_t i = 0; i < n; i++) {
		if (!(rows[i].flags & JSHAPE_REQUIRED) || there >> i & 1)
			continue;
		fault->row = &rows[i];
		return (JSHAPE_ABSENT);
	}
	return (JSHAPE_OK);
}

enum jshape_rc
jshape_read(struct arena *mem, struct jspan o, const struct jshape *rows,
    size_t n, int strict, void *out, struct jshape_fault *fault)
{
	uint64_t seen = 0, there = 0, bit;
	enum jshape_rc rc;
	struct jspan_iter it;
	struct jspan key, v;

	*fault = (struct jshape_fault){0};
	if (jspan_iter(&it, o) || !it.object)
		return (JSHAPE_TYPE);
	while (jspan_next(&it, &key, &v)) {
		fault->key = key;
		if ((fault->row = find_row(rows, n, key)) == NULL) {
			if (strict)
				return (JSHAPE_UNKNOWN);
			continue;
		}
		bit = (uint64_t)1 << (fault->row - rows);
		if (seen & bit)
			return (JSHAPE_REPEATED);
		seen |= bit;
		if (v.p[0] == 'n')
			continue;
		there |= bit;
		if ((rc = take(mem, v, fault->row, out)) != JSHAPE_OK)
			return (rc);
	}
	return (check_required(rows, n, there, fault));
}

int
jshape_want(struct buf *b, const struct jshape *row)
{

	if (row->want != NULL)
		return (buf_puts(b, row->want));
	switch (row->kind) {
	case JSHAPE_TEXT:
	case JSHAPE_BYTES:
		if (row->min == 0)
			return (buf_printf(b,
			    "a string of at most %" PRIu64 " bytes", row->max));
		return (buf_printf(b,
		    "a string of %" PRIu64 " to %" PRIu64 " bytes", row->min,
		    row->max));
	case JSHAPE_BOOL:
		return (buf_puts(b, "true or false"));
	case JSHAPE_U64:
	case JSHAPE_U64_CLAMP:
		return (
		    buf_printf(b, "a whole number from %" PRIu64 " to %" PRIu64,
			row->min, row->max));
	case JSHAPE_OBJECT:
		return (buf_puts(b, "an object"));
	case JSHAPE_ARRAY:
		return (buf_puts(b, "an array"));
	}
	return (-1);
}
