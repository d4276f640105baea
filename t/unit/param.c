#include <string.h>

#include "base/buf.h"
#include "http/param.h"
#include "t/unit/tap.h"

/* The parameters in ${s} as name=<value> and how it ended. */
static int
reads(const char *s, const char *want)
{
	static const char *const ends[] = {"ok", "end", "broken", "open"};
	const char *end = s + strlen(s);
	struct buf b = BUF_INIT(1000);
	struct param p;
	enum param_rc rc;
	int same;

	while ((rc = param_next(&s, end, &p)) == PARAM_OK) {
		(void)buf_put(&b, p.name, p.name_len);
		(void)buf_puts(&b, p.quoted ? "=\"" : "=<");
		(void)param_value(&b, &p);
		(void)buf_puts(&b, p.quoted ? "\" " : "> ");
	}
	(void)buf_puts(&b, ends[rc]);
	if (!(same = strcmp(b.p, want) == 0))
		printf("# got: %s\n", b.p);
	buf_free(&b);
	return (same);
}

int
main(void)
{
	struct param p = {.name = "Name", .name_len = 4};

	ok(reads("", "end") && reads(" \t", "end"), "nothing has none");
	ok(reads("; a=b;c=d", "a=<b> c=<d> end"), "two tokens");
	ok(reads(" ;\tname = \"x y\" ; z=1 ", "name=\"x y\" z=<1> end"),
	    "space around ; and =");
	ok(reads(";a=b;", "a=<b> end") && reads(";;a=b; ;", "a=<b> end"),
	    "lone semicolons do no harm");
	ok(reads(";a=\"x;y=\\\"z\\\"\";b=1", "a=\"x;y=\"z\"\" b=<1> end"),
	    "a quoted value holds semicolons and escaped quotes");
	ok(reads(";a=\"C:\\dir\\\\x\"", "a=\"C:\\dir\\x\" end"),
	    "only \\\" and \\\\ are escapes");
	ok(reads(";a=\"\\\\\\\"\"", "a=\"\\\"\" end"),
	    "both kinds side by side");
	ok(reads(";a=\"\";b=", "a=\"\" b=<> end"), "empty values");
	ok(reads(";filename*=utf-8''%41", "filename*=<utf-8''%41> end"),
	    "the star is part of the name");
	ok(reads("x;a=b", "broken") && reads(";a", "broken") &&
		reads(";=b", "broken") && reads(";a=b c", "a=<b> broken") &&
		reads(";a=\"b\"c", "a=\"b\" broken"),
	    "what is no parameter is broken");
	ok(reads(";a=\"b", "open") && reads(";a=\"b\\\"", "open") &&
		reads(";a=\"b\rc\"", "open") && reads(";a=\"", "open"),
	    "a quote without its end, or with a line break, is open");
	ok(param_is(&p, "name") && !param_is(&p, "nam") &&
		!param_is(&p, "names"),
	    "names compare whole in any letter case");
	ok(param_token("a!#$%&'*+-.^_`|~Z9 x", 20) == 18 &&
		param_token("\"", 1) == 0 && param_token("a\0", 2) == 1 &&
		param_token("\xc3\xa9", 2) == 0,
	    "a token is what RFC 9110 says");
	return (done_testing());
}
