#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"

#include "speech/foreign.h"
#include "speech/pick.h"
#include "speech/talk.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define TEXT_MAX 65536 /* Of all texts of one block. */
#define DEPTH_MAX 16

/* Members that hold what a reader can make sense of. */
static const char *const keys[] = {"text", "content", "title", "url", "uri",
    "query", "queries", "pattern", "name", "tool_name", "server_name",
    "server_label", "summary", "message", "error", "error_code", "code",
    "explanation", "command", "commands", "output", "outputs", "stdout",
    "stderr", "logs", "input", "arguments", "filename", "path", "reason",
    "refusal", "prompt", "transcript", "thinking", "diff"};

/* What is being written. */
struct line {
	struct buf out;     /* The texts so far. */
	struct buf scratch; /* For one whose escapes are decoded. */
	int spoiled;
};

static int
is_told(struct jspan key)
{
	size_t i;

	for (i = 0; i < NELEM(keys); i++)
		if (jspan_is(key, keys[i]))
			return (1);
	return (0);
}

/* One text, as much of it as there is room for. */
static void
put_text(struct line *l, struct jspan v)
{
	size_t room = TEXT_MAX - l->out.len, len;
	struct text x;

	if (pick_decoded(&l->scratch, v, &x) || x.len == 0 || room < 4 ||
	    (x.len > 5 && memcmp(x.p, "data:", 5) == 0))
		return;
	len = x.len;
	if (len > room - 2)
		len = utf8_cut(x.p, x.len, room - 2);
	if (l->out.len > 0)
		buf_puts(&l->out, "; ");
	buf_put(&l->out, x.p, len);
}

/* The texts in ${v}; its own strings are told if ${told}. */
static void
look(struct line *l, struct jspan v, int told, int depth)
{
	struct jspan key = {0}, x;
	struct jspan_iter it;

	if (depth == DEPTH_MAX || l->out.len >= TEXT_MAX || jspan_iter(&it, v))
		return;
	while (jspan_next(&it, &key, &x)) {
		const int here = it.object ? is_told(key) : told;

		if (here && pick_is(x, '"'))
			put_text(l, x);
		else
			look(l, x, here, depth + 1);
	}
}

/* Would a reader miss a thing of this ${type}: a call's, or one shown? */
static int
is_missed(const char *type)
{
	static const char *const words[] = {"_call", "_use", "_result",
	    "_output", "input_", "image", "audio", "video", "document"};
	size_t i;

	for (i = 0; i < NELEM(words); i++)
		if (strstr(type, words[i]) != NULL)
			return (1);
	return (0);
}

int
foreign_line(struct talk *t, const char *type, struct jspan v, struct text *x)
{
	struct line l = {
	    .out = BUF_INIT(TEXT_MAX + 8), .scratch = BUF_INIT(v.len + 8)};
	struct buf b = BUF_INIT(TEXT_MAX + 256);
	int rc = 0;

	x->p = "";
	x->len = 0;
	look(&l, v, 0, 0);
	if (l.out.len > 0) {
		buf_printf(&b, "\n[%.100s: ", type);
		buf_put(&b, l.out.p, l.out.len);
		buf_puts(&b, "]\n");
	} else if (is_missed(type))
		buf_printf(&b, "\n[%.100s is not shown]\n", type);
	if (b.len > 0)
		rc = !buf_ok(&b) || talk_text(t, b.p, b.len, x);
	buf_free(&b);
	buf_free(&l.out);
	buf_free(&l.scratch);
	return (rc ? -1 : 0);
}
