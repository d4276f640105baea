#include <stddef.h>

#include "base/buf.h"
#include "base/utf8.h"

#include "speech/dialect.h"
#include "speech/outcome.h"

static const char *const error_names[] = {
    [OUTCOME_RAN] = NULL,
    [OUTCOME_TIMEOUT] = "execution_time_exceeded",
    [OUTCOME_UNAVAILABLE] = "unavailable",
    [OUTCOME_BAD_INPUT] = "invalid_tool_input",
    [OUTCOME_TOO_MANY] = "too_many_requests",
    [OUTCOME_NO_FILE] = "file_not_found",
    [OUTCOME_VIEW] = NULL,
    [OUTCOME_CREATE] = NULL,
    [OUTCOME_REPLACE] = NULL,
};

const char *
outcome_error_name(enum outcome_kind kind)
{

	return (error_names[kind]);
}

/* The line that says that this was no success. */
static void
put_error(struct buf *b, const struct outcome *o)
{

	switch (o->kind) {
	case OUTCOME_RAN:
		if (o->code != 0)
			buf_printf(b, "[tool error] exit code %d\n", o->code);
		break;
	case OUTCOME_TIMEOUT:
		buf_printf(b,
		    "[tool error] stopped at the time limit of %ju s\n",
		    (uintmax_t)o->timeout_s);
		break;
	case OUTCOME_UNAVAILABLE:
		buf_puts(b, "[tool error] the sandbox is not available\n");
		break;
	case OUTCOME_BAD_INPUT:
		if (o->message != NULL)
			buf_printf(b, "[tool error] %s\n", o->message);
		else
			buf_printf(b,
			    "[tool error] arguments must be JSON with a "
			    "string field \"%s\"\n",
			    our_rows[o->tool].required);
		break;
	case OUTCOME_TOO_MANY:
		buf_puts(b,
		    "[tool error] too many calls in one message; "
		    "this one was not run\n");
		break;
	case OUTCOME_NO_FILE:
		buf_printf(b, "[tool error] %s\n",
		    o->message != NULL ? o->message : "no such file");
		break;
	case OUTCOME_VIEW:
	case OUTCOME_CREATE:
	case OUTCOME_REPLACE:
		break;
	}
}

/* ${x} whole, or its two ends around a line that says what is missing. */
static void
put_ends(struct buf *b, struct text x, const struct gap *g, size_t max)
{

	(void)ends_put(b, x.p, x.len, g, max, NULL);
	if (b->len > 0 && b->p[b->len - 1] != '\n')
		buf_puts(b, "\n");
}

static void
put_streams(struct buf *b, const struct outcome *o, size_t max)
{
	size_t err = o->err.len < max / 2 ? o->err.len : max / 2;
	size_t out = max - err;

	if (o->out.len < out)
		err = max - o->out.len;
	if (o->out.len > 0) {
		buf_puts(b, "stdout:\n");
		put_ends(b, o->out, &o->out_gap, out);
	}
	if (o->err.len > 0) {
		buf_puts(b, "stderr:\n");
		put_ends(b, o->err, &o->err_gap, err);
	}
}

static void
put_files(struct buf *b, const struct outcome *o)
{
	const struct outcome_file *f;
	char id[FILE_PRINTMAX];

	if (o->files == NULL)
		return;
	buf_puts(b, "files written: ");
	for (f = o->files; f != NULL; f = f->next) {
		file_id_print(f->id, id);
		if (f->path != NULL)
			buf_printf(b, "/mnt/data/%s (%s, %ju bytes)", f->path,
			    id, (uintmax_t)f->bytes);
		else
			buf_puts(b, id);
		buf_puts(b, f->next != NULL ? ", " : "\n");
	}
}

static const char *
plural(unsigned int n)
{

	return (n == 1 ? "" : "s");
}

static void
put_not_kept(
    struct buf *b, const struct outcome *o, const struct outcome_bounds *bounds)
{

	if (o->over_count > 0)
		buf_printf(b, "not kept: %u file%s over the limit of %ju\n",
		    o->over_count, plural(o->over_count),
		    (uintmax_t)bounds->max_files);
	if (o->over_bytes > 0)
		buf_printf(b,
		    "not kept: %u file%s over the limit of %ju bytes\n",
		    o->over_bytes, plural(o->over_bytes),
		    (uintmax_t)bounds->max_bytes);
	if (o->empty > 0)
		buf_printf(b, "not kept: %u empty file%s\n", o->empty,
		    plural(o->empty));
	if (o->failed > 0)
		buf_printf(b, "not kept: %u file%s that could not be stored\n",
		    o->failed, plural(o->failed));
}

/* What the editor did; its errors have been told. */
static void
put_edit(struct buf *b, const struct outcome *o, size_t max)
{

	if (o->kind == OUTCOME_CREATE)
		buf_puts(b, o->update ? "file replaced\n" : "file created\n");
	else if (o->kind == OUTCOME_VIEW && o->out.len == 0)
		buf_puts(b, "(empty file)\n");
	else if (o->kind == OUTCOME_VIEW || o->kind == OUTCOME_REPLACE)
		put_ends(b, o->out, &o->out_gap, max);
}

int
outcome_text(
    struct buf *b, const struct outcome *o, const struct outcome_bounds *bounds)
{
	struct buf t = BUF_INIT(b->max);
	int rc;

	put_error(&t, o);
	if (o->kind == OUTCOME_RAN || o->kind == OUTCOME_TIMEOUT) {
		put_streams(&t, o, bounds->max_text);
		if (t.len == 0 && o->files == NULL)
			buf_puts(&t, "(no output)\n");
		if (o->kind == OUTCOME_RAN)
			buf_printf(&t, "exit code: %d\n", o->code);
	} else
		put_edit(&t, o, bounds->max_text);
	put_files(&t, o);
	put_not_kept(&t, o, bounds);
	if (o->lost)
		buf_puts(&t,
		    "the sandbox was started anew: the uploaded files and "
		    "those given back to the user are there, others are "
		    "gone\n");

	/* Such as an edit after which nothing stands there any more. */
	if (t.len == 0)
		buf_puts(&t, "(no output)\n");

	/* The last line's end is the message's. */
	rc = buf_ok(&t) && t.len > 0 ? buf_put(b, t.p, t.len - 1) : -1;
	buf_free(&t);
	return (rc);
}
