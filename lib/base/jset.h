#ifndef BASE_JSET_H_
#define BASE_JSET_H_

#include <stdint.h>

#include <json.h>

/**
 * jset(o, key, v):
 * Hand the reference ${v} to the object ${o} under the literal ${key}.
 * Return 0; or -1 if ${v} is NULL or memory ran out, with ${v} put.
 */
static inline int
jset(json_object *o, const char *key, json_object *v)
{

	if (v == NULL)
		return (-1);
	if (json_object_object_add_ex(
		o, key, v, JSON_C_OBJECT_ADD_CONSTANT_KEY)) {
		json_object_put(v);
		return (-1);
	}
	return (0);
}

/**
 * jnull(o, key):
 * Put JSON null under the literal ${key} of ${o}.  Return 0 or -1.
 */
static inline int
jnull(json_object *o, const char *key)
{

	return (json_object_object_add_ex(
	    o, key, NULL, JSON_C_OBJECT_ADD_CONSTANT_KEY));
}

/**
 * jadd(a, v):
 * Hand the reference ${v} to the array ${a}.  Return 0 or -1 as jset() does.
 */
static inline int
jadd(json_object *a, json_object *v)
{

	if (v == NULL)
		return (-1);
	if (json_object_array_add(a, v)) {
		json_object_put(v);
		return (-1);
	}
	return (0);
}

/**
 * jtext(o, key, s):
 * Put the string ${s}, or null if it is NULL, under the literal ${key} of
 * ${o}.  Return 0 or -1.
 */
static inline int
jtext(json_object *o, const char *key, const char *s)
{

	if (s == NULL)
		return (jnull(o, key));
	return (jset(o, key, json_object_new_string(s)));
}

#define jstr(s) json_object_new_string(s)
#define jint(n) json_object_new_int64((int64_t)(n))
#define jbool(b) json_object_new_boolean(b)

#endif /* !BASE_JSET_H_ */
