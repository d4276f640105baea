#include <limits.h>
#include <string.h>

#include "base/jget.h"
#include "base/jget_build.h"
#include "base/jspan.h"

/* Judge all but repeated keys. */
static enum jget_parse
check(const char *text, size_t len, unsigned int depth, struct jspan *root,
    size_t *at)
{
	struct jspan_info info;

	switch (jspan_check(text, len, depth, &info)) {
	case JSPAN_OK:
		break;
	case JSPAN_SYNTAX:
		*at = info.at;
		return (JGET_PARSE_SYNTAX);
	case JSPAN_DEPTH:
		*at = info.at;
		return (JGET_PARSE_DEPTH);
	}
	if (info.nul_key != NULL) {
		*at = (size_t)(info.nul_key - text);
		return (JGET_PARSE_SYNTAX);
	}
	if (info.values > JGET_VALUES)
		return (JGET_PARSE_MANY);
	*root = info.root;
	return (JGET_PARSE_OK);
}

enum jget_parse
jget_check(const char *text, size_t len, struct jspan *root, size_t *at)
{
	enum jget_parse rc;
	int twice;

	if ((rc = check(text, len, JGET_DEPTH, root, at)) != JGET_PARSE_OK)
		return (rc);
	if ((twice = jspan_repeated(*root)) < 0)
		return (JGET_PARSE_MEMORY);
	return (twice ? JGET_PARSE_REPEATED : JGET_PARSE_OK);
}

static enum jget_parse
parse(const char *text, size_t len, unsigned int depth, int last,
    json_object **o, size_t *at)
{
	enum jget_parse rc;
	struct jspan root;

	*o = NULL;
	if ((rc = check(text, len, depth, &root, at)) != JGET_PARSE_OK)
		return (rc);
	if (root.len > INT_MAX)
		return (JGET_PARSE_MEMORY);
	return (jget_build(root, last, o));
}

enum jget_parse
jget_parse(const char *text, size_t len, json_object **o, size_t *at)
{

	return (parse(text, len, JGET_DEPTH, 0, o, at));
}

enum jget_parse
jget_parse_last(const char *text, size_t len, unsigned int depth,
    json_object **o, size_t *at)
{

	return (parse(text, len, depth, 1, o, at));
}

static enum jget
member(json_object *o, const char *key, enum json_type type, json_object **v)
{

	if (!json_object_is_type(o, json_type_object))
		return (JGET_TYPE);
	if (!json_object_object_get_ex(o, key, v))
		return (JGET_ABSENT);
	if (*v == NULL)
		return (JGET_NULL);
	return (json_object_is_type(*v, type) ? JGET_OK : JGET_TYPE);
}

enum jget
jget_text(json_object *o, const char *key, const char **s, size_t *len)
{
	json_object *v;
	enum jget rc;

	if ((rc = member(o, key, json_type_string, &v)) != JGET_OK)
		return (rc);
	*s = json_object_get_string(v);
	*len = (size_t)json_object_get_string_len(v);
	return (JGET_OK);
}

enum jget
jget_str(json_object *o, const char *key, const char **s)
{
	const char *text;
	enum jget rc;
	size_t len;

	if ((rc = jget_text(o, key, &text, &len)) != JGET_OK)
		return (rc);
	if (strlen(text) != len)
		return (JGET_RANGE);
	*s = text;
	return (JGET_OK);
}

enum jget
jget_bool(json_object *o, const char *key, int *b)
{
	json_object *v;
	enum jget rc;

	if ((rc = member(o, key, json_type_boolean, &v)) == JGET_OK)
		*b = json_object_get_boolean(v) != 0;
	return (rc);
}

enum jget
jget_u64(
    json_object *o, const char *key, uint64_t min, uint64_t max, uint64_t *x)
{
	json_object *v;
	enum jget rc;
	uint64_t n;

	if ((rc = member(o, key, json_type_int, &v)) != JGET_OK)
		return (rc);
	n = json_object_get_uint64(v);
	if (json_object_get_int64(v) < 0 || n < min || n > max)
		return (JGET_RANGE);
	*x = n;
	return (JGET_OK);
}

enum jget
jget_num(json_object *o, const char *key, double min, double max, double *x)
{
	json_object *v;
	enum jget rc;
	double n;

	rc = member(o, key, json_type_double, &v);
	if (rc == JGET_TYPE)
		rc = member(o, key, json_type_int, &v);
	if (rc != JGET_OK)
		return (rc);
	n = json_object_get_double(v);
	if (!(n >= min && n <= max))
		return (JGET_RANGE);
	*x = n;
	return (JGET_OK);
}

enum jget
jget_array(json_object *o, const char *key, json_object **a)
{
	json_object *v;
	enum jget rc;

	if ((rc = member(o, key, json_type_array, &v)) == JGET_OK)
		*a = v;
	return (rc);
}

enum jget
jget_object(json_object *o, const char *key, json_object **x)
{
	json_object *v;
	enum jget rc;

	if ((rc = member(o, key, json_type_object, &v)) == JGET_OK)
		*x = v;
	return (rc);
}
