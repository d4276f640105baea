#ifndef HTTP_PARAM_H_
#define HTTP_PARAM_H_

#include <stddef.h>

/*
 * The parameters of a header value such as
 *	form-data; name="file"; filename="a.txt"
 * Values may hold any byte but are never longer than the header.  In a quoted
 * value only \" and \\ are escapes, as browsers send raw backslashes.
 */

/* Opaque type. */
struct buf;

enum param_rc {
	PARAM_OK,
	PARAM_END,
	PARAM_BROKEN,
	PARAM_OPEN /* A quoted value does not end, or has CR or LF inside. */
};

/* One parameter; points into the header value. */
struct param {
	const char *name, *value; /* Of a quoted value: between the quotes. */
	size_t name_len, value_len;
	int quoted;
};

/**
 * param_next(p, end, param):
 * Read the parameter at *${p}, which stands at a ';' or at space before one,
 * and move *${p} past it.  PARAM_END once only space and lone ';' are left.
 */
enum param_rc param_next(const char **, const char *, struct param *);

/**
 * param_is(param, name):
 * Is the name of ${param} ${name} (lower case) in any letter case?
 */
int param_is(const struct param *, const char *);

/**
 * param_value(b, param):
 * Append the value of ${param}, its escapes undone.  Return 0 or -1.
 */
int param_value(struct buf *, const struct param *);

/**
 * param_token(s, len):
 * How many of the ${len} bytes at ${s} form an RFC 9110 token.
 */
size_t param_token(const char *, size_t);

#endif /* !HTTP_PARAM_H_ */
