#include <string.h>

#include "speech/ours.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define BIT(t) (1U << (t))

#define BASH(at, under)                                                  \
	"Run a shell command in the sandbox. " at                        \
	"Python 3 is installed. Files written " under " are given back " \
	"to the user. No network. Files stay between calls."
#define EDITOR "View, create or edit a text file in the sandbox."
#define CODE(at, under)                                                       \
	"Run Python code in the sandbox. " at "Files written " under          \
	" are given back to the user. No network. Files and variables stay "  \
	"between calls, and for later requests that use the same container; " \
	"a call that is stopped at a limit loses the variables."

const struct our_row our_rows[OUR_COUNT] = {
    [OUR_BASH] = {"bash_code_execution", BASH(OUR_AT, OUR_UNDER),
	BASH(OUR_HERE, OUR_IN_HERE),
	"{\"type\":\"object\",\"properties\":{\"command\":{\"type\":"
	"\"string\",\"description\":\"The command line to run with bash.\"}},"
	"\"required\":[\"command\"]}",
	"command"},
    [OUR_EDITOR] = {"text_editor_code_execution", EDITOR, EDITOR,
	"{\"type\":\"object\",\"properties\":{\"command\":{\"type\":"
	"\"string\",\"enum\":[\"view\",\"create\",\"str_replace\"]},"
	"\"path\":{\"type\":\"string\"},\"view_range\":{\"type\":\"array\","
	"\"items\":{\"type\":\"integer\"},\"minItems\":2,\"maxItems\":2},"
	"\"file_text\":{\"type\":\"string\"},\"old_str\":{\"type\":"
	"\"string\"},\"new_str\":{\"type\":\"string\"}},"
	"\"required\":[\"command\",\"path\"]}",
	"command"},
    [OUR_CODE] = {"code_execution", CODE(OUR_AT, OUR_UNDER),
	CODE(OUR_HERE, OUR_IN_HERE),
	"{\"type\":\"object\",\"properties\":{\"code\":{\"type\":\"string\","
	"\"description\":\"The Python program to run.\"}},"
	"\"required\":[\"code\"]}",
	"code"},
};

enum declared
our_declared(const char *type)
{

	if (type == NULL)
		return (DECLARED_NONE);
	if (strcmp(type, "satchel_code_execution") == 0 ||
	    strcmp(type, "otari_code_execution") == 0)
		return (DECLARED_EXPLICIT);
	if (strcmp(type, "code_interpreter") == 0)
		return (DECLARED_OPENAI);
	if (strcmp(type, "code_execution") == 0)
		return (DECLARED_BARE);
	if (strncmp(type, "code_execution_", 15) == 0 && type[15] != '\0')
		return (DECLARED_DATED);
	return (DECLARED_NONE);
}

unsigned int
our_vocabulary(enum declared kind, const char *type)
{

	if (kind != DECLARED_DATED ||
	    strcmp(type, "code_execution_20250522") == 0)
		return (BIT(OUR_CODE));
	if (strcmp(type, "code_execution_20250825") == 0)
		return (BIT(OUR_BASH) | BIT(OUR_EDITOR));
	return (BIT(OUR_BASH) | BIT(OUR_EDITOR) | BIT(OUR_CODE));
}

enum our_tool
our_alias(const char *name)
{
	/* clang-format off */
	static const struct { const char *name; enum our_tool tool; } rows[] = {
		{ "python", OUR_CODE }, { "code_interpreter", OUR_CODE },
		{ "execute_code", OUR_CODE }, { "run_code", OUR_CODE },
		{ "code_execution", OUR_CODE }, { "bash", OUR_BASH },
		{ "bash_code_execution", OUR_BASH },
		{ "text_editor_code_execution", OUR_EDITOR },
	};
	/* clang-format on */
	size_t i;

	for (i = 0; i < NELEM(rows); i++)
		if (strcmp(rows[i].name, name) == 0)
			return (rows[i].tool);
	return (OUR_NONE);
}
