#include <string.h>

#include "base/hash.h"
#include "t/unit/tap.h"

static int
in_two(enum hash_kind kind, const char *a, const char *b, const char *want)
{
	char hex[HASH_SIZE];
	struct hash *h;

	if ((h = hash_new(kind)) == NULL)
		return (0);
	hash_add(h, a, strlen(a));
	hash_add(h, b, strlen(b));
	return (hash_hex(h, hex) == 0 && strcmp(hex, want) == 0);
}

int
main(void)
{
	char hex[HASH_SIZE];

	hash_free(NULL);
	hash_free(hash_new(HASH_MD5));

	/* FIPS 180-2 and RFC 1321 examples. */
	ok(hash_sha256("abc", 3, hex) == 0 &&
		strcmp(hex,
		    "ba7816bf8f01cfea414140de5dae2223"
		    "b00361a396177a9cb410ff61f20015ad") == 0,
	    "SHA-256 of abc");
	ok(hash_sha256("", 0, hex) == 0 &&
		strcmp(hex,
		    "e3b0c44298fc1c149afbf4c8996fb924"
		    "27ae41e4649b934ca495991b7852b855") == 0,
	    "SHA-256 of nothing");
	ok(in_two(HASH_SHA256, "abcdbcdecdefdefgefghfghighij",
	       "hijkijkljklmklmnlmnomnopnopq",
	       "248d6a61d20638b8e5c026930c3e6039"
	       "a33ce45964ff2167f6ecedd419db06c1"),
	    "SHA-256 of two blocks in two pieces");
	ok(in_two(HASH_MD5, "message ", "digest",
	       "f96b697d7cb7938d525a2f31aaf161d0"),
	    "MD5 in two pieces");
	ok(in_two(HASH_MD5, "", "", "d41d8cd98f00b204e9800998ecf8427e"),
	    "MD5 of nothing");
	return (done_testing());
}
