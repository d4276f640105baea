#include <stdio.h>
#include <string.h>

#include "data/file_sql.h"

#include "data/file.h"

#include "tap.h"

#define HEX "01a229f128007c5e8f21d0a4b6e93f11"
#define TEN "aB3-_xYz09"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

/* Is ${s} read as ${want}; or as nothing, if ${want} is NULL? */
static int
reads(const char *s, const char *want)
{
	char id[FILE_IDMAX + 1] = "untouched";

	if (file_id_parse(s, id))
		return (want == NULL);
	return (want != NULL && strcmp(id, want) == 0);
}

static void
test_parse(void)
{

	ok(reads("file-" HEX, HEX) && reads("file_" HEX, HEX) &&
		reads("cfile_" HEX, HEX) && reads(HEX, NULL),
	    "our id under each of its prefixes, but not bare");
	ok(reads("file_011CNha8iCJcU1wXNR6q4V8w",
	       "file_011CNha8iCJcU1wXNR6q4V8w") &&
		reads("cfile_682e0e8a43c88191a7978f477a09bdf5",
		    "682e0e8a43c88191a7978f477a09bdf5"),
	    "a provider's id stays whole unless it has our form");
	ok(reads("file-01A229F128007C5E8F21D0A4B6E93F11",
	       "file-01A229F128007C5E8F21D0A4B6E93F11"),
	    "capitals are not our form");
	ok(reads("file-" HEX "0", "file-" HEX "0") &&
		reads("file-" TEN, "file-" TEN) &&
		reads("cfile-" HEX, "cfile-" HEX) &&
		reads("FILE-" HEX, "FILE-" HEX) && reads("file-", "file-"),
	    "nor is another length or prefix");
	ok(reads("a", "a") &&
		reads(HUNDRED TEN TEN "01234567", HUNDRED TEN TEN "01234567"),
	    "1 to 128 characters");
	ok(reads("", NULL) && reads(HUNDRED TEN TEN "012345678", NULL),
	    "not none, not 129");
	ok(reads("a.b", NULL) && reads("a/b", NULL) && reads("..", NULL) &&
		reads("a b", NULL) && reads("file-" HEX " ", NULL) &&
		reads("file-" HEX "\n", NULL) && reads("\xc3\xa9", NULL) &&
		reads("a%2Fb", NULL) && reads("a\x7f", NULL),
	    "letters, digits, '-' and '_' only");
}

static void
test_make(void)
{
	char a[FILE_IDLEN + 1], b[FILE_IDLEN + 1];
	uint64_t ms = 0;

	ok(file_id_make(0x01a229f12800, a) == 0 && strlen(a) == FILE_IDLEN &&
		strncmp(a, "01a229f12800", 12) == 0 &&
		strspn(a, "0123456789abcdef") == FILE_IDLEN,
	    "a new id begins with its time in 12 digits");
	ok(file_id_make(0x01a229f12800, b) == 0 && strcmp(a, b) != 0,
	    "two of one moment differ");
	ok(file_id_time(a, &ms) == 0 && ms == 0x01a229f12800,
	    "the time is read back");
	ok(file_id_make(5, a) == 0 && file_id_time(a, &ms) == 0 && ms == 5,
	    "small times too");
	ok(file_id_make(0xffffffffffff, a) == 0 && file_id_time(a, &ms) == 0 &&
		ms == 0xffffffffffff,
	    "and the greatest");
	ok(file_id_make(0x1000000000000, a) == -1, "a greater has no room");
	ms = 7;
	ok(file_id_time("file-" HEX, &ms) == -1 &&
		file_id_time("", &ms) == -1 &&
		file_id_time(HEX "0", &ms) == -1 &&
		file_id_time("01A229F128007C5E8F21D0A4B6E93F11", &ms) == -1 &&
		ms == 7,
	    "what is not of our form has no time");
}

static void
test_bare(void)
{

	ok(strcmp(file_id_bare("part_" HEX, "part_"), HEX) == 0 &&
		strcmp(file_id_bare(HEX, "part_"), HEX) == 0,
	    "an id with its prefix or without");
	ok(file_id_bare("upload_" HEX, "part_") == NULL &&
		file_id_bare("part_", "part_") == NULL &&
		file_id_bare("", "part_") == NULL &&
		file_id_bare("part_part_" HEX, "part_") == NULL,
	    "with another prefix, twice, or none at all");
}

int
main(void)
{

	test_parse();
	test_make();
	test_bare();
	return (done_testing());
}
