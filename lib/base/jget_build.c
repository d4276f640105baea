#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#include "base/jget_build.h"

/* No text is longer than what jspan_check() was given. */
#define TEXT_MAX ((size_t)INT_MAX)

static json_object *
build_string(struct jspan v)
{
	struct buf b = BUF_INIT(TEXT_MAX);
	json_object *o = NULL;

	if (jspan_str(&b, v) == 0)
		o = json_object_new_string_len(
		    b.len > 0 ? b.p : "", (int)b.len);
	buf_free(&b);
	return (o);
}

static json_object *
number_of(const char *s)
{

	if (s[strcspn(s, ".eE")] != '\0')
		return (json_object_new_double_s(strtod(s, NULL), s));
	if (*s == '-')
		return (json_object_new_int64(strtoll(s, NULL, 10)));
	errno = 0;
	const long long n = strtoll(s, NULL, 10);
	if (errno == 0)
		return (json_object_new_int64(n));
	return (json_object_new_uint64(strtoull(s, NULL, 10)));
}

static json_object *
build_number(struct jspan v)
{
	char *s = strndup(v.p, v.len); /* strtod() wants an end. */
	json_object *o = s != NULL ? number_of(s) : NULL;

	free(s);
	return (o);
}

static enum jget_parse
build_array(struct jspan v, json_object *a)
{
	struct jspan_iter it;
	enum jget_parse rc;
	json_object *o;
	struct jspan e;

	(void)jspan_iter(&it, v);
	while (jspan_next(&it, NULL, &e)) {
		if ((rc = jget_build(e, &o)) != JGET_PARSE_OK)
			return (rc);
		if (json_object_array_add(a, o)) {
			json_object_put(o);
			return (JGET_PARSE_MEMORY);
		}
	}
	return (JGET_PARSE_OK);
}

/* Put ${e} under ${key}, once. */
static enum jget_parse
build_member(json_object *m, struct jspan key, struct jspan e)
{
	struct buf b = BUF_INIT(TEXT_MAX);
	enum jget_parse rc = JGET_PARSE_MEMORY;
	json_object *o = NULL;

	if (buf_puts(&b, "") || jspan_str(&b, key))
		goto done;
	rc = JGET_PARSE_REPEATED;
	if (json_object_object_get_ex(m, b.p, NULL))
		goto done;
	if ((rc = jget_build(e, &o)) != JGET_PARSE_OK)
		goto done;
	if (json_object_object_add_ex(
		m, b.p, o, JSON_C_OBJECT_ADD_KEY_IS_NEW)) {
		json_object_put(o);
		rc = JGET_PARSE_MEMORY;
	}

done:
	buf_free(&b);
	return (rc);
}

static enum jget_parse
build_object(struct jspan v, json_object *m)
{
	enum jget_parse rc = JGET_PARSE_OK;
	struct jspan_iter it;
	struct jspan key, e;

	(void)jspan_iter(&it, v);
	while (rc == JGET_PARSE_OK && jspan_next(&it, &key, &e))
		rc = build_member(m, key, e);
	return (rc);
}

enum jget_parse
jget_build(struct jspan v, json_object **o)
{
	enum jget_parse rc = JGET_PARSE_OK;

	*o = NULL;
	switch (v.p[0]) {
	case 'n':
		return (JGET_PARSE_OK);
	case 't':
	case 'f':
		*o = json_object_new_boolean(v.p[0] == 't');
		break;
	case '"':
		*o = build_string(v);
		break;
	case '[':
		if ((*o = json_object_new_array()) != NULL)
			rc = build_array(v, *o);
		break;
	case '{':
		if ((*o = json_object_new_object()) != NULL)
			rc = build_object(v, *o);
		break;
	default:
		*o = build_number(v);
	}
	if (*o == NULL)
		return (JGET_PARSE_MEMORY);
	if (rc != JGET_PARSE_OK) {
		json_object_put(*o);
		*o = NULL;
	}
	return (rc);
}
