/* The names of tools: the client's rule (librechat contract 10.5 and 10.6). */

#include <stdio.h>
#include <string.h>

#include "base/jget.h"
#include "run/ptc_tools.h"

#include "t/unit/tap.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

/* clang-format off */
static const struct name {
	const char *name, *python, *bash; /* NULL: none can be made. */
} names[] = {
	{ "get-weather", "get_weather", "get_weather" },
	{ "get weather", "get_weather", "get_weather" },
	{ "get.weather", "getweather", "get_weather" },
	{ "tab\there", "tab_here", "tab_here" },
	{ "1st", "_1st", "_1st" },
	{ "-1", "_1", "_1" },
	{ "!1", "_1", "_1" },
	{ "class", "class_tool", "class" },
	{ "None", "None_tool", "None" },
	{ "case", "case", "case_tool" },
	{ "echo", "echo", "echo_tool" },
	{ "is", "is_tool", "is" },
	{ "a$(rm -rf /)b", "arm__rf_b", "arm__rf_b" },
	{ "a;b\"c'd\\e", "abcde", "abcde" },
	{ "\xc3\xa9t\xc3\xa9", "t", "t" },
	{ "\xe6\x97\xa5\xe6\x9c\xac", NULL, NULL },
	{ "a\xc2\xa0" "b\xe3\x80\x80" "c\xef\xbb\xbf" "d", "a_b_c_d",
	    "a_b_c_d" },
	{ "a\xe2\x80\x8b" "b\xc2\x85" "c", "abc", "abc" }, /* No spaces. */
	{ "!!!", NULL, NULL },
	{ "", NULL, NULL },
};
/* clang-format on */

static void
test_names(void)
{
	const enum ptc_lang langs[] = {PTC_PYTHON, PTC_BASH};
	char ident[PTC_IDENT_MAX + 8], what[128];

	for (size_t i = 0; i < NELEM(names); i++)
		for (size_t j = 0; j < NELEM(langs); j++) {
			const char *want = langs[j] == PTC_BASH
			    ? names[i].bash
			    : names[i].python;
			const int rc =
			    ptc_ident(langs[j], names[i].name, ident);

			(void)snprintf(what, sizeof(what), "name %zu, %s", i,
			    langs[j] == PTC_BASH ? "bash" : "Python");
			ok(want == NULL ? rc == -1
					: rc == 0 && strcmp(ident, want) == 0,
			    what);
		}
}

static void
test_long(void)
{
	char name[2 * PTC_IDENT_MAX], ident[PTC_IDENT_MAX + 8];

	memset(name, 'a', sizeof(name));
	name[PTC_IDENT_MAX - 1] = '\0';
	ok(ptc_ident(PTC_PYTHON, name, ident) == 0, "as long as may be");
	name[PTC_IDENT_MAX - 1] = 'a';
	name[PTC_IDENT_MAX] = '\0';
	ok(ptc_ident(PTC_PYTHON, name, ident) == -1, "longer");
}

/* What the tools ${text} come to, or why they do not. */
static int
is_read(const char *text, const char *want)
{
	json_object *o, *tools;
	char why[512];
	size_t at;
	int good;

	if (jget_parse(text, strlen(text), &o, &at) != JGET_PARSE_OK)
		return (0);
	if (ptc_tools_read(o, PTC_PYTHON, &tools, why, sizeof(why)) == 0)
		good = strcmp(json_object_to_json_string_ext(
				  tools, JSON_C_TO_STRING_PLAIN),
			   want) == 0;
	else
		good = strcmp(why, want) == 0;
	if (!good)
		printf("# %s\n# %s\n", why,
		    tools != NULL ? json_object_to_json_string(tools) : "");
	json_object_put(tools);
	json_object_put(o);
	return (good);
}

static void
test_tools(void)
{

	ok(is_read("[{\"name\":\"x-y\",\"parameters\":{\"properties\":"
		   "{\"a\":{},\"b-c\":{}},\"required\":[\"b-c\",7]}}]",
	       "[{\"name\":\"x-y\",\"ident\":\"x_y\",\"params\":["
	       "{\"name\":\"b-c\",\"ident\":\"b_c\",\"required\":true},"
	       "{\"name\":\"a\",\"ident\":\"a\",\"required\":false}],"
	       "\"open\":false}]"),
	    "parameters, those that are required first");
	ok(is_read("[{\"name\":\"x\",\"parameters\":null}]",
	       "[{\"name\":\"x\",\"ident\":\"x\",\"params\":[],"
	       "\"open\":true}]"),
	    "no schema");
	ok(is_read("[{\"name\":\"x\",\"parameters\":true}]",
	       "[{\"name\":\"x\",\"ident\":\"x\",\"params\":[],"
	       "\"open\":true}]"),
	    "a schema of everything");
	ok(is_read("[{\"name\":\"a-b\"},{\"name\":\"a_b\"}]",
	       "Tool names \"a-b\" and \"a_b\" become the same identifier "
	       "\"a_b\"; rename one"),
	    "two of one identifier");
	ok(is_read("[{\"name\":\"x\",\"parameters\":{\"properties\":"
		   "{\"a-b\":{},\"a b\":{}}}}]",
	       "Parameter names \"a-b\" and \"a b\" become the same "
	       "identifier \"a_b\"; rename one"),
	    "two parameters of one");
	ok(is_read("[7]", "tools[0] must be an object with a name"),
	    "no object");
}

int
main(void)
{

	test_names();
	test_long();
	test_tools();
	return (done_testing());
}
