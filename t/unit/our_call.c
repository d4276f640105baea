/*
 * What models mean by the calls they make: names and arguments that are not
 * quite what was offered (executor contract 3.1, 3.2, edge cases 23 to 25).
 */
#include "speech/talk.h"

#include "run/our_call.h"

#include "fixture.h"
#include "tap.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define BASH (1U << OUR_BASH)
#define EDIT (1U << OUR_EDITOR)
#define CODE (1U << OUR_CODE)

/* clang-format off */
static const struct {
	const char *name;
	unsigned int ours;
	const char *called, *args;
	enum our_tool tool;
	const char *out; /* NULL: nothing that could be run. */
} rows[] = {
	{ "as it was offered", BASH | EDIT, "bash_code_execution",
	    "{\"command\":\"ls\"}", OUR_BASH, "{\"command\":\"ls\"}" },
	{ "more members do no harm", BASH | EDIT, "bash_code_execution",
	    "{\"command\":\"ls\",\"why\":1}", OUR_BASH,
	    "{\"command\":\"ls\",\"why\":1}" },
	{ "no arguments", BASH | EDIT, "bash_code_execution", "", OUR_BASH,
	    NULL },
	{ "an empty object", BASH | EDIT, "bash_code_execution", "{}",
	    OUR_BASH, NULL },
	{ "an empty command", BASH | EDIT, "bash_code_execution",
	    "{\"command\":\"\"}", OUR_BASH, NULL },
	{ "a command that is a number", BASH | EDIT, "bash_code_execution",
	    "{\"command\":7}", OUR_BASH, NULL },
	{ "broken off", BASH | EDIT, "bash_code_execution",
	    "{\"command\":\"ls", OUR_BASH, NULL },
	{ "a string for a command", BASH | EDIT, "bash_code_execution",
	    "\"ls\"", OUR_BASH, NULL },
	{ "a command called bash", BASH | EDIT, "bash_code_execution",
	    "{\"bash\":\"ls\"}", OUR_BASH, "{\"command\":\"ls\"}" },
	{ "a command called script", BASH | EDIT, "bash_code_execution",
	    "{\"script\":\"ls\"}", OUR_BASH, "{\"command\":\"ls\"}" },
	{ "a line feed that is not escaped", BASH | EDIT,
	    "bash_code_execution", "{\"command\": \"echo 1\necho 2\"}",
	    OUR_BASH, "{\"command\": \"echo 1\\necho 2\"}" },
	{ "under another name", BASH | EDIT, "bash", "{\"cmd\":\"ls\"}",
	    OUR_BASH, "{\"command\":\"ls\"}" },
	{ "Python", CODE, "python", "{\"code\":\"print(1)\"}", OUR_CODE,
	    "{\"code\":\"print(1)\"}" },
	{ "Python as a bare string", CODE, "code_execution", "\"print(1)\"",
	    OUR_CODE, "{\"code\":\"print(1)\"}" },
	{ "Python as it is", CODE, "code_execution", "print(1)", OUR_CODE,
	    "{\"code\":\"print(1)\"}" },
	{ "Python between fences", CODE, "code_execution",
	    "```python\nprint(1)\n```", OUR_CODE,
	    "{\"code\":\"print(1)\\n\"}" },
	{ "Python broken off", CODE, "code_execution", "{\"code\":\"print(",
	    OUR_CODE, NULL },
	{ "Python broken off, after a space", CODE, "code_execution",
	    " {\"code\":\"print(", OUR_CODE, NULL },
	{ "the editor", BASH | EDIT, "text_editor_code_execution",
	    "{\"command\":\"view\",\"path\":\"a\"}", OUR_EDITOR,
	    "{\"command\":\"view\",\"path\":\"a\"}" },
	{ "a command where there is only Python", CODE, "bash",
	    "{\"command\":\"echo 'a\\\"b'\"}", OUR_CODE,
	    "{\"code\":\"import subprocess\\nprint(subprocess.run(['bash', "
	    "'-c', \\\"echo 'a\\\\\\\"b'\\\"], stdout=subprocess.PIPE, "
	    "stderr=subprocess.STDOUT, text=True).stdout, end='')\"}" },
};

static const struct { const char *name; enum our_tool tool; } names[] = {
	{ "bash_code_execution", OUR_BASH }, { "bash", OUR_BASH },
	{ "python", OUR_CODE }, { "code_interpreter", OUR_CODE },
	{ "execute_code", OUR_CODE }, { "run_code", OUR_CODE },
	{ "text_editor_code_execution", OUR_EDITOR },
	{ "rm_rf", OUR_NONE }, { "", OUR_NONE },
};
/* clang-format on */

static void
heredoc(struct arena *mem)
{
	struct talk *t = talk_new(mem);
	struct text args = TEXT_LIT("{\"code\":\"print(1)\"}");
	struct call c;
	json_object *o, *v = NULL;
	const char *s, *nl;

	t->ours = BASH | EDIT;
	talk_offer(t);
	call_read(t, OUR_CODE, args, &c);
	o = json_tokener_parse(c.args.p);
	json_object_object_get_ex(o, "command", &v);
	s = json_object_get_string(v);
	nl = strstr(s, "\nprint(1)\n");
	ok(!c.bad && c.tool == OUR_BASH &&
		strncmp(s, "python3 - <<'PYTHON_", 20) == 0 && nl != NULL &&
		strncmp(nl + 10, s + 13, 15) == 0 && nl[25] == '\0',
	    "Python where there is only a shell: a here-document");
	json_object_put(o);
}

int
main(void)
{
	struct arena *mem = arena_new(1 << 20);
	struct talk *t;
	struct call c;
	struct text args;
	enum our_tool meant;
	size_t i;
	int good, bad = 0;

	for (i = 0; i < NELEM(rows); i++) {
		t = talk_new(mem);
		t->ours = rows[i].ours;
		talk_offer(t);
		args.p = rows[i].args;
		args.len = strlen(rows[i].args);
		meant = talk_ours(t, rows[i].called);
		good = meant != OUR_NONE &&
		    call_read(t, meant, args, &c) == 0 &&
		    c.tool == rows[i].tool && c.bad == (rows[i].out == NULL) &&
		    (c.bad ||
			(c.args.len == strlen(rows[i].out) &&
			    memcmp(c.args.p, rows[i].out, c.args.len) == 0));
		ok(good, rows[i].name);
		if (!good)
			printf("# got %.*s\n", (int)c.args.len, c.args.p);
	}
	heredoc(mem);

	t = talk_new(mem);
	t->ours = BASH | EDIT | CODE;
	talk_offer(t);
	for (i = 0; i < NELEM(names); i++)
		bad += talk_ours(t, names[i].name) != names[i].tool;
	ok(bad == 0, "names that models use for our functions");
	talk_tool(t)->name = "python";
	ok(talk_ours(t, "python") == OUR_NONE,
	    "but a caller's function of that name is the caller's");
	t = talk_new(mem);
	talk_offer(t);
	ok(talk_ours(t, "python") == OUR_NONE &&
		talk_ours(t, "bash_code_execution") == OUR_NONE,
	    "without code execution none is ours");
	arena_free(mem);
	return (done_testing());
}
