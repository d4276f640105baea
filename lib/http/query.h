#ifndef HTTP_QUERY_H_
#define HTTP_QUERY_H_

#include <stddef.h>

/* A query string, decoded.  Lives in the arena it was parsed into. */
struct arena;
struct query;

#define QUERY_MAX 256 /* Pairs; more is an error. */

/**
 * query_parse(mem, s):
 * Parse the query string ${s} (NULL is empty) into name and value pairs,
 * percent-decoded, '+' as a space.  Return NULL if it has more than QUERY_MAX
 * pairs, a broken escape, an encoded NUL, or memory ran out.
 */
struct query *query_parse(struct arena *, const char *);

/**
 * query_get(q, name, nth):
 * The value of the ${nth} (from 0) pair named ${name}, or NULL.
 */
const char *query_get(const struct query *, const char *, size_t);

/**
 * query_count(q, name):
 * How many pairs are named ${name}.
 */
size_t query_count(const struct query *, const char *);

/**
 * percent_decode(mem, s, len):
 * The ${len} bytes at ${s} with %XX decoded, NUL-terminated in ${mem}; NULL for
 * a broken escape, an encoded NUL, or when memory ran out.
 */
char *percent_decode(struct arena *, const char *, size_t);

#endif /* !HTTP_QUERY_H_ */
