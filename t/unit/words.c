#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jail/words.h"

#include "tap.h"

/* The words of ${s} with '|' behind each; "no" if it is no list. */
static const char *
words(const char *s, size_t most)
{
	static char out[256];
	size_t n, i, at = 0;
	char **w;

	if ((w = words_read(s, most, &n)) == NULL)
		return ("no");
	out[0] = '\0';
	for (i = 0; i < n; i++)
		at += (size_t)snprintf(out + at, sizeof(out) - at, "%s|", w[i]);
	if (w[n] != NULL)
		return ("not ended");
	free(w);
	return (out);
}

int
main(void)
{
	static const char *const bad[] = {"3", "3:", "3:ab", "x", ":", "-1:a",
	    " 1:a", "01:a", "1 :a", "1:ab", "1:a2:b", "00:", "4294967297:a",
	    "99999999999999999999:a", NULL};
	struct buf b = BUF_INIT(64);
	char name[80];
	size_t i;

	ok(words_put(&b, "abc", 3) == 0 && words_put(&b, "", 0) == 0 &&
		words_put(&b, "1:x", 3) == 0 &&
		strcmp(b.p, "3:abc0:3:1:x") == 0,
	    "a list is written");
	ok(strcmp(words(b.p, 3), "abc||1:x|") == 0, "and read again");
	ok(strcmp(words(b.p, 2), "no") == 0, "too many words");
	ok(strcmp(words("", 0), "") == 0, "an empty list");
	ok(strcmp(words(NULL, 0), "") == 0, "no list at all");
	ok(strcmp(words("10:0123456789", 1), "0123456789|") == 0,
	    "ten bytes long");
	for (i = 0; bad[i] != NULL; i++) {
		(void)snprintf(name, sizeof(name), "no list: %s", bad[i]);
		ok(strcmp(words(bad[i], 9), "no") == 0, name);
	}
	buf_free(&b);
	return (done_testing());
}
