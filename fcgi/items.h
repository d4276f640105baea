#ifndef FCGI_ITEMS_H_
#define FCGI_ITEMS_H_

#include <stddef.h>

#include <json.h>

/**
 * items_spell_out(item, response, i):
 * Give the input item ${item}, the ${i}th of what the response of the bare id
 * ${response} answered, the long form in which the vendor's type has it: a
 * type, parts, every member that is required there, and an id.  Return 0 or -1.
 */
int items_spell_out(json_object *, const char *, size_t);

#endif /* !FCGI_ITEMS_H_ */
