/* The line separators of Unicode in JSON: escaped, and nothing else changed. */
#include <string.h>

#include "base/buf.h"
#include "base/jlines.h"

#include "tap.h"

/* clang-format off */
static const struct { const char *name, *text, *want; } rows[] = {
	{ "none", "{\"a\":\"b\\n\"}", "{\"a\":\"b\\n\"}" },
	{ "each", "\"a\xe2\x80\xa8" "b\xe2\x80\xa9" "c\xc2\x85" "d\"",
	    "\"a\\u2028b\\u2029c\\u0085d\"" },
	{ "one after the other", "\"\xe2\x80\xa8\xe2\x80\xa8\"",
	    "\"\\u2028\\u2028\"" },
	{ "their neighbours", "\"\xe2\x80\xa7\xe2\x80\xaa\xc2\x84\xc2\x86\"",
	    "\"\xe2\x80\xa7\xe2\x80\xaa\xc2\x84\xc2\x86\"" },
	{ "after a backslash that is escaped", "\"\\\\\xe2\x80\xa8\"",
	    "\"\\\\\\u2028\"" },
	{ "nothing", "", "" },
};
/* clang-format on */

int
main(void)
{
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct buf b = BUF_INIT(100);

		buf_puts(&b, rows[i].text);
		ok(jlines_mend(&b) == 0 && b.len == strlen(rows[i].want) &&
			(b.len == 0 || strcmp(b.p, rows[i].want) == 0),
		    rows[i].name);
		buf_free(&b);
	}
	return (done_testing());
}
