#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "http/multipart.h"
#include "t/unit/tap.h"

#define CT "multipart/form-data; boundary=BB"
#define PART(extra) "Content-Disposition: form-data; name=\"f\"" extra "\r\n"

/* What the callbacks were told, as text: [name|filename|ext|type]bytes; */
struct seen {
	struct buf text;
	size_t data_calls, data_max;
	int stop_at; /* 1 begin, 2 data, 3 end */
};

static void
say(struct buf *b, const char *s, size_t len)
{

	(void)buf_puts(b, "|");
	if (s == NULL)
		(void)buf_puts(b, "-");
	else
		(void)buf_put(b, s, len);
}

static int
on_begin(void *cookie, const struct multipart_part *p)
{
	struct seen *s = cookie;

	(void)buf_printf(&s->text, "[%s", p->name);
	say(&s->text, p->filename, p->filename_len);
	say(&s->text, p->filename_ext, p->filename_ext_len);
	say(&s->text, p->type, p->type_len);
	(void)buf_puts(&s->text, "]");
	return (s->stop_at == 1);
}

static int
on_data(void *cookie, const char *p, size_t len)
{
	struct seen *s = cookie;

	s->data_calls++;
	if (len > s->data_max)
		s->data_max = len;
	(void)buf_put(&s->text, p, len);
	return (s->stop_at == 2);
}

static int
on_end(void *cookie)
{
	struct seen *s = cookie;

	(void)buf_puts(&s->text, ";");
	return (s->stop_at == 3);
}

/*
 * Read ${body} in two pieces at ${split}, or if that is 0 in pieces of
 * ${piece}; each piece is a copy of its own, so that a sanitizer sees a read
 * past it.
 */
static enum multipart_rc
run(const char *ct, const char *body, size_t len, size_t piece, size_t split,
    struct seen *s)
{
	const struct multipart_cb cb = {on_begin, on_data, on_end, s, 0};
	struct multipart *M;
	enum multipart_rc rc;
	size_t at, n;
	char *copy;

	if ((rc = multipart_new(ct, &cb, &M)) != MULTIPART_OK)
		return (rc);
	for (at = 0; at < len && rc == MULTIPART_OK; at += n) {
		n = split == 0 ? piece : at == 0 ? split : len;
		if (n > len - at)
			n = len - at;
		if ((copy = malloc(n)) == NULL)
			break;
		memcpy(copy, body + at, n);
		rc = multipart_feed(M, copy, n);
		free(copy);
	}
	rc = multipart_end(M);
	multipart_free(M);
	return (rc);
}

static int
once(const char *ct, const char *body, size_t len, size_t piece, size_t split,
    enum multipart_rc want_rc, const char *want, size_t want_len)
{
	struct seen s = {.text = BUF_INIT(1 << 24)};
	enum multipart_rc rc;
	int good;

	rc = run(ct, body, len, piece, split, &s);
	good = rc == want_rc &&
	    (want == NULL ||
		(s.text.len == want_len &&
		    (want_len == 0 || memcmp(s.text.p, want, want_len) == 0)));
	if (!good)
		printf("# piece %zu split %zu: rc %d, saw %s\n", piece, split,
		    rc, s.text.p == NULL ? "" : s.text.p);
	buf_free(&s.text);
	return (good);
}

/* Whole, in pieces of 1, 7 and 4,096, and cut at every place. */
static int
all_ways(const char *ct, const char *body, size_t len,
    enum multipart_rc want_rc, const char *want, size_t want_len)
{
	static const size_t pieces[] = {1, 7, 4096, 1 << 24};
	size_t i;
	int good = 1;

	for (i = 0; i < 4; i++)
		good &=
		    once(ct, body, len, pieces[i], 0, want_rc, want, want_len);
	for (i = 1; i < len && i < 3000; i++)
		good &= once(ct, body, len, 0, i, want_rc, want, want_len);
	return (good);
}

#define WHOLE(body, want) \
	all_ways(         \
	    CT, body, sizeof(body) - 1, MULTIPART_OK, want, sizeof(want) - 1)
#define FAILS(body, rc) all_ways(CT, body, sizeof(body) - 1, rc, NULL, 0)

