#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/jget.h"
#include "base/jset.h"
#include "base/utf8.h"

#include "run/ptc_tools.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define PARAMS_MAX 256
#define SHOWN 80 /* Bytes of a name in a sentence. */

static const char *const python_words[] = {"False", "None", "True", "and", "as",
    "assert", "async", "await", "break", "class", "continue", "def", "del",
    "elif", "else", "except", "finally", "for", "from", "global", "if",
    "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise",
    "return", "try", "while", "with", "yield"};

/* Its words, and what a function must not take the place of. */
static const char *const bash_words[] = {"alias", "bg", "bind", "break",
    "builtin", "caller", "case", "cd", "command", "compgen", "complete",
    "continue", "coproc", "declare", "dirs", "disown", "do", "done", "echo",
    "elif", "else", "enable", "esac", "eval", "exec", "exit", "export", "false",
    "fc", "fg", "fi", "for", "function", "getopts", "hash", "help", "history",
    "if", "in", "jobs", "kill", "let", "local", "logout", "mapfile", "popd",
    "printf", "pushd", "pwd", "read", "readarray", "readonly", "return",
    "select", "set", "shift", "shopt", "source", "suspend", "test", "then",
    "time", "times", "trap", "true", "type", "typeset", "ulimit", "umask",
    "unalias", "unset", "until", "wait", "while"};

static int
is_word(enum ptc_lang lang, const char *s)
{
	const char *const *words = lang == PTC_BASH ? bash_words : python_words;
	size_t n = lang == PTC_BASH ? NELEM(bash_words) : NELEM(python_words);

	while (n > 0)
		if (strcmp(words[--n], s) == 0)
			return (1);
	return (0);
}

static int
is_digit(char c)
{

	return (c >= '0' && c <= '9');
}

static int
is_plain(char c)
{

	return (is_digit(c) || c == '_' ||
	    ((c | 0x20) >= 'a' && (c | 0x20) <= 'z'));
}

/* White space as the client's language has it. */
static int
is_space(uint32_t cp)
{

	return ((cp >= '\t' && cp <= '\r') || cp == ' ' || cp == 0xa0 ||
	    cp == 0x1680 || (cp >= 0x2000 && cp <= 0x200a) || cp == 0x2028 ||
	    cp == 0x2029 || cp == 0x202f || cp == 0x205f || cp == 0x3000 ||
	    cp == 0xfeff);
}

int
ptc_ident(
    enum ptc_lang lang, const char *name, char ident[static PTC_IDENT_MAX + 8])
{
	const char *const end = name + strlen(name);
	size_t n = 0, step;
	uint32_t cp;

	for (; name < end; name += step) {
		if ((step = utf8_next(name, (size_t)(end - name), &cp)) == 0)
			return (-1);
		const char c =
		    is_space(cp) || cp == '-' || (cp == '.' && lang == PTC_BASH)
		    ? '_'
		    : *name;

		if (!is_plain(c))
			continue;
		if (n + 2 > PTC_IDENT_MAX)
			return (-1);
		if (n == 0 && is_digit(c))
			ident[n++] = '_';
		ident[n++] = c;
	}
	ident[n] = '\0';
	if (n == 0)
		return (-1);
	if (is_word(lang, ident) || strncmp(ident, "_ptc_", 5) == 0)
		memcpy(ident + n, "_tool", sizeof("_tool"));
	return (0);
}

