#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/jshape.h"
#include "t/unit/tap.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

struct thing {
	const char *text;
	struct jspan bytes, object, array;
	int flag;
	uint64_t n, near;
};

#define AT(f) offsetof(struct thing, f)

static const struct jshape rows[] = {
    {"text", JSHAPE_TEXT, AT(text), JSHAPE_REQUIRED, 1, 5, NULL},
    {"bytes", JSHAPE_BYTES, AT(bytes), 0, 0, 5, NULL},
    {"object", JSHAPE_OBJECT, AT(object), 0, 0, 0, NULL},
    {"array", JSHAPE_ARRAY, AT(array), 0, 0, 0, NULL},
    {"flag", JSHAPE_BOOL, AT(flag), 0, 0, 0, NULL},
    {"n", JSHAPE_U64, AT(n), 0, 2, 9, NULL},
    {"near", JSHAPE_U64_CLAMP, AT(near), 0, 2, 9, "a small number"},
};

static struct arena *mem;

static enum jshape_rc
read_into(struct thing *t, const char *s, int strict, struct jshape_fault *f)
{
	struct jspan_info info;

	*t = (struct thing){.flag = -1, .n = 99, .near = 99};
	if (jspan_check(s, strlen(s), 64, &info) != JSPAN_OK)
		return (JSHAPE_MEMORY);
	return (jshape_read(mem, info.root, rows, NELEM(rows), strict, t, f));
}

/* What ${s} is answered, and the row that is to blame. */
static int
fails(const char *s, enum jshape_rc want, const char *name)
{
	struct jshape_fault f;
	struct thing t;

	return (read_into(&t, s, 1, &f) == want &&
	    strcmp(f.row != NULL ? f.row->name : "", name) == 0);
}

static void
reading(void)
{
	struct jshape_fault f;
	struct thing t;

	ok(read_into(&t,
	       "{\"n\":2,\"text\":\"a\\u00e9\",\"bytes\":\"\\u0000b\","
	       "\"object\":{\"n\":1},\"array\":[ ],\"flag\":true,\"near\":5}",
	       1, &f) == JSHAPE_OK,
	    "every kind is read");
	ok(strcmp(t.text, "a\xc3\xa9") == 0, "... a text, decoded");
	ok(t.bytes.len == 2 && memcmp(t.bytes.p, "\0b", 3) == 0,
	    "... bytes, which may hold a NUL");
	ok(t.object.len == 7 && t.array.len == 3, "... parts, as they were");
	ok(t.flag == 1 && t.n == 2 && t.near == 5, "... and numbers");
	ok(read_into(&t, "{\"text\":\"x\",\"n\":null,\"flag\":null}", 1, &f) ==
		    JSHAPE_OK &&
		t.n == 99 && t.flag == -1 && t.bytes.p == NULL,
	    "what is absent or null leaves the struct as it is");
	ok(read_into(&t, "{\"text\":\"x\",\"other\":1}", 0, &f) == JSHAPE_OK,
	    "a member without a row is ignored");
	ok(read_into(&t, "{\"te\\u0078t\":\"x\"}", 1, &f) == JSHAPE_OK,
	    "a key may be spelled with escapes");
}

static void
refusing(void)
{
	struct jshape_fault f;
	struct thing t;

	ok(fails("{}", JSHAPE_ABSENT, "text") &&
		fails("{\"text\":null}", JSHAPE_ABSENT, "text"),
	    "a required member must be there and not null");
	ok(fails("{\"text\":1}", JSHAPE_TYPE, "text") &&
		fails("{\"text\":\"x\",\"bytes\":[]}", JSHAPE_TYPE, "bytes") &&
		fails("{\"text\":\"x\",\"flag\":0}", JSHAPE_TYPE, "flag") &&
		fails("{\"text\":\"x\",\"n\":\"5\"}", JSHAPE_TYPE, "n") &&
		fails("{\"text\":\"x\",\"n\":5.0}", JSHAPE_TYPE, "n") &&
		fails("{\"text\":\"x\",\"n\":5e0}", JSHAPE_TYPE, "n") &&
		fails(
		    "{\"text\":\"x\",\"object\":[]}", JSHAPE_TYPE, "object") &&
		fails("{\"text\":\"x\",\"array\":{}}", JSHAPE_TYPE, "array"),
	    "nothing is converted");
	ok(fails("{\"text\":\"\"}", JSHAPE_RANGE, "text") &&
		fails("{\"text\":\"123456\"}", JSHAPE_RANGE, "text") &&
		fails("{\"text\":\"a\\u0000\"}", JSHAPE_RANGE, "text"),
	    "a text has its bounds and no NUL");
	ok(fails("{\"text\":\"x\",\"n\":1}", JSHAPE_RANGE, "n") &&
		fails("{\"text\":\"x\",\"n\":10}", JSHAPE_RANGE, "n") &&
		fails("{\"text\":\"x\",\"n\":-3}", JSHAPE_RANGE, "n") &&
		fails("{\"text\":\"x\",\"n\":99999999999999999999999}",
		    JSHAPE_RANGE, "n"),
	    "a number has its bounds");
	ok(read_into(&t, "{\"text\":\"x\",\"near\":-3}", 1, &f) == JSHAPE_OK &&
		t.near == 2,
	    "a clamped one is brought to the lower bound");
	ok(read_into(&t, "{\"text\":\"x\",\"near\":99999999999999999999999}", 1,
	       &f) == JSHAPE_OK &&
		t.near == 9,
	    "... or to the upper");
	ok(fails("{\"text\":\"x\",\"te\\u0078t\":\"y\"}", JSHAPE_REPEATED,
	       "text"),
	    "a member twice is refused, however it is spelled");
	ok(fails("{\"text\":\"x\",\"other\":1}", JSHAPE_UNKNOWN, "") &&
		read_into(&t, "{\"text\":\"x\",\"other\":1}", 1, &f) ==
		    JSHAPE_UNKNOWN &&
		f.key.len == 7 && memcmp(f.key.p, "\"other\"", 7) == 0,
	    "a member without a row is named, if that matters");
	ok(fails("[]", JSHAPE_TYPE, "") && fails("1", JSHAPE_TYPE, ""),
	    "only an object has members");
}

/* jshape_want() of the row ${i}. */
static int
wants(size_t i, const char *text)
{
	struct buf b = BUF_INIT(100);
	int same;

	same = jshape_want(&b, &rows[i]) == 0 && strcmp(b.p, text) == 0;
	buf_free(&b);
	return (same);
}

int
main(void)
{

	mem = arena_new(1 << 20);
	reading();
	refusing();
	ok(wants(0, "a string of 1 to 5 bytes") &&
		wants(1, "a string of at most 5 bytes") &&
		wants(4, "true or false") &&
		wants(5, "a whole number from 2 to 9") &&
		wants(6, "a small number"),
	    "a row says what would be right");
	arena_free(mem);
	return (done_testing());
}
