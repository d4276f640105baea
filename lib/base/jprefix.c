#include <string.h>

#include "base/buf.h"
#include "base/jprefix.h"

/* What may come next. */
enum state {
	ROOT,        /* The object's brace. */
	FIRST_KEY,   /* A key or the closing brace. */
	KEY,         /* A key. */
	COLON,       /* The colon after one. */
	VALUE,       /* A value. */
	FIRST_VALUE, /* A value or the closing bracket. */
	AFTER,       /* A comma or what closes. */
	STRING,      /* The rest of a string... */
	ESCAPE,      /* ...after a backslash... */
	HEX,         /* ...in \uXXXX. */
	LITERAL,     /* The rest of true, false or null. */
	MINUS,       /* A number's first digit... */
	ZERO,        /* ...a dot, an E or its end... */
	DIGITS,      /* ...or more digits too... */
	DOT,         /* ...one after the dot... */
	FRACTION,    /* ...more of them, an E or the end... */
	EXPONENT,    /* ...a sign or a digit... */
	SIGN,        /* ...a digit... */
	POWER,       /* ...more or the end. */
	WHOLE,       /* Space. */
	STUCK        /* Nothing. */
};

static int
in_array(const struct jprefix *J)
{

	return (J->array[(J->depth - 1) / 8] >> (J->depth - 1) % 8 & 1);
}

static int
push(struct jprefix *J, int array)
{
	unsigned char bit = (unsigned char)(1U << J->depth % 8);

	if (J->depth == JPREFIX_DEPTH)
		return (STUCK);
	if (array)
		J->array[J->depth / 8] |= bit;
	else
		J->array[J->depth / 8] &= (unsigned char)~bit;
	J->depth++;
	return (array ? FIRST_VALUE : FIRST_KEY);
}

static int
pop(struct jprefix *J)
{

	return (--J->depth == 0 ? WHOLE : AFTER);
}

static int
literal(struct jprefix *J, const char *rest)
{

	J->rest = rest;
	return (LITERAL);
}

static int
string(struct jprefix *J, int key)
{

	J->key = key;
	return (STRING);
}

static int
is_space(char c)
{

	return (c == ' ' || c == '\t' || c == '\r' || c == '\n');
}

static int
is_digit(char c)
{

	return (c >= '0' && c <= '9');
}

/* The state after a value's first byte. */
static int
value(struct jprefix *J, char c)
{

	switch (c) {
	case '{':
		return (push(J, 0));
	case '[':
		return (push(J, 1));
	case '"':
		return (string(J, 0));
	case '-':
		return (MINUS);
	case '0':
		return (ZERO);
	case 't':
		return (literal(J, "rue"));
	case 'f':
		return (literal(J, "alse"));
	case 'n':
		return (literal(J, "ull"));
	default:
		return (is_digit(c) ? DIGITS : STUCK);
	}
}

static int
after(struct jprefix *J, char c)
{
	int array = in_array(J);

	if (c == ',')
		return (array ? VALUE : KEY);
	return (c == (array ? ']' : '}') ? pop(J) : STUCK);
}

static int
in_string(struct jprefix *J, char c)
{

	if (c == '"')
		return (J->key ? COLON : AFTER);
	if (c == '\\')
		return (ESCAPE);
	return ((unsigned char)c < 0x20 ? STUCK : STRING);
}

static int
escape(struct jprefix *J, char c)
{

	if (c == 'u') {
		J->left = 4;
		return (HEX);
	}
	return (c != '\0' && strchr("\"\\/bfnrt", c) != NULL ? STRING : STUCK);
}

static int
hex(struct jprefix *J, char c)
{

	if (c == '\0' || strchr("0123456789abcdefABCDEF", c) == NULL)
		return (STUCK);
	return (--J->left == 0 ? STRING : HEX);
}

static int
rest(struct jprefix *J, char c)
{

	if (c != *J->rest)
		return (STUCK);
	return (*++J->rest == '\0' ? AFTER : LITERAL);
}

