#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "http/filename.h"
#include "http/multipart.h"
#include "t/unit/tap.h"

/* The name that came of the last part. */
struct got {
	char name[FILENAME_SIZE];
	enum filename_rc rc;
	int strict;
};

static int
on_begin(void *cookie, const struct multipart_part *p)
{
	struct got *g = cookie;
	const struct filename_raw raw = {
	    p->filename, p->filename_len, p->filename_ext, p->filename_ext_len};

	g->name[0] = '\0';
	g->rc = filename_form(
	    &raw, p->type == NULL ? "x/y" : p->type, g->strict, g->name);
	return (0);
}

static int
on_data(void *cookie, const char *p, size_t len)
{

	(void)cookie;
	(void)p;
	return (len > 0);
}

static int
on_end(void *cookie)
{

	(void)cookie;
	return (0);
}

/* Send a part with the parameters ${raw}, as a client would. */
static struct got *
send_part(const char *raw, size_t len, const char *type, int strict)
{
	static struct got g;
	const struct multipart_cb cb = {on_begin, on_data, on_end, &g, 0};
	struct buf body = BUF_INIT(100000);
	struct multipart *M;

	g = (struct got){.rc = FILENAME_MEMORY, .strict = strict};
	(void)buf_puts(&body,
	    "--B\r\nContent-Disposition: form-data; "
	    "name=\"file\"");
	if (len > 0)
		(void)buf_puts(&body, "; ");
	(void)buf_put(&body, raw, len);
	(void)buf_printf(&body, "\r\nContent-Type: %s\r\n\r\n\r\n--B--", type);
	if (multipart_new("multipart/form-data; boundary=B", &cb, &M) ==
	    MULTIPART_OK) {
		(void)multipart_feed(M, body.p, body.len);
		multipart_free(M);
	}
	buf_free(&body);
	return (&g);
}

static int
stored(const char *raw, const char *want)
{
	struct got *g = send_part(raw, strlen(raw), "text/plain", 0);
	int same = g->rc == FILENAME_OK && strcmp(g->name, want) == 0;

	if (!same)
		printf("# %s: rc %d, name %s\n", raw, g->rc, g->name);
	return (same);
}

static int
ends(const char *raw, size_t len, int strict, enum filename_rc want)
{

	return (send_part(raw, len, "text/plain", strict)->rc == want);
}

/* The cases of the contract's 12-filenames.json, in its order. */
static void
real_clients(void)
{

	ok(stored(
	       "filename=\"dir/a%22b%0D%0Ac\\\xc3\xa9.txt\"", "\xc3\xa9.txt"),
	    "anthropic JS 1.14, a name with a path, a quote and a line end");
	ok(stored("filename=\"\xc3\xa9%.txt\"", "\xc3\xa9%.txt"),
	    "openai JS, the same name, a bare percent sign");
	ok(stored("", "unnamed.txt"), "anthropic JS 1.14, no name at all");
	ok(stored("filename=\"unknown_file\"", "unknown_file"),
	    "anthropic JS 0.122, its stand-in name");
	ok(stored("filename=\"we%22ird\\n.csv\"", "n.csv"),
	    "curl, a quote and a backslash");
	ok(stored("filename=\"a\\\"b.txt\"", "a\"b.txt"),
	    "curl --form-escape, an escaped quote");
	ok(stored("filename=\"../../etc/passwd\"", "passwd"),
	    "curl, a path upwards");
	ok(stored("filename=\"a%22b.txt\"", "a\"b.txt"),
	    "python requests, a quote");
	ok(stored("filename=\"a%0D%0Ab.txt\"", "a__b.txt"),
	    "python requests, a line end");
	ok(stored("filename*=UTF-8''r%C3%A9sum%C3%A9.pdf",
	       "r\xc3\xa9sum\xc3\xa9.pdf"),
	    "older stacks, the form of RFC 5987");
	ok(stored("filename=\"r\xe9sum\xe9.pdf\"", "r\xc3\xa9sum\xc3\xa9.pdf"),
	    "ISO-8859-1 bytes");
}

static void
forms(void)
{

	ok(stored("filename=\"a\"; filename*=utf-8'en'b%20c", "b c"),
	    "filename* wins, its language does not matter");
	ok(stored("filename*=ISO-8859-1''%e9.txt; filename=a", "\xc3\xa9.txt"),
	    "filename* in ISO-8859-1");
	ok(stored("filename*=UTF-8''a%2522.txt", "a%22.txt"),
	    "filename* is not decoded twice");
	ok(stored("filename=\"a\"; filename*=UTF-8''%zz", "a") &&
		stored("filename=\"a\"; filename*=UTF-8''%C3", "a") &&
		stored("filename=\"a\"; filename*=koi8-r''b", "a") &&
		stored("filename=\"a\"; filename*=b", "a") &&
		stored("filename=\"a\"; filename*=UTF-8'b", "a") &&
		stored("filename=\"a\"; filename*=UTF-8''\xc3\xa9", "a") &&
		stored("filename=\"a\"; filename*=UTF-8''b%4", "a"),
	    "a broken filename* falls back to filename");
	ok(stored("filename*=UTF-8''%zz", "unnamed.txt"),
	    "or to a stand-in name");
	ok(stored("filename*0=\"a\"; filename*1=\"b\"", "unnamed.txt"),
	    "numbered continuations are not assembled");
	ok(stored("filename=plain.txt", "plain.txt"), "a name without quotes");
}

