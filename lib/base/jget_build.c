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

static enum jget_parse build(struct jspan_iter *, int, json_object **);

static enum jget_parse
build_element(json_object *a, struct jspan_iter *it, int last)
{
	enum jget_parse rc;
	json_object *o;

	if ((rc = build(it, last, &o)) == JGET_PARSE_OK &&
	    json_object_array_add(a, o)) {
		json_object_put(o);
		rc = JGET_PARSE_MEMORY;
	}
	return (rc);
}

/* Put the value at ${it} under ${key}; a second time only with ${last}. */
static enum jget_parse
build_member(json_object *m, struct jspan key, struct jspan_iter *it, int last)
{
	struct buf b = BUF_INIT(TEXT_MAX);
	enum jget_parse rc = JGET_PARSE_MEMORY;
	json_object *o = NULL;

	if (buf_puts(&b, "") || jspan_str(&b, key))
		goto done;
	rc = JGET_PARSE_REPEATED;
	if (json_object_object_get_ex(m, b.p, NULL) && !last)
		goto done;
	if ((rc = build(it, last, &o)) != JGET_PARSE_OK)
		goto done;
	if (json_object_object_add_ex(
		m, b.p, o, last ? 0 : JSON_C_OBJECT_ADD_KEY_IS_NEW)) {
		json_object_put(o);
		rc = JGET_PARSE_MEMORY;
	}

done:
	buf_free(&b);
	return (rc);
}

/* The array or object at ${it}, in one pass however deep it goes. */
static enum jget_parse
build_nested(struct jspan_iter *it, int last, json_object **o)
{
	struct jspan_iter in = {it->p + 1, it->end, *it->p == '{'};
	enum jget_parse rc = JGET_PARSE_OK;
	struct jspan key;

	*o = in.object ? json_object_new_object() : json_object_new_array();
	if (*o == NULL)
		return (JGET_PARSE_MEMORY);
	while (rc == JGET_PARSE_OK && jspan_step(&in, &key))
		rc = in.object ? build_member(*o, key, &in, last)
			       : build_element(*o, &in, last);
	it->p = in.p + 1;
	if (rc != JGET_PARSE_OK) {
		json_object_put(*o);
		*o = NULL;
	}
	return (rc);
}

/* The value at ${it}, which is moved behind it. */
static enum jget_parse
build(struct jspan_iter *it, int last, json_object **o)
{
	struct jspan v;

	*o = NULL;
	if (*it->p == '[' || *it->p == '{')
		return (build_nested(it, last, o));
	jspan_value(it, &v);
	if (v.p[0] == 'n')
		return (JGET_PARSE_OK);
	if (v.p[0] == 't' || v.p[0] == 'f')
		*o = json_object_new_boolean(v.p[0] == 't');
	else if (v.p[0] == '"')
		*o = build_string(v);
	else
		*o = build_number(v);
	return (*o != NULL ? JGET_PARSE_OK : JGET_PARSE_MEMORY);
}

enum jget_parse
jget_build(struct jspan v, int last, json_object **o)
{
	struct jspan_iter it = {v.p, v.p + v.len, 0};

	return (build(&it, last, o));
}