static void
bodies(void)
{

	ok(WHOLE("--BB\r\n" PART("") "\r\nhello\r\n--BB--\r\n",
	       "[f|-|-|-]hello;"),
	    "one field");
	ok(WHOLE("--BB\r\n" PART(
		     "; filename=\"a.txt\"") "Content-Type: "
					     "text/plain\r\n\r\nhello\r\n"
					     "--BB\r\nContent-Disposition: "
					     "form-data; "
					     "name=\"purpose\"\r\n\r\nuser_"
					     "data\r\n--BB--\r\n",
	       "[f|a.txt|-|text/plain]hello;[purpose|-|-|-]user_data;"),
	    "a file and a field behind it");
	ok(WHOLE("--BB--", ""), "only the closing delimiter: no parts");
	ok(WHOLE("\r\n--BB--\r\n", ""), "the same behind an empty line");
	ok(WHOLE("--BB\r\n" PART("") "\r\n\r\n--BB--", "[f|-|-|-];"),
	    "an empty part");
	ok(WHOLE("--BB\r\n" PART("") "\r\n--BB--", "[f|-|-|-];"),
	    "an empty part whose blank line begins the delimiter");
	ok(WHOLE("preamble\r\n--B\r\n--BBx\r\n--BB\r\n" PART(
		     "") "\r\nx\r\n--BB--\r\nepilogue\r\n--BB\r\n",
	       "[f|-|-|-]x;"),
	    "preamble and epilogue are ignored");
	ok(WHOLE("--BB  \r\n" PART("") "\r\nx\r\n--BB\t \r\n" PART(
		     "") "\r\ny\r\n--BB-- \t\r\n",
	       "[f|-|-|-]x;[f|-|-|-]y;"),
	    "space behind a boundary is padding");
	ok(WHOLE("--BB\r\n" PART("") "\r\nx\r\n--BB--\n", "[f|-|-|-]x;"),
	    "the last line may end in a bare LF");
	ok(WHOLE("--BB\r\nContent-Disposition: form-data; name=\"f\"\n"
		 "content-TYPE:text/plain\n\nx\r\n--BB--",
	       "[f|-|-|text/plain]x;"),
	    "header lines may end in a bare LF");
}

static void
contents(void)
{

	ok(WHOLE("--BB\r\n" PART("") "\r\n\r\n\r\n\r\n--BB--",
	       "[f|-|-|-]\r\n\r\n;"),
	    "a file of line ends only");
	ok(WHOLE("--BB\r\n" PART("") "\r\n\r\r\r\n\n\r\r\n--BB--",
	       "[f|-|-|-]\r\r\r\n\n\r;"),
	    "odd numbers of CR and LF");
	ok(WHOLE("--BB\r\n" PART(
		     "") "\r\na\r\n--Bx\r\n--B\r\n-\r\r\n--\r\n--BB--",
	       "[f|-|-|-]a\r\n--Bx\r\n--B\r\n-\r\r\n--;"),
	    "almost the boundary is content");
	ok(WHOLE("--BB\r\n" PART(
		     "") "\r\na\r\n--BBQ\r\n--BB-\r\n--BB-x\r\n--BB--",
	       "[f|-|-|-]a\r\n--BBQ\r\n--BB-\r\n--BB-x;"),
	    "a line that begins like the boundary and goes on is content");
	ok(WHOLE("--BB\r\n" PART("") "\r\n--B\r\n--BB--", "[f|-|-|-]--B;"),
	    "also at the very beginning of the part");
	ok(WHOLE("--BB\r\n" PART("") "\r\na\n--BB\n--BB--\r\n--BB--",
	       "[f|-|-|-]a\n--BB\n--BB--;"),
	    "a boundary behind a bare LF is content");
	ok(WHOLE("--BB\r\n" PART("") "\r\na\r\n--BB\0\r\n--BB--",
	       "[f|-|-|-]a\r\n--BB\0;"),
	    "a NUL behind a boundary makes the line content");
	ok(WHOLE("--BB\r\n" PART("") "\r\n\0\xff\0--BB\r\n--BB--",
	       "[f|-|-|-]\0\xff\0--BB;"),
	    "NUL and other bytes pass, a boundary inside a line is content");
}

