/* Base64: RFC 4648's own examples, and what is none. */
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"

#include "tap.h"

static const struct {
	const char *plain, *coded;
} rows[] = {{"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"},
    {"foob", "Zm9vYg=="}, {"fooba", "Zm9vYmE="}, {"foobar", "Zm9vYmFy"}};

static const char *const bad[] = {"Z", "Zg=", "Zg",
    "Zg==Zg==", "Z===", "====", "Zm9v\n", "Zm-v", "Zm 9", "=m9v", "Zm=v"};

#define BIG (10U << 20) /* More than one piece of the library's. */

static void
big(void)
{
	unsigned char *in = malloc(BIG), *out = malloc(BASE64_SIZE(BIG));
	char *coded = malloc(BASE64_SIZE(BIG));
	size_t i, n = 0;

	for (i = 0; i < BIG; i++)
		in[i] = (unsigned char)(i * 131 >> 3);
	base64_encode(in, BIG, coded);
	ok(strlen(coded) == BASE64_SIZE(BIG) - 1, "a big one's length");
	ok(base64_decode(coded, strlen(coded), out, &n) == 0 && n == BIG &&
		memcmp(in, out, BIG) == 0,
	    "and back");
	free(in);
	free(out);
	free(coded);
}

int
main(void)
{
	unsigned char out[64];
	char coded[64];
	size_t i, n;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		base64_encode(rows[i].plain, strlen(rows[i].plain), coded);
		ok(strcmp(coded, rows[i].coded) == 0, rows[i].coded);
		ok(base64_decode(coded, strlen(coded), out, &n) == 0 &&
			n == strlen(rows[i].plain) &&
			memcmp(out, rows[i].plain, n) == 0,
		    "and back");
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(base64_decode(bad[i], strlen(bad[i]), out, &n) == -1,
		    bad[i]);
	big();
	return (done_testing());
}
