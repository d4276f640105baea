#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "jail/language.h"

#include "tap.h"

#define HEAD "languages:\n  - name: py\n    file: a.py\n"
#define RUN "    run: [/usr/bin/python3, a.py]\n"
#define PACKAGES "    packages: python3\n"
#define ALL HEAD RUN PACKAGES

/* What is said of the table ${text}; "" if nothing. */
static const char *
said(const char *text)
{
	static char out[256];
	struct buf err = BUF_INIT(1024);
	struct languages *L = languages_read(text, strlen(text), &err);

	(void)snprintf(out, sizeof(out), "%s%s", L != NULL ? "read" : "",
	    err.len > 0 ? err.p : "");
	languages_free(L);
	buf_free(&err);
	return (out);
}

static void
test_refused(void)
{
	static const struct {
		const char *text, *said;
	} rows[] = {
	    {"", "line 1: the file is empty"},
	    {"languages:\n", "line 1: a value is missing"},
	    {"languages: 3\n", "the file holds a list languages:"},
	    {"other: []\n", "the file holds a list languages:"},
	    {"languages: []\nmore: []\n", "the file holds a list languages:"},
	    {"languages: []\nlanguages: []\n", "line 2: a key stands twice"},
	    {"languages: [a]\n", "languages: each begins with"},
	    {"languages: *x\n", "line 1: an alias"},
	    {"languages: &x []\n", "line 1: an anchor"},
	    {"languages: !!seq []\n", "line 1: a tag"},
	    {"languages: [[[[[[[]]]]]]]\n", "line 1: nested too deep"},
	    {"languages: []\n---\nlanguages: []\n", "line 2: a second"},
	    {"languages: [\n", "line "},
	    {HEAD PACKAGES, "language py: run must be a list of words"},
	    {HEAD RUN, "language py: packages must be"},
	    {ALL "    color: red\n", "color: a language has no such key"},
	    {ALL "    file: b\n", "line 6: a key stands twice"},
	    {ALL "    env: [1A=b]\n", "language py: env must be"},
	    {ALL "    env: [A]\n", "language py: env must be"},
	    {ALL "    aliases: [Python]\n", "language py: aliases must be"},
	    {ALL "    aliases: [py]\n", "language py: py names another"},
	    {ALL "    aliases: a\n", "language py: aliases must be a list"},
	    {ALL "    compile: [gcc]\n", "language py: compile must be"},
	    {ALL "    compile_seconds: 0\n", "language py: compile_seconds"},
	    {ALL "    compile_seconds: 601\n", "language py: compile_seconds"},
	    {ALL "    address_space_bytes: x\n", "language py: address_space"},
	    {"languages:\n  - name: py\n    file: ../a\n" RUN PACKAGES,
		"language py: file must be the name of a file"},
	    {"languages:\n  - file: a\n" RUN PACKAGES,
		"language without a name: name must be"},
	    {"languages:\n  - name: \"a b\"\n    file: a\n" RUN PACKAGES,
		"language without a name: name must be"},
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *got = said(rows[i].text);
		int same =
		    strncmp(got, rows[i].said, strlen(rows[i].said)) == 0;

		ok(same, rows[i].said);
		if (!same)
			printf("# got: %s\n", got);
	}
}

int
main(void)
{
	struct buf err = BUF_INIT(1024);
	const struct language *l;
	struct languages *L;

	ok(strcmp(said(ALL), "read") == 0, "the smallest row");
	ok(strcmp(said(ALL "    compile: []\n"), "read") == 0,
	    "nothing to compile");
	test_refused();

	L = languages_load(NULL, &err);
	ok(L != NULL && err.len == 0, "the table that is built in");
	ok(languages_get(L, 12) != NULL && languages_get(L, 13) == NULL,
	    "thirteen languages");
	ok((l = languages_find(L, "C++")) != NULL &&
		strcmp(l->name, "cpp") == 0 && languages_find(L, "CPP") == l &&
		l->compile_s == 20,
	    "found by an alias, in any letter case");
	ok(languages_find(L, "") == NULL && languages_find(L, "cobol") == NULL,
	    "and not by what is none");
	l = languages_find(L, "bash");
	ok(l->compile[0] == NULL && l->env[0] == NULL && l->compile_s == 10,
	    "what a row leaves out");
	ok(language_absent(l, "") == NULL, "bash is here");
	ok(language_absent(l, "/nowhere") == l->run[0], "but not elsewhere");
	languages_free(L);
	ok(languages_load("/nowhere", &err) == NULL && err.len > 0,
	    "no such file");
	buf_free(&err);
	return (done_testing());
}
