#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/utf8.h"

#include "data/file.h"

#include "speech/messages.h"
#include "speech/outcome.h"
#include "speech/pick.h"
#include "speech/refusal.h"
#include "speech/talk.h"

#define NOTE_MAX 65536 /* Of a call or result that is told as text. */

/* The function that the vendor's clients know under ${name}. */
static enum our_tool
tool_of(const char *name)
{
	int i;

	for (i = 0; i < OUR_COUNT; i++)
		if (strcmp(our_rows[i].name, name) == 0)
			break;
	return ((enum our_tool)i);
}

static int
is_offered(const struct talk *t, enum our_tool tool)
{

	return (tool != OUR_NONE && (t->ours & (1U << tool)) != 0);
}

/* Tell as the assistant's own text what cannot be told as a call. */
static int
add_note(struct reader *rd, const struct buf *b)
{
	struct part *p;

	if (!buf_ok(b) ||
	    (p = talk_add(rd->talk, TALK_ASSISTANT, PART_TEXT)) == NULL ||
	    talk_text(rd->talk, b->p, b->len, &p->text))
		return (reader_no_memory(rd));
	return (0);
}

static int
note_call(struct reader *rd, const char *name, struct jspan input)
{
	struct buf b = BUF_INIT(NOTE_MAX + 256);
	int rc;

	buf_printf(&b, "\n[%.80s ", name);
	buf_put(&b, input.p, utf8_cut(input.p, input.len, NOTE_MAX));
	buf_puts(&b, "]\n");
	rc = add_note(rd, &b);
	buf_free(&b);
	return (rc);
}

int
messages_read_call(struct reader *rd, struct jspan v)
{
	const char *id, *name;
	struct jspan input;
	enum our_tool tool;
	struct part *p;

	if (reader_get_str(rd, v, "id", &id) ||
	    reader_get_str(rd, v, "name", &name))
		return (-1);
	if (!reader_member(v, "input", &input) || !pick_is(input, '{'))
		input = (struct jspan){"{}", 2};
	tool = tool_of(name);
	if (!is_offered(rd->talk, tool))
		return (note_call(rd, name, input));
	if ((p = reader_call(rd)) == NULL)
		return (-1);
	p->ours = 1;
	p->id = id;
	p->name = rd->talk->our_name[tool];
	p->text.p = input.p;
	p->text.len = input.len;
	return (0);
}

/* ---- Results */

static void
opt_text(struct talk *t, struct jspan o, const char *key, struct text *x)
{
	struct jspan v;

	if (!reader_member(o, key, &v) || pick_text(t->mem, v, x))
		x->len = 0;
}

static int
opt_int(struct jspan o, const char *key)
{
	char s[16] = "0";
	struct jspan v;

	if (reader_member(o, key, &v) && v.len < sizeof(s)) {
		memcpy(s, v.p, v.len);
		s[v.len] = '\0';
	}
	return ((int)strtol(s, NULL, 10));
}

static int
read_files(struct talk *t, struct jspan content, struct outcome *o)
{
	char id[FILE_IDMAX + 1];
	struct outcome_file *f;
	struct jspan list, v, m;
	struct jspan_iter it;
	const char *s;

	if (!reader_member(content, "content", &list) ||
	    jspan_iter(&it, list) || it.object)
		return (0);
	while (jspan_next(&it, NULL, &v)) {
		if (!reader_member(v, "file_id", &m) ||
		    (s = pick_str(t->mem, m)) == NULL || file_id_parse(s, id))
			continue;
		if ((f = arena_alloc(t->mem, sizeof(*f))) == NULL ||
		    (f->id = arena_strndup(t->mem, id, strlen(id))) == NULL)
			return (-1);
		*o->files_end = f;
		o->files_end = &f->next;
	}
	return (0);
}

static int
read_ran(struct talk *t, struct jspan content, struct outcome *o)
{
	static const struct text hidden = TEXT_LIT("(output not available)");
	struct jspan v;

	o->kind = OUTCOME_RAN;
	opt_text(t, content, "stdout", &o->out);
	opt_text(t, content, "stderr", &o->err);
	if (reader_member(content, "encrypted_stdout", &v))
		o->out = hidden;
	ends_find(o->out.p, o->out.len, &o->out_gap);
	ends_find(o->err.p, o->err.len, &o->err_gap);
	o->code = opt_int(content, "return_code");
	return (read_files(t, content, o));
}

