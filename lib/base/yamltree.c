#include <string.h>

#include "base/buf.h"
#include "base/jset.h"
#include "base/yamlplain.h"
#include "base/yamltree.h"

/* A text being read. */
struct reader {
	yaml_parser_t ps;
	yaml_event_t ev;
	int have; /* ev must be deleted. */
	unsigned int depth;
	struct buf *err;
};

static json_object *read_value(struct reader *);

/* Say what is wrong where the reader is, unless that has been said already. */
static int
fail(struct reader *R, size_t line, const char *what)
{

	if (R->err->len == 0)
		(void)buf_printf(R->err, "line %zu: %s", line, what);
	return (-1);
}

static int
fail_here(struct reader *R, const char *what)
{

	return (fail(R, R->ev.start_mark.line + 1, what));
}

/* Refuse what a table has no need of. */
static int
plain_event(struct reader *R)
{
	const yaml_event_t *ev = &R->ev;
	const char *odd;

	if ((odd = yaml_odd(ev)) != NULL)
		return (fail_here(R, odd));
	if (ev->type == YAML_DOCUMENT_START_EVENT &&
	    (ev->data.document_start.version_directive != NULL ||
		ev->data.document_start.tag_directives.start !=
		    ev->data.document_start.tag_directives.end))
		return (fail_here(R, "a directive is not understood here"));
	return (0);
}

/* Take the next event. */
static int
next(struct reader *R)
{

	if (R->have)
		yaml_event_delete(&R->ev);
	R->have = 0;
	if (!yaml_parser_parse(&R->ps, &R->ev))
		return (fail(R, R->ps.problem_mark.line + 1,
		    R->ps.problem != NULL ? R->ps.problem : "out of memory"));
	R->have = 1;
	return (plain_event(R));
}

/* The event's text, or NULL after saying what is wrong with it. */
static const char *
scalar(struct reader *R)
{
	const char *v = (const char *)R->ev.data.scalar.value;
	size_t i;

	for (i = 0; i < R->ev.data.scalar.length; i++) {
		if ((unsigned char)v[i] < 0x20 || v[i] == 0x7f) {
			(void)fail_here(
			    R, "a control character or a line break");
			return (NULL);
		}
	}
	if (*v == '\0' && R->ev.data.scalar.style == YAML_PLAIN_SCALAR_STYLE) {
		(void)fail_here(R, "a value is missing; an empty one is \"\"");
		return (NULL);
	}
	return (v);
}

/* One key and its value, the event being the key. */
static int
read_pair(struct reader *R, json_object *map)
{
	json_object *key, *v;
	const char *text;
	int rc = -1;

	if (R->ev.type != YAML_SCALAR_EVENT)
		return (fail_here(R, "expected KEY: VALUE"));
	if ((text = scalar(R)) == NULL)
		return (-1);
	if (json_object_object_get_ex(map, text, NULL))
		return (fail_here(R, "a key stands twice"));
	if ((key = jstr(text)) == NULL)
		return (fail_here(R, "out of memory"));
	if (next(R) == 0 && (v = read_value(R)) != NULL) {
		rc =
		    json_object_object_add(map, json_object_get_string(key), v);
		if (rc)
			json_object_put(v);
	}
	json_object_put(key);
	return (rc);
}

static json_object *
read_map(struct reader *R)
{
	json_object *map = json_object_new_object();
	int rc = map == NULL ? -1 : 0;

	while (rc == 0) {
		if ((rc = next(R)) || R->ev.type == YAML_MAPPING_END_EVENT)
			break;
		rc = read_pair(R, map);
	}
	if (rc == 0)
		return (map);
	json_object_put(map);
	return (NULL);
}

static json_object *
read_list(struct reader *R)
{
	json_object *list = json_object_new_array();
	int rc = list == NULL ? -1 : 0;

	while (rc == 0) {
		if ((rc = next(R)) || R->ev.type == YAML_SEQUENCE_END_EVENT)
			break;
		rc = jadd(list, read_value(R));
	}
	if (rc == 0)
		return (list);
	json_object_put(list);
	return (NULL);
}

/* The value that the event begins, or NULL. */
static json_object *
read_value(struct reader *R)
{
	json_object *o = NULL;
	const char *v;

	if (++R->depth > YAMLTREE_DEPTH) {
		(void)fail_here(R, "nested too deep");
		return (NULL);
	}
	switch (R->ev.type) {
	case YAML_SCALAR_EVENT:
		if ((v = scalar(R)) != NULL)
			o = jstr(v);
		break;
	case YAML_SEQUENCE_START_EVENT:
		o = read_list(R);
		break;
	case YAML_MAPPING_START_EVENT:
		o = read_map(R);
		break;
	default:
		(void)fail_here(R, "a value is missing");
		break;
	}
	R->depth--;
	return (o);
}

static int
read_document(struct reader *R, json_object **o)
{

	if (next(R) || next(R)) /* Past the start of the stream. */
		return (-1);
	if (R->ev.type != YAML_DOCUMENT_START_EVENT)
		return (fail_here(R, "the file is empty"));
	if (next(R) || (*o = read_value(R)) == NULL || next(R) || next(R))
		return (-1);
	if (R->ev.type != YAML_STREAM_END_EVENT)
		return (fail_here(R, "a second document begins here"));
	return (0);
}

int
yamltree_read(const char *text, size_t len, json_object **o, struct buf *err)
{
	struct reader R = {.err = err};
	int rc;

	*o = NULL;
	if (len > YAMLTREE_MAX)
		return (fail(&R, 1, "the file is larger than 1 MiB"));
	if (!yaml_parser_initialize(&R.ps))
		return (fail(&R, 1, "out of memory"));
	yaml_parser_set_encoding(&R.ps, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&R.ps, (const unsigned char *)text, len);
	rc = read_document(&R, o);
	if (R.have)
		yaml_event_delete(&R.ev);
	yaml_parser_delete(&R.ps);
	if (rc == 0)
		return (0);
	json_object_put(*o);
	*o = NULL;
	return (fail(&R, 1, "out of memory"));
}
