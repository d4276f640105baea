#include <string.h>

#include "base/path.h"
#include "base/utf8.h"
#include "t/unit/tap.h"

static int
named(const char *s, const char *want)
{
	char out[PATH_NAME_SIZE];

	path_name(s, out);
	return (strcmp(out, want) == 0);
}

static void
names(void)
{
	char s[600], out[PATH_NAME_SIZE];
	size_t i;

	ok(named("data.csv", "data.csv"), "a plain name stays");
	ok(named("../../etc/passwd", "passwd"),
	    "only the last component stays");
	ok(named("dir/", "file") && named("", "file") && named("\n", "file"),
	    "nothing left is called file");
	ok(named(".bashrc", "_bashrc") && named("..", "_.") &&
		named("-rf", "_rf"),
	    "a leading dot or dash becomes _");
	ok(named("\x01.x", "_x"), "also one behind a control character");
	ok(named("a\tb\nc\x7f.txt", "abc.txt"), "control characters go");
	ok(named("\xc3\xa9 \xe8\xa1\xa8.csv", "\xc3\xa9 \xe8\xa1\xa8.csv"),
	    "other writing and spaces stay");
	memset(s, 'a', 199);
	memcpy(s + 199, "\xe8\xa1\xa8", 4);
	path_name(s, out);
	ok(strlen(out) == 199, "a cut at 200 bytes splits no character");
	for (i = 0; i < 300; i += 3)
		memcpy(s + i, "\xe8\xa1\xa8", 4);
	path_name(s, out);
	ok(strlen(out) == 198 && utf8_valid(out, 198),
	    "nor in a name of three-byte characters");
	s[200] = '\0';
	memset(s, 'b', 200);
	path_name(s, out);
	ok(strcmp(out, s) == 0, "200 bytes fit");
}

/* Names in use: a list that ends with NULL. */
static int
in_list(void *cookie, const char *name)
{
	const char **list = cookie;

	for (; *list != NULL; list++)
		if (strcmp(*list, name) == 0)
			return (1);
	return (0);
}

static int
always(void *cookie, const char *name)
{

	(void)name;
	return (*(int *)cookie);
}

static int
unique(const char *name, const char **list, const char *want)
{
	char out[PATH_NAME_SIZE];

	return (path_unique(name, in_list, list, out) == 0 &&
	    strcmp(out, want) == 0);
}

static void
unique_names(void)
{
	const char *list[] = {"data.csv", "data_2.csv", "a.tar.gz", "Makefile",
	    "end.", NULL, NULL};
	char s[PATH_NAME_SIZE], out[PATH_NAME_SIZE];
	int answer;

	ok(unique("x.csv", list, "x.csv"), "a free name stays");
	ok(unique("data.csv", list, "data_3.csv"),
	    "the first free number goes before the extension");
	ok(unique("a.tar.gz", list, "a.tar_2.gz"), "before the last extension");
	ok(unique("Makefile", list, "Makefile_2"), "or at the end");
	ok(unique("end.", list, "end_2."), "a lone dot is an extension");
	ok(unique("DATA.csv", list, "DATA.csv"), "names compare exactly");

	memset(s, 'a', 196);
	memcpy(s + 196, ".csv", 5);
	list[5] = s;
	ok(path_unique(s, in_list, list, out) == 0 && strlen(out) == 200 &&
		strcmp(out + 194, "_2.csv") == 0,
	    "the stem of a long name is cut to keep 200 bytes");
	memset(s, 'x', 200);
	s[0] = 'a';
	s[1] = '.';
	s[200] = '\0';
	ok(path_unique(s, in_list, list, out) == 0 && strlen(out) == 200 &&
		strcmp(out + 198, "_2") == 0,
	    "an extension as long as the name is none");
	answer = -1;
	ok(path_unique("x", always, &answer, out) == -1, "giving up is told");
	answer = 1;
	ok(path_unique("x", always, &answer, out) == -1,
	    "and so is that every name is in use");
}

static int
mime(const char *name, const char *want)
{
	const char *got = path_mime(name);

	return (got == NULL ? want == NULL
			    : want != NULL && strcmp(got, want) == 0);
}

static void
types(void)
{

	ok(mime("a.csv", "text/csv") && mime("a.b.PDF", "application/pdf"),
	    "the last extension gives the type in any letter case");
	ok(mime("a.docx",
	       "application/vnd.openxmlformats-officedocument."
	       "wordprocessingml.document"),
	    "office types are whole");
	ok(mime("a", NULL) && mime("a.", NULL) && mime("a.xyzzy", NULL) &&
		mime("", NULL),
	    "no or unknown extension gives none");
	ok(strcmp(path_ext("text/plain"), ".txt") == 0 &&
		strcmp(path_ext("image/jpeg"), ".jpg") == 0,
	    "a type gives its usual extension");
	ok(strcmp(path_ext("Text/HTML; charset=utf-8"), ".html") == 0,
	    "whatever its parameters and letter case");
	ok(strcmp(path_ext("x/y"), "") == 0 && strcmp(path_ext(""), "") == 0,
	    "an unknown type gives none");
}

int
main(void)
{

	names();
	unique_names();
	types();
	return (done_testing());
}