static int
read_error(struct talk *t, struct jspan content, struct outcome *o)
{
	struct jspan v;
	int kind;

	o->kind = OUTCOME_UNAVAILABLE;
	if (reader_member(content, "error_message", &v))
		o->message = pick_str(t->mem, v);
	if (!reader_member(content, "error_code", &v))
		return (0);
	for (kind = OUTCOME_RAN; kind <= OUTCOME_REPLACE; kind++)
		if (outcome_error_name((enum outcome_kind)kind) != NULL &&
		    jspan_is(v, outcome_error_name((enum outcome_kind)kind)))
			o->kind = (enum outcome_kind)kind;
	return (0);
}

static int
read_view(struct talk *t, struct jspan content, struct outcome *o)
{

	o->kind = OUTCOME_VIEW;
	opt_text(t, content, "content", &o->out);
	return (0);
}

static int
read_create(struct talk *t, struct jspan content, struct outcome *o)
{
	struct jspan v;

	(void)t;
	o->kind = OUTCOME_CREATE;
	o->update =
	    reader_member(content, "is_file_update", &v) && pick_is(v, 't');
	return (0);
}

static int
read_replace(struct talk *t, struct jspan content, struct outcome *o)
{
	struct buf b = BUF_INIT(NOTE_MAX);
	struct jspan list, v;
	struct jspan_iter it;
	struct text x;
	int rc;

	o->kind = OUTCOME_REPLACE;
	if (!reader_member(content, "lines", &list) || jspan_iter(&it, list) ||
	    it.object)
		return (0);
	while (jspan_next(&it, NULL, &v))
		if (pick_text(t->mem, v, &x) == 0 &&
		    (buf_put(&b, x.p, x.len) || buf_puts(&b, "\n")))
			break;
	rc = talk_text(t, b.p, b.len, &o->out);
	buf_free(&b);
	return (rc);
}

/* By the last words of the type of a result's content. */
/* clang-format off */
static const struct {
	const char *suffix;
	int (*read)(struct talk *, struct jspan, struct outcome *);
} shapes[] = {
	{ "_tool_result_error", read_error },
	{ "_view_result", read_view },
	{ "_create_result", read_create },
	{ "_str_replace_result", read_replace },
	{ "", read_ran },
};
/* clang-format on */

static int
ends_with(const char *s, const char *suffix)
{
	size_t len = strlen(s), n = strlen(suffix);

	return (len >= n && strcmp(s + len - n, suffix) == 0);
}

static struct outcome *
read_outcome(struct reader *rd, struct jspan v, enum our_tool tool)
{
	struct outcome *o;
	struct jspan content;
	const char *type;
	size_t i = 0;

	if (!reader_member(v, "content", &content) || !pick_is(content, '{')) {
		(void)reader_refuse(rd, "content must be an object");
		return (NULL);
	}
	if (reader_get_str(rd, content, "type", &type))
		return (NULL);
	if ((o = arena_alloc(rd->talk->mem, sizeof(*o))) == NULL) {
		(void)reader_no_memory(rd);
		return (NULL);
	}
	o->tool = tool;
	o->files_end = &o->files;
	while (!ends_with(type, shapes[i].suffix))
		i++;
	if (shapes[i].read(rd->talk, content, o)) {
		(void)reader_no_memory(rd);
		return (NULL);
	}
	return (o);
}

static int
note_result(struct reader *rd, const struct outcome *o)
{
	static const struct outcome_bounds bounds = {.max_text = NOTE_MAX / 8};
	struct buf b = BUF_INIT(NOTE_MAX);
	int rc;

	buf_puts(&b, "\n[result: ");
	outcome_text(&b, o, &bounds);
	buf_puts(&b, "]\n");
	rc = add_note(rd, &b);
	buf_free(&b);
	return (rc);
}

int
messages_read_result(struct reader *rd, struct jspan v)
{
	char name[64];
	const char *id, *type;
	struct outcome *o;
	enum our_tool tool;
	struct part *p;

	if (reader_get_str(rd, v, "tool_use_id", &id) ||
	    reader_get_str(rd, v, "type", &type))
		return (-1);
	(void)snprintf(name, sizeof(name), "%.*s",
	    (int)(strlen(type) - strlen("_tool_result")), type);
	tool = tool_of(name);
	if ((o = read_outcome(rd, v, tool)) == NULL)
		return (-1);
	if (!is_offered(rd->talk, tool) || talk_open_call(rd->talk, id) == NULL)
		return (note_result(rd, o));
	if ((p = talk_add(rd->talk, TALK_ASSISTANT, PART_RESULT)) == NULL ||
	    (p->where = reader_where(rd)) == NULL)
		return (reader_no_memory(rd));
	p->ours = 1;
	p->id = id;
	p->outcome = o;
	return (0);
}