static void
headers(void)
{

	ok(WHOLE("--BB\r\n" PART(
		     "; filename=\"a\\\"b\\\\c\\d.txt\"") "\r\n\r\n--BB--",
	       "[f|a\"b\\c\\d.txt|-|-];"),
	    "in a name only \\\" and \\\\ are escapes");
	ok(WHOLE("--BB\r\n" PART("; filename=\"\"") "\r\n\r\n--BB--",
	       "[f||-|-];"),
	    "an empty file name is there");
	ok(WHOLE("--BB\r\n" PART(
		     "; filename*=UTF-8''%41; filename=b") "\r\n\r\n--BB--",
	       "[f|b|UTF-8''%41|-];"),
	    "both forms of a file name");
	ok(WHOLE("--BB\r\n" PART(
		     "; filename*0=\"a\"; filename*1=\"b\"") "\r\n\r\n--BB--",
	       "[f|-|-|-];"),
	    "numbered continuations are no file name");
	ok(WHOLE("--BB\r\n" PART("; filename*=\"UTF-8''a\"") "\r\n\r\n--BB--",
	       "[f|-|-|-];"),
	    "nor is an extended one in quotes");
	ok(WHOLE("--BB\r\n" PART("; filename=\"a\0b\"") "\r\n\r\n--BB--",
	       "[f|a\0b|-|-];"),
	    "a NUL in a file name is passed on to be judged");
	ok(WHOLE(
	       "--BB\r\nX-Other: 1\r\nCONTENT-DISPOSITION:Form-Data;NAME=f \r\n"
	       "Content-Transfer-Encoding: BINARY\r\n\r\n\r\n--BB--",
	       "[f|-|-|-];"),
	    "letter case, unquoted names and other header lines do not matter");
	ok(WHOLE("--BB\r\nContent-Disposition: form-data; "
		 "name=\"expires_after[seconds]\"\r\n\r\n1\r\n--BB--",
	       "[expires_after[seconds]|-|-|-]1;"),
	    "a bracketed field name");
	ok(FAILS("--BB\r\n" PART("; filename=\"a\r\nb\"") "\r\n\r\n--BB--",
	       MULTIPART_NAME_BREAK) &&
		FAILS("--BB\r\n" PART("; filename=\"a\nb\"") "\r\n\r\n--BB--",
		    MULTIPART_NAME_BREAK) &&
		FAILS("--BB\r\n" PART("; filename=\"a\rb\"") "\r\n\r\n--BB--",
		    MULTIPART_NAME_BREAK),
	    "a raw CR or LF inside a quoted name is refused");
	ok(FAILS("--BB\r\n" PART("") "Content-Transfer-Encoding: base64\r\n"
				     "\r\n\r\n--BB--",
	       MULTIPART_ENCODING) &&
		FAILS("--BB\r\n" PART("") "Content-Transfer-Encoding: 7bit, "
					  "base64\r\n\r\n\r\n--BB--",
		    MULTIPART_ENCODING),
	    "an encoded part is refused");
}

static void
malformed(void)
{
#define BAD(head) FAILS("--BB\r\n" head "\r\n\r\n--BB--", MULTIPART_MALFORMED)

	ok(BAD("") && BAD("Content-Type: text/plain\r\n"),
	    "a part needs a Content-Disposition");
	ok(BAD("Content-Disposition: form-data\r\n") &&
		BAD("Content-Disposition: attachment; name=\"f\"\r\n") &&
		BAD("Content-Disposition: form-data name=\"f\"\r\n") &&
		BAD("Content-Disposition: form-data; name=\"a\0b\"\r\n"),
	    "that is form-data and has a name");
	ok(BAD(PART("") PART("")) && BAD(PART("; name=\"g\"")) &&
		BAD(PART("; filename=a; filename=b")) &&
		BAD(PART("") "Content-Type: a/b\r\nContent-Type: a/c\r\n"),
	    "nothing may be said twice");
	ok(BAD(PART("") "no colon\r\n") && BAD(PART("") ": x\r\n") &&
		BAD(PART("") "X : y\r\n") && BAD(PART("") " folded\r\n") &&
		BAD(PART("") "X: a\rb\r\n") && BAD(PART("\r")),
	    "a header line is a token, a colon and no CR");
	ok(FAILS("--BB\n" PART("") "\r\nx\r\n--BB--", MULTIPART_MALFORMED) &&
		FAILS("--BB\r\n" PART("") "\r\nx\r\n--BB\n" PART(
			  "") "\r\nx\r\n--BB--",
		    MULTIPART_MALFORMED) &&
		FAILS("--BB\rX", MULTIPART_MALFORMED) &&
		FAILS("--BB x\r\n", MULTIPART_MALFORMED),
	    "behind a boundary comes CRLF and nothing else");
	ok(FAILS("--BB\r\n" PART("") "\r\nx\r\n--BB--x", MULTIPART_MALFORMED),
	    "the closing delimiter does not go on");
}

