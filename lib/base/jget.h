#ifndef BASE_JGET_H_
#define BASE_JGET_H_

#include <stddef.h>
#include <stdint.h>

#include <json.h>

#include "base/jspan.h"

/*
 * Reading JSON that somebody else wrote.  A member is right, absent, null, of
 * another type or out of bounds, and a caller can tell which; nothing is ever
 * converted ("5" is no number, 1 is no boolean, 3600.0 is no integer).
 */

#define JGET_DEPTH 128
#define JGET_VALUES 200000 /* A few bytes of text may make a hundred of tree. */

enum jget_parse {
	JGET_PARSE_OK,
	JGET_PARSE_SYNTAX,   /* Not one RFC 8259 text in UTF-8. */
	JGET_PARSE_DEPTH,    /* Nested deeper than JGET_DEPTH. */
	JGET_PARSE_MANY,     /* More than JGET_VALUES values. */
	JGET_PARSE_REPEATED, /* An object has a key twice. */
	JGET_PARSE_MEMORY
};

enum jget {
	JGET_OK,
	JGET_ABSENT,
	JGET_NULL,
	JGET_TYPE, /* Another type than asked for. */
	JGET_RANGE /* The right type, but out of bounds. */
};

/**
 * jget_parse(text, len, o, at):
 * Parse all of the ${len} bytes at ${text} as one JSON value into ${o}, which
 * the caller must put (the value null gives NULL).  Besides broken syntax,
 * trailing bytes, raw NUL, invalid UTF-8 and a key that holds \u0000 are
 * JGET_PARSE_SYNTAX; ${at} is then the offset of the offending byte.
 */
enum jget_parse jget_parse(const char *, size_t, json_object **, size_t *);

/**
 * jget_check(text, len, root, at):
 * Judge the ${len} bytes at ${text} as jget_parse() does, without building
 * anything, and set ${root} to the value, without the space around it.
 */
enum jget_parse jget_check(const char *, size_t, struct jspan *, size_t *);

/**
 * jget_parse_last(text, len, depth, o, at):
 * As jget_parse(), but nested at most ${depth} deep (itself at most
 * JGET_DEPTH), and of a key that an object has twice the last one counts.
 */
enum jget_parse
jget_parse_last(const char *, size_t, unsigned int, json_object **, size_t *);

/**
 * jget_str(o, key, s):
 * Set ${s} to the string under ${key} of the object ${o}, owned by ${o}.
 * JGET_RANGE if it holds a NUL.
 */
enum jget jget_str(json_object *, const char *, const char **);

/**
 * jget_text(o, key, s, len):
 * As jget_str(), but the string may hold NULs and ${len} is its length.
 */
enum jget jget_text(json_object *, const char *, const char **, size_t *);

/**
 * jget_bool(o, key, b):
 * Set ${b} to 0 or 1.
 */
enum jget jget_bool(json_object *, const char *, int *);

/**
 * jget_u64(o, key, min, max, x):
 * Set ${x} to the integer under ${key}; JGET_RANGE unless it is between ${min}
 * and ${max} inclusive.  ${max} must be below UINT64_MAX, to which the parser
 * reduces larger numbers.
 */
enum jget jget_u64(json_object *, const char *, uint64_t, uint64_t, uint64_t *);

/**
 * jget_num(o, key, min, max, x):
 * Set ${x} to the number under ${key}, whole or not; JGET_RANGE unless it is
 * between ${min} and ${max} inclusive.
 */
enum jget jget_num(json_object *, const char *, double, double, double *);

/**
 * jget_array(o, key, a), jget_object(o, key, v):
 * Set ${a} or ${v} to the array or object under ${key}, owned by ${o}.
 */
enum jget jget_array(json_object *, const char *, json_object **);
enum jget jget_object(json_object *, const char *, json_object **);

#endif /* !BASE_JGET_H_ */
