#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "speech/page.h"

#include "tap.h"

#define ID "01a229f128007c5e8f21d0a4b6e93f11"

/* Does ${s} fail, leaving what it should fill in alone? */
static int
refused(const char *s)
{
	struct file_pos pos = {.created = 7, .id = "x"};
	int asc = 9;

	return (page_read(s, &pos, &asc) == -1 && pos.created == 7 &&
	    strcmp(pos.id, "x") == 0 && asc == 9);
}

static int
round_trip(uint64_t created, const char *id, int ascending)
{
	struct file_pos in = {.created = created}, out;
	char s[PAGE_TOKENMAX];
	int asc;

	(void)snprintf(in.id, sizeof(in.id), "%s", id);
	page_write(&in, ascending, s);
	return (page_read(s, &out, &asc) == 0 && asc == ascending &&
	    out.created == created && strcmp(out.id, id) == 0 &&
	    strspn(s,
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		"0123456789-_") == strlen(s));
}

static void
test_round_trip(void)
{
	char longest[FILE_IDMAX + 1];

	memset(longest, 'Z', FILE_IDMAX);
	longest[FILE_IDMAX] = '\0';
	ok(round_trip(1796000000123, ID, 0), "descending token");
	ok(round_trip(1796000000123, ID, 1), "ascending token");
	ok(round_trip(0, "a", 0), "shortest id, time 0");
	ok(round_trip(UINT64_MAX, longest, 1), "longest id, largest time");
	ok(round_trip(1, "file_011C-_x", 0), "a provider's id");
}

/* Every prefix of a token, and a token with anything after it. */
static void
test_cut(void)
{
	struct file_pos pos = {.created = 1796000000123, .id = ID};
	char s[PAGE_TOKENMAX], cut[PAGE_TOKENMAX + 1];
	size_t i;
	int good = 0;

	page_write(&pos, 0, s);
	/* What is cut inside the id may still be a token of a shorter id. */
	for (i = 0; i < strlen("page_") + 26; i++) {
		(void)snprintf(cut, sizeof(cut), "%.*s", (int)i, s);
		good += !refused(cut);
	}
	ok(good == 0, "truncated tokens are refused");
	for (i = 0; i < 5; i++) {
		(void)snprintf(cut, sizeof(cut), "%s%c", s, "=+/ \n"[i]);
		good += !refused(cut);
	}
	ok(good == 0, "tokens with a foreign character are refused");
	memset(cut, 'A', PAGE_TOKENMAX);
	memcpy(cut, "page_", 5);
	cut[PAGE_TOKENMAX] = '\0';
	ok(refused(cut), "an overlong token is refused");
}

static void
test_refused(void)
{

	ok(refused(""), "empty");
	ok(refused("page_"), "nothing after the prefix");
	ok(refused("page_garbage"), "garbage");
	ok(refused("Page_MWQwMDAwMDFhMjI5ZjEyODdiYQ"), "another prefix");
	/* "2d" + time + "a", the version of another day. */
	ok(refused("page_MmQwMDAwMDAwMDAwMDAwMDAxYQ"), "another version");
	/* "1d" + time + "a": the same with our version is fine. */
	ok(!refused("page_MWQwMDAwMDAwMDAwMDAwMDAxYQ"), "our version");
	/* The last character's unused bits set: same bytes, second spelling. */
	ok(refused("page_MWQwMDAwMDAwMDAwMDAwMDAxYR"), "bits left over");
	/* "1x" + time + "a" */
	ok(refused("page_MXgwMDAwMDAwMDAwMDAwMDAxYQ"), "no direction");
	/* "1d" + time + "a/b" */
	ok(refused("page_MWQwMDAwMDAwMDAwMDAwMDAxYS9i"), "no file id");
	/* "1d" + time + "a" NUL "b" */
	ok(refused("page_MWQwMDAwMDAwMDAwMDAwMDAxYQBi"), "a NUL inside");
	/* "1d" + time in capitals + "a" */
	ok(refused("page_MWQwMDAwMDAwMDAwMDAwMDBBYQ"), "capital hex");
}

int
main(void)
{

	test_round_trip();
	test_cut();
	test_refused();
	return (done_testing());
}
