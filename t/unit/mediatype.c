#include <string.h>

#include "http/mediatype.h"
#include "t/unit/tap.h"

static int
cleaned(const char *s, size_t len, const char *want)
{
	char out[MEDIATYPE_SIZE];

	mediatype_clean(s, len, out);
	if (strcmp(out, want) != 0)
		printf("# got: %s\n", out);
	return (strcmp(out, want) == 0);
}

#define CLEAN(s, want) cleaned(s, sizeof(s) - 1, want)
#define NONE(s) cleaned(s, sizeof(s) - 1, "application/octet-stream")

static int
chosen(const char *s, const char *name, const char *want)
{
	char out[MEDIATYPE_SIZE];

	mediatype_choose(s, s == NULL ? 0 : strlen(s), name, out);
	return (strcmp(out, want) == 0);
}

static void
cleaning(void)
{
	char big[10240];

	ok(CLEAN("text/plain", "text/plain"), "a type stays");
	ok(CLEAN(" Image/PNG\t", "image/png"),
	    "it is written in small letters");
	ok(CLEAN("text/csv; charset=UTF-8; header=present",
	       "text/csv; charset=UTF-8"),
	    "of its parameters only the charset stays");
	ok(CLEAN("text/html;x=1;Charset=\"utf-8\"", "text/html; charset=utf-8"),
	    "wherever it stands and however it is quoted");
	ok(CLEAN("text/html; charset=\"a b\"", "text/html") &&
		CLEAN("text/html; charset=", "text/html"),
	    "a charset that is no token goes");
	ok(CLEAN("text/html;", "text/html") &&
		CLEAN("text/html; nonsense", "text/html"),
	    "so do parameters that are none");
	ok(CLEAN("APPLICATION/Z_A.09^x+json", "application/z_a.09^x+json"),
	    "a subtype may have other characters, which stay");
	ok(NONE("") && NONE("text") && NONE("text/") && NONE("/plain") &&
		NONE("text/plain/x") && NONE("text plain") &&
		NONE("text/pl ain") && NONE("t\xc3\xa9xt/plain"),
	    "what is no type is octet-stream");
	ok(NONE("text/plain\r\nX: 1") && NONE("text/plain; a=\"\n\"") &&
		NONE("text/plain\0") && NONE("text/plain;\x7f"),
	    "so is what holds control characters");
	ok(cleaned(NULL, 0, MEDIATYPE_NONE), "and so is none");
	memset(big, 'a', sizeof(big));
	memcpy(big, "text/", 5);
	ok(cleaned(big, sizeof(big), MEDIATYPE_NONE), "10 KiB are no type");
	ok(cleaned(big, 256, MEDIATYPE_NONE), "256 characters are too many");
	big[255] = '\0';
	ok(cleaned(big, 255, big), "255 are not");
	memcpy(big + 250, ";charset=utf-8", 14);
	ok(cleaned(big, 264, MEDIATYPE_NONE), "a charset counts");
}

static void
choosing(void)
{

	ok(chosen("text/plain", "a.csv", "text/plain"),
	    "a declared type stands");
	ok(chosen("application/octet-stream", "a.csv", "text/csv") &&
		chosen("Application/Octet-Stream; x=1", "a.csv", "text/csv") &&
		chosen(NULL, "a.csv", "text/csv"),
	    "octet-stream or none gives way to the extension");
	ok(chosen("nonsense", "a.CSV", "text/csv"), "so does nonsense");
	ok(chosen("application/octet-stream", "a.unknown", MEDIATYPE_NONE) &&
		chosen(NULL, "a", MEDIATYPE_NONE),
	    "an unknown extension leaves octet-stream");
	ok(chosen("application/octet-stream-x", "a.csv",
	       "application/octet-stream-x"),
	    "a type that only begins like it stands");
}

int
main(void)
{

	cleaning();
	choosing();
	return (done_testing());
}