/* An element {name, ident} for ${name}, unless its identifier is in ${list}. */
static json_object *
element(json_object *list, enum ptc_lang lang, const char *what,
    const char *name, char *why, size_t size)
{
	char ident[PTC_IDENT_MAX + 8];
	const char *have, *other;
	json_object *e;

	if (ptc_ident(lang, name, ident)) {
		(void)snprintf(why, size,
		    "%s name \"%.*s\" holds nothing that an identifier could "
		    "be made of, or too much",
		    what, SHOWN, name);
		return (NULL);
	}
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		e = json_object_array_get_idx(list, i);
		if (jget_str(e, "ident", &have) != JGET_OK ||
		    strcmp(have, ident) != 0 ||
		    jget_str(e, "name", &other) != JGET_OK)
			continue;
		(void)snprintf(why, size,
		    "%s names \"%.*s\" and \"%.*s\" become the same identifier "
		    "\"%s\"; rename one",
		    what, SHOWN, other, SHOWN, name, ident);
		return (NULL);
	}
	if ((e = json_object_new_object()) == NULL ||
	    jset(e, "name", jstr(name)) || jset(e, "ident", jstr(ident))) {
		json_object_put(e);
		e = NULL;
		(void)snprintf(why, size, "out of memory");
	}
	return (e);
}

/* Is ${name} in the list "required" of ${schema}? */
static int
is_required(json_object *schema, const char *name)
{
	json_object *a, *x;

	if (jget_array(schema, "required", &a) != JGET_OK)
		return (0);
	for (size_t i = 0; i < json_object_array_length(a); i++) {
		x = json_object_array_get_idx(a, i);
		if (json_object_is_type(x, json_type_string) &&
		    strcmp(json_object_get_string(x), name) == 0)
			return (1);
	}
	return (0);
}

/* The parameters of ${schema}, those that are required first. */
static int
read_params(json_object *schema, json_object *tool, char *why, size_t size)
{
	json_object *props, *list, *e;

	if (jset(tool, "params", list = json_object_new_array()))
		return (-1);
	/* A schema that says nothing lets everything through. */
	if (!json_object_is_type(schema, json_type_object) ||
	    jget_object(schema, "properties", &props) != JGET_OK ||
	    json_object_object_length(props) == 0)
		return (jset(tool, "open", jbool(1)));
	if (json_object_object_length(props) > PARAMS_MAX) {
		(void)snprintf(why, size, "a tool has more than %d parameters",
		    PARAMS_MAX);
		return (-1);
	}
	for (int must = 1; must >= 0; must--) {
		json_object_object_foreach(props, name, val)
		{
			(void)val;
			if (is_required(schema, name) != must)
				continue;
			e = element(
			    list, PTC_PYTHON, "Parameter", name, why, size);
			if (e == NULL || jset(e, "required", jbool(must)) ||
			    jadd(list, e))
				return (-1);
		}
	}
	return (jset(tool, "open", jbool(0)));
}

static int
read_tool(json_object *list, json_object *o, enum ptc_lang lang, char *why,
    size_t size)
{
	json_object *e, *schema = NULL;
	const char *name;

	if (!json_object_is_type(o, json_type_object) ||
	    jget_str(o, "name", &name) != JGET_OK || *name == '\0') {
		(void)snprintf(why, size,
		    "tools[%zu] must be an object with a name",
		    json_object_array_length(list));
		return (-1);
	}
	if ((e = element(list, lang, "Tool", name, why, size)) == NULL)
		return (-1);
	(void)json_object_object_get_ex(o, "parameters", &schema);
	if (read_params(schema, e, why, size)) {
		json_object_put(e);
		return (-1);
	}
	return (jadd(list, e));
}

int
ptc_tools_read(json_object *list, enum ptc_lang lang, json_object **tools,
    char *why, size_t size)
{

	*why = '\0';
	if ((*tools = json_object_new_array()) == NULL)
		return (-1);
	if (list == NULL)
		return (0);
	if (!json_object_is_type(list, json_type_array)) {
		(void)snprintf(why, size, "tools must be a list");
		goto err1;
	}
	if (json_object_array_length(list) > PTC_TOOLS_MAX) {
		(void)snprintf(why, size, "tools holds more than %d entries",
		    PTC_TOOLS_MAX);
		goto err1;
	}
	for (size_t i = 0; i < json_object_array_length(list); i++)
		if (read_tool(*tools, json_object_array_get_idx(list, i), lang,
			why, size))
			goto err1;
	return (0);

err1:
	json_object_put(*tools);
	*tools = NULL;
	if (*why == '\0')
		(void)snprintf(why, size, "out of memory");
	return (-1);
}
