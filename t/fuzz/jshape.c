#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/jget.h"
#include "base/jshape.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

/*
 * An object read by its table is what json-c reads of the same text, member by
 * member; and one that is refused has the fault that is named.
 */

#define must(cond)               \
	do {                     \
		if (!(cond))     \
			abort(); \
	} while (0)

struct thing {
	const char *t;
	struct jspan b, o, a;
	int f;
	uint64_t n;
};

#define AT(m) offsetof(struct thing, m)
#define TEXT_MAX 8

static const struct jshape rows[] = {
    {"t", JSHAPE_TEXT, AT(t), 0, 0, TEXT_MAX, NULL},
    {"b", JSHAPE_BYTES, AT(b), 0, 0, TEXT_MAX, NULL},
    {"o", JSHAPE_OBJECT, AT(o), 0, 0, 0, NULL},
    {"a", JSHAPE_ARRAY, AT(a), 0, 0, 0, NULL},
    {"f", JSHAPE_BOOL, AT(f), 0, 0, 0, NULL},
    {"n", JSHAPE_U64, AT(n), 0, 1, INT64_MAX, NULL},
};

/* Does json-c read of ${o} what is in ${x}? */
static void
same(json_object *o, const struct thing *x)
{
	const char *s;
	json_object *part;
	uint64_t n;
	size_t len;
	int f;

	must((jget_str(o, "t", &s) == JGET_OK) == (x->t != NULL));
	must(x->t == NULL || strcmp(s, x->t) == 0);
	must((jget_text(o, "b", &s, &len) == JGET_OK) == (x->b.p != NULL));
	must(
	    x->b.p == NULL || (len == x->b.len && memcmp(s, x->b.p, len) == 0));
	must((jget_object(o, "o", &part) == JGET_OK) == (x->o.p != NULL));
	must((jget_array(o, "a", &part) == JGET_OK) == (x->a.p != NULL));
	must((jget_bool(o, "f", &f) == JGET_OK) == (x->f >= 0));
	must(x->f < 0 || f == x->f);
	must((jget_u64(o, "n", 1, INT64_MAX, &n) == JGET_OK) == (x->n > 0));
	must(x->n == 0 || n == x->n);
}

/* Does json-c find a fault in the member that is named? */
static void
refused(json_object *o, const struct jshape *row)
{
	const char *s;
	json_object *part;
	enum jget rc = JGET_OK;
	uint64_t n;
	size_t len = 0;
	int f;

	switch (row->kind) {
	case JSHAPE_TEXT:
		if ((rc = jget_str(o, "t", &s)) == JGET_OK)
			len = strlen(s);
		break;
	case JSHAPE_BYTES:
		rc = jget_text(o, "b", &s, &len);
		break;
	case JSHAPE_OBJECT:
		rc = jget_object(o, "o", &part);
		break;
	case JSHAPE_ARRAY:
		rc = jget_array(o, "a", &part);
		break;
	case JSHAPE_BOOL:
		rc = jget_bool(o, "f", &f);
		break;
	case JSHAPE_U64:
	case JSHAPE_U64_CLAMP:
		rc = jget_u64(o, "n", 1, INT64_MAX, &n);
		break;
	}
	must(rc == JGET_TYPE || rc == JGET_RANGE || len > TEXT_MAX);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const size_t n = sizeof(rows) / sizeof(rows[0]);
	struct thing x = {.f = -1};
	struct jshape_fault fault;
	struct arena *mem;
	json_object *o;
	struct jspan root;
	size_t at;

	if (jget_parse((const char *)data, len, &o, &at) != JGET_PARSE_OK)
		return (0);
	must(jget_check((const char *)data, len, &root, &at) == JGET_PARSE_OK);
	if ((mem = arena_new(1 << 20)) == NULL)
		abort();
	switch (jshape_read(mem, root, rows, n, 0, &x, &fault)) {
	case JSHAPE_OK:
		same(o, &x);
		break;
	case JSHAPE_TYPE:
		must(fault.row != NULL ||
		    !json_object_is_type(o, json_type_object));
		if (fault.row != NULL)
			refused(o, fault.row);
		break;
	case JSHAPE_RANGE:
		refused(o, fault.row);
		break;
	case JSHAPE_ABSENT:
	case JSHAPE_REPEATED: /* jget_parse() has refused it. */
	case JSHAPE_UNKNOWN:
	case JSHAPE_MEMORY:
		abort();
	}
	arena_free(mem);
	json_object_put(o);
	return (0);
}