static void
cleaning(void)
{

	ok(stored("filename=\"C:\\dir\\a.txt\"", "a.txt") &&
		stored("filename=\"/abs/y.txt\"", "y.txt") &&
		stored("filename=\"..\\..\\w.txt\"", "w.txt"),
	    "only the last component of a path stays");
	ok(stored("filename=\"%41.txt\"", "%41.txt") &&
		stored("filename=\"a%0d%0ab\"", "a__b") &&
		stored("filename=\"100%2525\"", "100%2525"),
	    "of percent escapes only %22, %0D and %0A are decoded");
	ok(stored("filename=\"a\x01"
		  "b\x7f"
		  "c\td\"",
	       "a_b_c_d"),
	    "control characters become _");
	ok(stored("filename=\"a<b>:|?*.txt\"", "a<b>:|?*.txt"),
	    "characters that Windows refuses are kept");
	ok(stored("filename=\" a b \"", " a b "), "spaces are kept");
	ok(stored("filename=\"\xe2\x80\xae\xf0\x9f\x93\x8a.csv\"",
	       "\xe2\x80\xae\xf0\x9f\x93\x8a.csv"),
	    "so are bidirectional marks and emoji");
	ok(stored("filename=\"\xc3\x9c"
		  "ber \xe8\xa1\xa8 \xf0\x9f\x93\x8a.csv\"",
	       "\xc3\x9c"
	       "ber \xe8\xa1\xa8 \xf0\x9f\x93\x8a.csv"),
	    "UTF-8 stays as it is");
	ok(stored("filename=\"\"", "unnamed.txt") &&
		stored("filename=\".\"", "unnamed.txt") &&
		stored("filename=\"..\"", "unnamed.txt") &&
		stored("filename=\"/\"", "unnamed.txt") &&
		stored("filename=\"   \"", "unnamed.txt") &&
		stored("filename=\"a/..\"", "unnamed.txt"),
	    "what is no name is called unnamed");
	ok(stored("filename=\"...\"", "...") && stored("filename=\".a\"", ".a"),
	    "other names of dots are names");
	ok(strcmp(send_part("", 0, "x/unknown", 0)->name, "unnamed") == 0 &&
		strcmp(send_part("", 0, "image/png", 0)->name, "unnamed.png") ==
		    0,
	    "the stand-in has the extension of the type, if it has one");
}

static void
refusals(void)
{
	static const char nul[] = "filename=\"a\0b\"";
	static const char far[] = "filename=\"a\0b/c.txt\"";

	ok(ends(nul, sizeof(nul) - 1, 0, FILENAME_NUL), "a NUL is refused");
	ok(ends(far, sizeof(far) - 1, 0, FILENAME_NUL),
	    "even in a part of the path that would go");
	ok(ends("filename*=UTF-8''a%00b", 22, 0, FILENAME_NUL),
	    "and encoded in filename*");
	ok(ends("filename=\"a:b\"", 14, 1, FILENAME_STRICT) &&
		ends("filename=\"a%22b\"", 16, 1, FILENAME_STRICT) &&
		ends("filename=\"a*\"", 13, 1, FILENAME_STRICT),
	    "strict names refuse what Windows does");
	ok(ends("filename=\"C:\\a.txt\"", 19, 1, FILENAME_OK),
	    "but only in the component that stays");
}

/* A name of ${n} times ${c}. */
static enum filename_rc
long_name(const char *c, size_t n, char name[static FILENAME_SIZE])
{
	struct buf b = BUF_INIT(16000);
	enum filename_rc rc;
	struct got *g;

	(void)buf_puts(&b, "filename=\"");
	for (size_t i = 0; i < n; i++)
		(void)buf_puts(&b, c);
	(void)buf_puts(&b, "\"");
	g = send_part(b.p, b.len, "text/plain", 0);
	memcpy(name, g->name, FILENAME_SIZE);
	rc = g->rc;
	buf_free(&b);
	return (rc);
}

static void
lengths(void)
{
	char name[FILENAME_SIZE];

	ok(long_name("\xf0\x9f\x93\x8a", 255, name) == FILENAME_OK &&
		strlen(name) == 1020,
	    "255 characters of four bytes are stored whole");
	ok(long_name("a", 255, name) == FILENAME_OK && strlen(name) == 255,
	    "255 of one byte too");
	ok(long_name("a", 256, name) == FILENAME_LONG &&
		long_name("\xf0\x9f\x93\x8a", 256, name) == FILENAME_LONG,
	    "256 are refused");
	ok(long_name("\xe9", 255, name) == FILENAME_OK && strlen(name) == 510,
	    "255 of ISO-8859-1 become 510 bytes");
	ok(long_name("aa/", 200, name) == FILENAME_OK &&
		strcmp(name, "unnamed.txt") == 0,
	    "a long path does not count, only its last component");
}

static void
plain_text(void)
{
	char name[FILENAME_SIZE];

	ok(filename_text("a%22b.txt", 9, "x/y", 0, name) == FILENAME_OK &&
		strcmp(name, "a%22b.txt") == 0,
	    "in plain text no escape is decoded");
	ok(filename_text("d/a\nb", 5, "x/y", 0, name) == FILENAME_OK &&
		strcmp(name, "a_b") == 0,
	    "the rest is cleaned the same");
	ok(filename_text("", 0, "text/csv", 0, name) == FILENAME_OK &&
		strcmp(name, "unnamed.csv") == 0,
	    "an empty name is unnamed");
	ok(filename_text("a\0b", 3, "x/y", 0, name) == FILENAME_NUL,
	    "a NUL is refused");
}

int
main(void)
{

	real_clients();
	forms();
	cleaning();
	refusals();
	lengths();
	plain_text();
	return (done_testing());
}
