#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/jput.h"
#include "base/jspan.h"
#include "base/utf8.h"

#include "speech/args.h"
#include "speech/pick.h"

#define ARGS_MAX (128U << 20)
#define DEPTH (JSPAN_DEPTH_MAX / 2) /* Of what stands in a request. */

static int
is_space(char c)
{

	return (c == ' ' || c == '\t' || c == '\r' || c == '\n');
}

/* Step over ${c}.  Return whether it must be escaped where it stands. */
static int
step(struct args *A, char c)
{
	const int bare = A->object && A->in_string && (unsigned char)c < 0x20;

	if (!A->begun && !is_space(c)) {
		A->begun = 1;
		A->object = c == '{';
	}
	if (!A->in_string)
		A->in_string = c == '"';
	else if (A->escaped)
		A->escaped = 0;
	else if (c == '\\')
		A->escaped = 1;
	else if (c == '"')
		A->in_string = 0;
	return (bare);
}

int
args_feed(struct args *A, struct buf *b, const char *p, size_t len)
{
	size_t i, done = 0;

	for (i = 0; i < len; i++) {
		if (!step(A, p[i]))
			continue;
		if ((i > done && buf_put(b, p + done, i - done)) ||
		    jput_chars(b, p + i, 1))
			return (-1);
		done = i + 1;
	}
	return (len > done ? buf_put(b, p + done, len - done) : 0);
}

int
args_none(struct text x)
{
	size_t i;

	for (i = 0; i < x.len; i++)
		if (!is_space(x.p[i]))
			return (0);
	return (1);
}

static int
is_object(struct text x, struct jspan *root)
{
	struct jspan_info info;

	if (x.len == 0 || jspan_check(x.p, x.len, DEPTH, &info) != JSPAN_OK)
		return (0);
	*root = info.root;
	return (pick_is(info.root, '{'));
}

/* Set ${sound} to what ${b} holds, and free it. */
static int
keep(struct arena *mem, struct buf *b, struct text *sound)
{
	char *s = NULL;

	if (buf_ok(b) && (s = arena_strndup(mem, b->p, b->len)) != NULL)
		*sound = (struct text){s, b->len};
	buf_free(b);
	return (s != NULL ? 0 : -1);
}

/* All of ${x} as the one text of an object. */
static int
wrap(struct arena *mem, struct text x, struct text *sound)
{
	struct buf b = BUF_INIT(ARGS_MAX), clean = BUF_INIT(ARGS_MAX);
	int rc = utf8_scrub(&clean, x.p, x.len);

	buf_puts(&b, "{\"__raw_arguments\":");
	jput_text(&b, clean.p, clean.len);
	buf_puts(&b, "}");
	buf_free(&clean);
	if (rc)
		buf_free(&b);
	return (rc || keep(mem, &b, sound) ? -1 : 1);
}

int
args_sound(struct arena *mem, struct text x, struct text *sound)
{
	static const struct text nothing = TEXT_LIT("{}");
	struct buf b = BUF_INIT(ARGS_MAX);
	struct jspan root = {NULL, 0};
	struct args A = {0};
	struct text inner;

	*sound = args_none(x) ? nothing : x;
	if (is_object(*sound, &root))
		return (0);
	/* A string that was put into a string once more. */
	if (pick_is(root, '"') && pick_text(mem, root, &inner) == 0 &&
	    is_object(inner, &root)) {
		*sound = inner;
		return (0);
	}
	if (root.p == NULL && args_feed(&A, &b, x.p, x.len) == 0 && A.object &&
	    is_object((struct text){b.p, b.len}, &root))
		return (keep(mem, &b, sound));
	buf_free(&b);
	return (wrap(mem, x, sound));
}
