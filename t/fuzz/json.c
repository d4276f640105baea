/*
 * JSON twice: what the span scanner says of a text and what json-c makes of it
 * agree, value by value.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/jget.h"
#include "base/jspan.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
must(int cond)
{

	if (!cond)
		abort();
}

static void
same_string(struct jspan v, json_object *o)
{
	struct buf b = BUF_INIT(1 << 20);
	size_t len = (size_t)json_object_get_string_len(o);

	must(jspan_str(&b, v) == 0 && b.len == len);
	must(memcmp(b.p, json_object_get_string(o), len) == 0);
	buf_free(&b);
}

static void same(struct jspan, json_object *);

static void
same_array(struct jspan v, json_object *o)
{
	struct jspan_iter it;
	struct jspan e;
	size_t i = 0;

	must(jspan_iter(&it, v) == 0);
	while (jspan_next(&it, NULL, &e))
		same(e, json_object_array_get_idx(o, i++));
	must(i == json_object_array_length(o));
}

static void
same_object(struct jspan v, json_object *o)
{
	struct buf key = BUF_INIT(1 << 20);
	struct jspan_iter it;
	struct jspan k, e, found;
	json_object *member;
	int n = 0;

	must(jspan_iter(&it, v) == 0);
	while (jspan_next(&it, &k, &e)) {
		buf_free(&key);
		must(jspan_str(&key, k) == 0 && jspan_is(k, key.p));
		must(json_object_object_get_ex(o, key.p, &member));
		if (n++ < 20) {
			must(jspan_get(v, key.p, &found) == 1);
			must(found.p == e.p && found.len == e.len);
		}
		same(e, member);
	}
	buf_free(&key);
	must(n == json_object_object_length(o));
}

static void
same(struct jspan v, json_object *o)
{

	must(v.len > 0);
	switch (json_object_get_type(o)) {
	case json_type_null:
		must(v.len == 4 && v.p[0] == 'n');
		break;
	case json_type_boolean:
		must(v.p[0] == (json_object_get_boolean(o) ? 't' : 'f'));
		break;
	case json_type_int:
	case json_type_double:
		must(v.p[0] == '-' || (v.p[0] >= '0' && v.p[0] <= '9'));
		break;
	case json_type_string:
		same_string(v, o);
		break;
	case json_type_array:
		same_array(v, o);
		break;
	case json_type_object:
		same_object(v, o);
		break;
	}
}

/* Replacing "model" leaves a text that is JSON and differs nowhere else. */
static void
replace(struct jspan root)
{
	struct jspan_edit edit = {.text = {"\"m\"", 3}};
	struct buf b = BUF_INIT(1 << 20);
	struct jspan_info info;

	if (jspan_get(root, "model", &edit.at) != 1)
		return;
	must(jspan_splice(&b, root, &edit, 1) == 0);
	must(b.len == root.len - edit.at.len + 3);
	must(jspan_check(b.p, b.len, JSPAN_DEPTH_MAX, &info) == JSPAN_OK);
	must(jspan_get(info.root, "model", &edit.at) == 1);
	must(jspan_is(edit.at, "m"));
	buf_free(&b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct jspan_info info;
	json_object *o = NULL;
	enum jspan_rc span;
	enum jget_parse rc;
	size_t at;
	char *text;

	/* A copy of its own, so that a read past the end is seen. */
	if ((text = malloc(len + (len == 0))) == NULL)
		abort();
	if (len > 0)
		memcpy(text, data, len);
	span = jspan_check(text, len, JGET_DEPTH, &info);
	rc = jget_parse(text, len, &o, &at);
	must(info.at <= len);
	if (span == JSPAN_DEPTH)
		must(rc == JGET_PARSE_DEPTH);
	else if (span == JSPAN_SYNTAX || info.nul_key != NULL)
		must(rc == JGET_PARSE_SYNTAX);
	else if (info.values > JGET_VALUES)
		must(rc == JGET_PARSE_MANY);
	else
		must(rc ==
		    (jspan_repeated(info.root) ? JGET_PARSE_REPEATED
					       : JGET_PARSE_OK));
	if (rc == JGET_PARSE_OK)
		same(info.root, o);
	if (span == JSPAN_OK)
		replace(info.root);
	json_object_put(o);
	/* Where repeated keys are welcome, nothing else is judged otherwise. */
	must(jget_parse_last(text, len, JGET_DEPTH, &o, &at) ==
	    (rc == JGET_PARSE_REPEATED ? JGET_PARSE_OK : rc));
	json_object_put(o);
	free(text);
	return (0);
}
