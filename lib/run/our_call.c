#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/id.h"
#include "base/jput.h"
#include "base/jspan.h"

#include "speech/args.h"
#include "speech/outcome.h"
#include "speech/pick.h"
#include "speech/refusal.h"
#include "speech/talk.h"

#include "run/our_call.h"
#include "run/edit.h"

#define ARGS_MAX (16U << 20)
#define ARGS_DEPTH 64
#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

static int
is_offered(const struct talk *t, enum our_tool tool)
{

	return ((t->ours & (1U << tool)) != 0);
}

/* Take the space before ${x} away, and a block of Markdown's fences. */
static void
unfence(struct text *x)
{
	const char *nl, *end;

	while (x->len > 0 && strchr(" \t\r\n", x->p[0]) != NULL) {
		x->p++;
		x->len--;
	}
	if (x->len < 3 || memcmp(x->p, "```", 3) != 0 ||
	    (nl = memchr(x->p, '\n', x->len)) == NULL)
		return;
	x->len -= (size_t)(nl + 1 - x->p);
	x->p = nl + 1;
	if ((end = memmem(x->p, x->len, "```", 3)) != NULL)
		x->len = (size_t)(end - x->p);
}

/* The program or command that an object of arguments holds under any name. */
static int
program_in(struct arena *mem, struct jspan root, struct text *x)
{
	static const char *const keys[] = {
	    "code", "command", "input", "cmd", "bash", "script"};
	struct jspan v;
	size_t i;

	for (i = 0; i < NELEM(keys); i++)
		if (jspan_get(root, keys[i], &v) > 0 &&
		    pick_text(mem, v, x) == 0 && x->len > 0)
			return (0);
	return (-1);
}

/*
 * What is to be run: from an object; for Python also from a bare string, quoted
 * or not, but not from what looks like broken JSON.
 */
static int
find_program(
    struct arena *mem, enum our_tool meant, struct text args, struct text *x)
{
	struct jspan_info info;

	*x = args;
	if (args.len > 0 &&
	    jspan_check(args.p, args.len, ARGS_DEPTH, &info) == JSPAN_OK) {
		if (pick_is(info.root, '{'))
			return (program_in(mem, info.root, x));
		if (meant != OUR_CODE || pick_text(mem, info.root, x))
			return (-1);
		unfence(x);
		return (x->len > 0 ? 0 : -1);
	}
	unfence(x);
	return (meant == OUR_CODE && x->len > 0 &&
		    memchr("{[\"", x->p[0], 3) == NULL
		? 0
		: -1);
}

/* Python for a model that was only given a shell. */
static int
put_heredoc(struct buf *b, struct text code)
{
	char word[16] = "PYTHON_";

	/* A word that the program cannot hold by accident. */
	if (id_base62(word + 7, 8))
		return (-1);
	buf_puts(b, "python3 - <<'");
	buf_puts(b, word);
	buf_puts(b, "'\\n");
	jput_chars(b, code.p, code.len);
	buf_puts(b, "\\n");
	return (buf_puts(b, word));
}

/* A command for a model that was only given Python. */
static int
put_subprocess(struct buf *b, struct text command)
{
	struct buf quoted = BUF_INIT(ARGS_MAX);
	int rc = -1;

	if (jput_text(&quoted, command.p, command.len) == 0) {
		buf_puts(b,
		    "import subprocess\\nprint(subprocess.run(['bash', '-c', ");
		jput_chars(b, quoted.p, quoted.len);
		rc = buf_puts(b,
		    "], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, "
		    "text=True).stdout, end='')");
	}
	buf_free(&quoted);
	return (rc);
}

/* Say the program in the words of the function ${c}->tool. */
static int
rephrase(struct arena *mem, enum our_tool meant, struct text x, struct call *c)
{
	struct buf b = BUF_INIT(ARGS_MAX);
	int rc = -1;

	buf_printf(&b, "{\"%s\":\"", our_rows[c->tool].required);
	if (meant == c->tool)
		jput_chars(&b, x.p, x.len);
	else if (c->tool == OUR_BASH)
		put_heredoc(&b, x);
	else
		put_subprocess(&b, x);
	if (buf_puts(&b, "\"}") == 0 &&
	    (c->args.p = arena_strndup(mem, b.p, b.len)) != NULL) {
		c->args.len = b.len;
		rc = 0;
	}
	buf_free(&b);
	return (rc);
}

/* Are these already the arguments that ${tool} wants? */
static int
is_proper(enum our_tool tool, struct text args)
{
	struct jspan_info info;
	struct jspan v;

	return (args.len > 0 &&
	    jspan_check(args.p, args.len, ARGS_DEPTH, &info) == JSPAN_OK &&
	    jspan_get(info.root, our_rows[tool].required, &v) == 1 &&
	    pick_is(v, '"') && v.len > 2);
}

int
call_begins(enum our_tool tool, struct text args)
{
	/* The editor's arguments are never put in other words. */
	const char *const words[] = {
	    "{", "\"", our_rows[tool].required, "\"", ":", "\""};
	const size_t n = tool == OUR_EDITOR ? 1 : NELEM(words);
	const char *w;
	size_t i;

	for (i = 0; i < n; i++) {
		/* No space is passed over within the key. */
		while (i != 2 && i != 3 && args.len > 0 &&
		    strchr(" \t\r\n", args.p[0]) != NULL && args.p[0] != '\0') {
			args.p++;
			args.len--;
		}
		for (w = words[i]; *w != '\0'; w++) {
			if (args.len == 0)
				return (0);
			if (*args.p++ != *w)
				return (-1);
			args.len--;
		}
	}
	return (1);
}

int
call_read(
    const struct talk *t, enum our_tool meant, struct text args, struct call *c)
{
	struct text x;
	int rc;

	/* What is no object may yet be a program. */
	if ((rc = args_sound(t->mem, args, &x)) == -1)
		return (-1);
	if (rc == 0)
		args = x;
	c->args = args;
	c->bad = 0;
	c->tool = meant;
	if (!is_offered(t, meant))
		c->tool = is_offered(t, OUR_BASH) ? OUR_BASH : OUR_CODE;
	if (meant == c->tool && is_proper(meant, args))
		return (0);
	if (meant != OUR_EDITOR && find_program(t->mem, meant, args, &x) == 0)
		return (rephrase(t->mem, meant, x, c));
	c->bad = 1;
	return (0);
}

enum run_rc
call_run(struct room *room, const struct call *c, struct outcome *o)
{
	const struct jspan input = {c->args.p, c->args.len};
	struct refusal why;

	*o = (struct outcome){.tool = c->tool, .files_end = &o->files};
	if (c->bad) {
		o->kind = OUTCOME_BAD_INPUT;
		return (RUN_OK);
	}
	room->ran = 1;
	if (!room_is_open(room)) {
		switch (room_open(room, &why)) {
		case RUN_OK:
			break;
		case RUN_GONE:
			return (RUN_GONE);
		case RUN_REFUSED:
			o->kind = OUTCOME_UNAVAILABLE;
			return (RUN_OK);
		}
	}
	if (c->tool == OUR_EDITOR)
		return (edit_run(room, input, o));
	return (room_run(room, c->tool, input, o));
}
