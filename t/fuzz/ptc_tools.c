/*
 * The tools that a request names: whatever they are called, a harness is told
 * of identifiers only, each once.
 */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/jget.h"
#include "run/ptc_tools.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
must(int cond)
{

	if (!cond)
		abort();
}

static int
is_ident(const char *s)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "abcdefghijklmnopqrstuvwxyz0123456789_";

	return (*s != '\0' && !(*s >= '0' && *s <= '9') &&
	    s[strspn(s, plain)] == '\0' && strlen(s) < PTC_IDENT_MAX + 8);
}

/* Are all elements of ${list} called by identifiers, and each by its own? */
static void
check(json_object *list)
{
	const size_t n = json_object_array_length(list);
	const char *a, *b;
	json_object *params;

	for (size_t i = 0; i < n; i++) {
		json_object *e = json_object_array_get_idx(list, i);

		must(jget_str(e, "ident", &a) == JGET_OK && is_ident(a));
		must(jget_str(e, "name", &b) == JGET_OK);
		for (size_t j = 0; j < i; j++) {
			must(jget_str(json_object_array_get_idx(list, j),
				 "ident", &b) == JGET_OK);
			must(strcmp(a, b) != 0);
		}
		if (jget_array(e, "params", &params) == JGET_OK)
			check(params);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	json_object *o, *tools;
	char why[512];
	size_t at;

	if (jget_parse((const char *)data, len, &o, &at) != JGET_PARSE_OK)
		return (0);
	for (int lang = PTC_PYTHON; lang <= PTC_BASH; lang++) {
		if (ptc_tools_read(o, (enum ptc_lang)lang, &tools, why,
			sizeof(why)) == 0) {
			must(json_object_array_length(tools) <= PTC_TOOLS_MAX);
			check(tools);
		} else {
			must(tools == NULL && *why != '\0');
		}
		json_object_put(tools);
	}
	json_object_put(o);
	return (0);
}
