#include <string.h>

#include "http/disposition.h"
#include "http/filename.h"
#include "t/unit/tap.h"

static int
gives(const char *name, const char *want)
{
	char value[DISPOSITION_SIZE];

	disposition_attachment(name, value);
	if (strcmp(value, want) != 0)
		printf("# got: %s\n", value);
	return (strcmp(value, want) == 0);
}

static void
forms(void)
{

	ok(gives("data.csv", "attachment; filename=\"data.csv\""),
	    "a plain name has one form");
	ok(gives("a b%41;'.txt", "attachment; filename=\"a b%41;'.txt\""),
	    "other ASCII characters stay");
	ok(gives("\xc3\x9c"
		 "bersicht \xe8\xa1\xa8.pdf",
	       "attachment; filename=\"_bersicht _.pdf\"; "
	       "filename*=UTF-8''%C3%9Cbersicht%20%E8%A1%A8.pdf"),
	    "a name in other writing has both, the ASCII one first");
	ok(gives("a\"b\\c.txt",
	       "attachment; filename=\"a_b_c.txt\"; "
	       "filename*=UTF-8''a%22b%5Cc.txt"),
	    "a quote and a backslash become _");
	ok(gives("a\r\nX-Evil: 1.txt",
	       "attachment; filename=\"a__X-Evil: 1.txt\"; "
	       "filename*=UTF-8''a%0D%0AX-Evil%3A%201.txt"),
	    "a line end cannot split the header");
	ok(gives("\xf0\x9f\x93\x8a!#$&+-.^_`|~*'()azAZ09",
	       "attachment; filename=\"_!#$&+-.^_`|~*'()azAZ09\"; "
	       "filename*=UTF-8''%F0%9F%93%8A!#$&+-.^_`|~%2A%27%28%29azAZ09"),
	    "just the attr-char of RFC 8187 stay bare");
}

/* A name of ${n} times ${c} and ${tail}. */
static size_t
long_value(const char *c, size_t n, const char *tail,
    char value[static DISPOSITION_SIZE])
{
	char name[FILENAME_SIZE] = "";
	size_t i, len = strlen(c), at = 0;

	for (i = 0; i < n; i++, at += len)
		memcpy(name + at, c, len);
	(void)snprintf(name + at, sizeof(name) - at, "%s", tail);
	disposition_attachment(name, value);
	return (strlen(value));
}

static int
printable(const char *s)
{

	for (; *s != '\0'; s++)
		if (*s < 0x20 || *s > 0x7e)
			return (0);
	return (1);
}

static void
lengths(void)
{
	char value[DISPOSITION_SIZE];
	size_t len;

	len = long_value("\xe8\xa1\xa8", 116, ".csv", value);
	ok(len > 1044 + 120 && strstr(value, "_.csv\"; filename*") != NULL,
	    "120 characters of three bytes need no cut");
	len = long_value("\xf0\x9f\x93\x8a", 251, ".csv", value);
	ok(len <= DISPOSITION_MAX && printable(value),
	    "255 characters of four bytes fit");
	ok(strstr(value, "_.csv\"; filename*=UTF-8''%F0%9F") != NULL,
	    "their ASCII form is cut but keeps its extension");
	ok(strcmp(value + len - 16, "%F0%9F%93%8A.csv") == 0,
	    "the other form is whole");
	len = long_value("\xf0\x9f\x93\x8a", 255, "", value);
	ok(len <= DISPOSITION_MAX && len > 3060 + 42,
	    "also without an extension");
	len = long_value("a", 254, "\"", value);
	ok(len < 700 && len > 510, "255 plain characters fit twice");
}

int
main(void)
{

	forms();
	lengths();
	return (done_testing());
}