static void
cut_short(void)
{
	static const char body[] = "--BB\r\n" PART("") "\r\nhello\r\n--BB--";
	size_t len;
	int good = 1;

	ok(FAILS("", MULTIPART_EMPTY), "no body at all is told apart");
	for (len = 1; len < sizeof(body) - 1; len++)
		good &=
		    once(CT, body, len, 4096, 0, MULTIPART_INCOMPLETE, NULL, 0);
	ok(good, "a body cut anywhere is incomplete");
	ok(FAILS("some text", MULTIPART_INCOMPLETE),
	    "so is one that is no multipart at all");
}

static int
boundary(const char *ct, enum multipart_rc want)
{

	return (once(ct, "", 0, 1, 0,
	    want == MULTIPART_OK ? MULTIPART_EMPTY : want, NULL, 0));
}

#define SEVENTY                                    \
	"1234567890123456789012345678901234567890" \
	"123456789012345678901234567890"

static void
content_types(void)
{
	static const char odd[] = "--B B:1\r\n" PART("") "\r\nx\r\n--B B:1--";

	ok(boundary("Multipart/Form-Data;BOUNDARY=x", MULTIPART_OK) &&
		boundary("multipart/form-data ; boundary=x", MULTIPART_OK),
	    "letter case and space do not matter");
	ok(all_ways("multipart/form-data; charset=utf-8; boundary=\"B B:1\"",
	       odd, sizeof(odd) - 1, MULTIPART_OK, "[f|-|-|-]x;", 11),
	    "a quoted boundary with a space and a colon");
	ok(boundary("multipart/form-data; boundary=BB; charset=utf-8",
	       MULTIPART_OK) &&
		boundary("multipart/form-data; boundary=BB;", MULTIPART_OK),
	    "parameters behind the boundary");
	ok(boundary("multipart/form-data; boundary=" SEVENTY, MULTIPART_OK),
	    "70 characters pass");
	ok(boundary(
	       "multipart/form-data; boundary=1" SEVENTY, MULTIPART_BOUNDARY),
	    "71 do not");
	ok(boundary("multipart/form-data", MULTIPART_BOUNDARY) &&
		boundary(
		    "multipart/form-data; boundary=", MULTIPART_BOUNDARY) &&
		boundary(
		    "multipart/form-data; boundary=\"\"", MULTIPART_BOUNDARY),
	    "nor does none");
	ok(boundary(
	       "multipart/form-data; boundary=\"a \"", MULTIPART_BOUNDARY) &&
		boundary(
		    "multipart/form-data; boundary=\"a", MULTIPART_BOUNDARY) &&
		boundary("multipart/form-data; boundary=\"a\x7f\"",
		    MULTIPART_BOUNDARY) &&
		boundary("multipart/form-data; boundary=a; boundary=b",
		    MULTIPART_BOUNDARY),
	    "nor one with a space at its end, open, not ASCII, or two");
	ok(boundary(NULL, MULTIPART_TYPE) && boundary("", MULTIPART_TYPE) &&
		boundary("application/json", MULTIPART_TYPE) &&
		boundary("multipart/form-data2; boundary=x", MULTIPART_TYPE) &&
		boundary("multipart/mixed; boundary=x", MULTIPART_TYPE),
	    "another type is no form");
}

/* A part header of exactly ${size} bytes, its blank line included. */
static int
with_header(size_t size, enum multipart_rc want)
{
	static const char head[] = PART("") "X: ";
	struct buf b = BUF_INIT(100000);
	int good;

	(void)buf_puts(&b, "--BB\r\n");
	(void)buf_puts(&b, head);
	for (size_t i = sizeof(head) - 1 + 4; i < size; i++)
		(void)buf_puts(&b, "x");
	(void)buf_puts(&b, "\r\n\r\n\r\n--BB--");
	good = all_ways(CT, b.p, b.len, want, NULL, 0);
	buf_free(&b);
	return (good);
}

static int
with_parts(size_t n, enum multipart_rc want)
{
	struct buf b = BUF_INIT(100000);
	int good;

	for (size_t i = 0; i < n; i++)
		(void)buf_puts(&b, "--BB\r\n" PART("") "\r\nx\r\n");
	(void)buf_puts(&b, "--BB--");
	good = all_ways(CT, b.p, b.len, want, NULL, 0);
	buf_free(&b);
	return (good);
}

