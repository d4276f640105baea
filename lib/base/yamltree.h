#ifndef BASE_YAMLTREE_H_
#define BASE_YAMLTREE_H_

#include <stddef.h>

#include <json.h>

/* Opaque type. */
struct buf;

#define YAMLTREE_MAX (1 << 20) /* Bytes of a text. */
#define YAMLTREE_DEPTH 6

/**
 * yamltree_read(text, len, o, err):
 * Read the ${len} bytes at ${text}, one document of YAML, into ${o}, which the
 * caller must put: mappings as objects, lists as arrays, and every scalar as a
 * string.  What YAML has and a table need not is refused: aliases, anchors,
 * tags, directives, a key that stands twice, a value left out, control
 * characters, a second document.  Return 0; or -1 with "line N: what is wrong"
 * in ${err}.
 */
int yamltree_read(const char *, size_t, json_object **, struct buf *);

#endif /* !BASE_YAMLTREE_H_ */
