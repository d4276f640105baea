#include <string.h>

#include "base/buf.h"
#include "base/jmember.h"
#include "base/num.h"
#include "base/utf8.h"

enum {
	BEFORE_KEY,
	IN_KEY,
	BEFORE_VALUE,
	IN_STRING,
	SKIPPING,
	SKIP_STRING,
	DONE
};

/* Half a pair that stays alone. */
static void
end_half(struct jmember *J, struct buf *out)
{

	if (J->high != 0)
		utf8_put(out, 0xfffd);
	J->high = 0;
}

/* One UTF-16 unit. */
static void
put_unit(struct jmember *J, struct buf *out, uint32_t unit)
{

	if (unit >= 0xdc00 && unit < 0xe000 && J->high != 0) {
		utf8_put(out,
		    0x10000 + ((J->high - 0xd800) << 10) + (unit - 0xdc00));
		J->high = 0;
		return;
	}
	end_half(J, out);
	if (unit >= 0xd800 && unit < 0xdc00)
		J->high = unit;
	else
		utf8_put(out, unit);
}

/* A byte after a backslash.  Anything wrong ends the string. */
static void
take_escape(struct jmember *J, char c, struct buf *out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *at;

	if (J->escape > 1) {
		if (num_hex(c) == -1) {
			J->state = DONE;
			return;
		}
		J->unit = J->unit << 4 | (uint32_t)num_hex(c);
		if (--J->escape == 1) {
			J->escape = 0;
			put_unit(J, out, J->unit);
		}
	} else if (c == 'u') {
		J->escape = 5;
		J->unit = 0;
	} else if (c != '\0' && (at = strchr(from, c)) != NULL) {
		J->escape = 0;
		put_unit(J, out, (unsigned char)to[at - from]);
	} else
		J->state = DONE;
}

/* Append the plain bytes at ${p}, at most ${len}, up to what ends them. */
static size_t
take_plain(struct jmember *J, const char *p, size_t len, struct buf *out)
{
	size_t n = 0;

	while (n < len && p[n] != '"' && p[n] != '\\')
		n++;
	if (n > 0)
		end_half(J, out);
	buf_put(out, p, n);
	return (n);
}

/* A byte of a key or of a string that is not wanted. */
static void
take_other(struct jmember *J, char c, int next)
{

	if (J->escape) {
		J->escape = 0;
		J->len = sizeof(J->name); /* No key of ours has any. */
	} else if (c == '\\')
		J->escape = 1;
	else if (c == '"')
		J->state = next;
	else if (J->len < sizeof(J->name))
		J->name[J->len++] = c;
}

static void
take_outside(struct jmember *J, char c)
{

	switch (c) {
	case '{':
	case '[':
		if (J->state == BEFORE_VALUE || J->state == SKIPPING ||
		    J->depth == 0) {
			J->depth++;
			J->state = J->depth == 1 ? BEFORE_KEY : SKIPPING;
		}
		break;
	case '}':
	case ']':
		if (J->depth <= 1)
			J->state = DONE;
		else
			J->depth--;
		break;
	case ',':
		if (J->depth == 1)
			J->state = BEFORE_KEY;
		break;
	case '"':
		J->len = 0;
		if (J->state == BEFORE_KEY)
			J->state = J->depth == 1 ? IN_KEY : DONE;
		else if (J->state == BEFORE_VALUE && J->inside)
			J->state = IN_STRING;
		else
			J->state = SKIP_STRING;
		break;
	default:
		break;
	}
}

int
jmember_feed(struct jmember *J, const char *p, size_t len, struct buf *out)
{
	size_t i = 0;

	while (i < len && J->state != DONE)
		switch (J->state) {
		case IN_STRING:
			if (J->escape)
				take_escape(J, p[i++], out);
			else if (p[i] == '\\') {
				J->escape = 1;
				i++;
			} else if (p[i] == '"') {
				end_half(J, out);
				J->state = DONE;
			} else
				i += take_plain(J, p + i, len - i, out);
			break;
		case IN_KEY:
			take_other(J, p[i++], BEFORE_VALUE);
			J->inside = J->len == strlen(J->key) &&
			    memcmp(J->name, J->key, J->len) == 0;
			break;
		case SKIP_STRING:
			take_other(J, p[i++], SKIPPING);
			break;
		default:
			take_outside(J, p[i++]);
			break;
		}
	return (buf_ok(out) ? 0 : -1);
}