static int
number(struct jprefix *J, char c)
{
	int state = J->state;

	if (is_digit(c))
		switch (state) {
		case MINUS:
			return (c == '0' ? ZERO : DIGITS);
		case DOT:
			return (FRACTION);
		case EXPONENT:
		case SIGN:
			return (POWER);
		case ZERO:
			return (STUCK);
		default:
			return (state);
		}
	if (c == '.' && (state == ZERO || state == DIGITS))
		return (DOT);
	if ((c == 'e' || c == 'E') &&
	    (state == ZERO || state == DIGITS || state == FRACTION))
		return (EXPONENT);
	if ((c == '+' || c == '-') && state == EXPONENT)
		return (SIGN);
	if (state == MINUS || state == DOT || state == EXPONENT ||
	    state == SIGN)
		return (STUCK);
	return (is_space(c) ? AFTER : after(J, c));
}

/* Where a token may begin. */
static int
between(struct jprefix *J, char c)
{

	switch ((enum state)J->state) {
	case ROOT:
		return (c == '{' ? push(J, 0) : STUCK);
	case FIRST_KEY:
		return (c == '}' ? pop(J) : c == '"' ? string(J, 1) : STUCK);
	case KEY:
		return (c == '"' ? string(J, 1) : STUCK);
	case COLON:
		return (c == ':' ? VALUE : STUCK);
	case FIRST_VALUE:
		return (c == ']' ? pop(J) : value(J, c));
	case VALUE:
		return (value(J, c));
	case AFTER:
		return (after(J, c));
	default:
		return (STUCK);
	}
}

/* The state after ${c}. */
static int
step(struct jprefix *J, char c)
{

	switch ((enum state)J->state) {
	case STRING:
		return (in_string(J, c));
	case ESCAPE:
		return (escape(J, c));
	case HEX:
		return (hex(J, c));
	case LITERAL:
		return (rest(J, c));
	case MINUS:
	case ZERO:
	case DIGITS:
	case DOT:
	case FRACTION:
	case EXPONENT:
	case SIGN:
	case POWER:
		return (number(J, c));
	default:
		return (is_space(c) ? J->state : between(J, c));
	}
}

size_t
jprefix_feed(struct jprefix *J, const char *p, size_t len)
{
	size_t n;
	int next;

	for (n = 0; n < len && !J->stuck; n++) {
		if ((next = step(J, p[n])) == STUCK) {
			J->stuck = 1;
			break;
		}
		J->state = next;
	}
	return (n);
}

int
jprefix_whole(const struct jprefix *J)
{

	return (J->state == WHOLE && !J->stuck);
}

/* What ends the token or the member under way. */
static void
end_token(const struct jprefix *J, struct buf *b)
{

	switch ((enum state)J->state) {
	case ROOT:
		buf_puts(b, "{}");
		break;
	case KEY:
		buf_puts(b, "\"\":null");
		break;
	case COLON:
		buf_puts(b, ":null");
		break;
	case VALUE:
		buf_puts(b, "null");
		break;
	case ESCAPE:
		buf_puts(b, "\\");
		/* FALLTHROUGH */
	case HEX:
	case STRING:
		if (J->state == HEX)
			buf_put(b, "0000", J->left);
		buf_puts(b, J->key ? "\":null" : "\"");
		break;
	case LITERAL:
		buf_puts(b, J->rest);
		break;
	case MINUS:
	case DOT:
	case EXPONENT:
	case SIGN:
		buf_puts(b, "0");
		break;
	default:
		break;
	}
}

int
jprefix_close(const struct jprefix *J, struct buf *b)
{
	struct jprefix left = *J;

	end_token(J, b);
	for (; left.depth > 0; left.depth--)
		buf_puts(b, in_array(&left) ? "]" : "}");
	return (buf_ok(b) ? 0 : -1);
}
