#ifndef BASE_JRAW_H_
#define BASE_JRAW_H_

#include <stddef.h>

#include <json.h>

/**
 * jraw(text, len):
 * A JSON object's stand-in that is written as the ${len} bytes at ${text}, of
 * which a copy is taken: what json-c would respell stays as it came.  They must
 * have passed jspan_check().  Return NULL if memory ran out.
 */
json_object *jraw(const char *, size_t);

#endif /* !BASE_JRAW_H_ */
