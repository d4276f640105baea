#ifndef BASE_JGET_BUILD_H_
#define BASE_JGET_BUILD_H_

#include <json.h>

#include "base/jget.h"
#include "base/jspan.h"

/*
 * json-c values from spans.  json-c's own tokener is not used, because it
 * (0.16) reads half of all surrogate pairs, such as \ud836\udc00, as U+FFFD.
 */

/**
 * jget_build(v, last, o):
 * Make ${o} of ${v}, a span of a text that jspan_check() has passed with at
 * most JGET_DEPTH levels and no key that holds \u0000; the caller must put it.
 * Integers beyond 64 bits become the nearest that fits.  Of a key that an
 * object has twice the last one counts if ${last} says so.  Return
 * JGET_PARSE_OK, or JGET_PARSE_REPEATED or JGET_PARSE_MEMORY with ${o} NULL.
 */
enum jget_parse jget_build(struct jspan, int, json_object **);

#endif /* !BASE_JGET_BUILD_H_ */