/* ${n} spaces between ${before} and ${after}, which may be all of a body. */
static int
with_ignored(
    const char *before, const char *after, size_t n, enum multipart_rc want)
{
	struct buf b = BUF_INIT(100000);
	int good;

	(void)buf_puts(&b, before);
	for (size_t i = 0; i < n; i++)
		(void)buf_puts(&b, " ");
	(void)buf_puts(&b, after);
	good = all_ways(CT, b.p, b.len, want, NULL, 0);
	buf_free(&b);
	return (good);
}

/* What is outside of parts has one ceiling, wherever it is. */
static void
ignored(void)
{
	static const struct {
		const char *before, *after, *name;
	} at[] = {
	    {"", "\r\n--BB\r\n" PART("") "\r\nx\r\n--BB--", "before the parts"},
	    {"--BB", "\r\n" PART("") "\r\nx\r\n--BB--", "behind a delimiter"},
	    {"--BB\r\n" PART("") "\r\nx\r\n--BB--", "\r\n",
		"behind the last delimiter"},
	    {"--BB\r\n" PART("") "\r\nx\r\n--BB--\r\n", "", "behind the body"},
	};

	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		ok(with_ignored(at[i].before, at[i].after,
		       MULTIPART_IGNORED_MAX - 4, MULTIPART_OK),
		    at[i].name);
		ok(with_ignored(at[i].before, at[i].after,
		       MULTIPART_IGNORED_MAX + 1, MULTIPART_IGNORED),
		    "... and too much of it");
	}
}

static void
ceilings(void)
{

	ok(with_header(MULTIPART_HEADER_MAX, MULTIPART_OK),
	    "a part header of 16 KiB passes");
	ok(with_header(MULTIPART_HEADER_MAX + 1, MULTIPART_HEADER_BIG),
	    "one byte more does not");
	ok(with_parts(MULTIPART_PARTS_MAX, MULTIPART_OK), "32 parts pass");
	ok(with_parts(MULTIPART_PARTS_MAX + 1, MULTIPART_PARTS), "33 do not");
}

static void
stopping(void)
{
	static const char body[] = "--BB\r\n" PART("") "\r\nhello\r\n--BB--";
	int i, good = 1;

	for (i = 1; i <= 3; i++) {
		struct seen s = {.text = BUF_INIT(100), .stop_at = i};

		good &= run(CT, body, sizeof(body) - 1, 4096, 0, &s) ==
		    MULTIPART_STOP;
		good &= s.data_calls == (i > 1);
		buf_free(&s.text);
	}
	ok(good, "each callback can stop the reading");
	ok(multipart_text(MULTIPART_INCOMPLETE)[0] != '\0' &&
		multipart_text(MULTIPART_MEMORY)[0] != '\0',
	    "every outcome has a sentence");
}

/* A file of awkward bytes: every value, then line ends, in ${n} bytes. */
static void
big_file(void)
{
	static const char head[] = "--BB\r\n" PART("; filename=\"x\"") "\r\n";
	struct buf body = BUF_INIT(1 << 22), want = BUF_INIT(1 << 22);
	struct seen s = {.text = BUF_INIT(1 << 22)};
	size_t i;
	char c;

	(void)buf_puts(&body, head);
	(void)buf_puts(&want, "[f|x|-|-]");
	for (i = 0; i < 300000; i++) {
		c = (char)(i % 7 == 0 ? '\r' : i % 7 == 1 ? '\n' : i * i >> 4);
		(void)buf_put(&body, &c, 1);
		(void)buf_put(&want, &c, 1);
	}
	(void)buf_puts(&body, "\r\n\r\n--BB--\r\n");
	(void)buf_puts(&want, "\r\n;");
	for (i = 1; i < 100; i += 7) {
		buf_free(&s.text);
		if (run(CT, body.p, body.len, i, 0, &s) != MULTIPART_OK ||
		    s.text.len != want.len ||
		    memcmp(s.text.p, want.p, want.len) != 0)
			break;
	}
	ok(i >= 100, "300,000 awkward bytes come through in any pieces");
	s.data_max = s.data_calls = 0;
	buf_free(&s.text);
	(void)run(CT, body.p, body.len, 4096, 0, &s);
	ok(s.data_max <= 4096, "bytes are handed on as they come, not kept");
	buf_free(&s.text);
	buf_free(&body);
	buf_free(&want);
}

int
main(void)
{

	bodies();
	contents();
	headers();
	malformed();
	cut_short();
	content_types();
	ceilings();
	ignored();
	stopping();
	big_file();
	return (done_testing());
}
