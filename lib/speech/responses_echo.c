#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/jput.h"

#include "data/file.h"

#include "data/container.h"

#include "speech/openai_read.h"
#include "speech/outcome.h"
#include "speech/pick.h"
#include "speech/refusal.h"
#include "speech/responses.h"
#include "speech/talk.h"

#define LOGS_MAX (64U << 20)
#define NOTE_MAX 65536 /* Of a run that is told as text. */
#define FILES_MAX 64   /* Cited as one run's. */

/* Join the logs among the outputs ${v}; images say nothing to a model. */
static int
read_logs(struct reader *rd, struct jspan v, struct text *x)
{
	struct buf b = BUF_INIT(LOGS_MAX);
	struct jspan_iter it;
	struct jspan entry, m;
	struct text one;
	int rc = 0;

	if (jspan_iter(&it, v) || it.object)
		return (reader_refuse(rd, "outputs must be a list"));
	while (rc == 0 && jspan_next(&it, NULL, &entry)) {
		if (!reader_member(entry, "logs", &m))
			continue;
		if (pick_text(rd->talk->mem, m, &one))
			rc = reader_refuse(rd, "logs must be a string");
		else
			buf_put(&b, one.p, one.len);
	}
	if (rc == 0 && (!buf_ok(&b) || talk_text(rd->talk, b.p, b.len, x)))
		rc = reader_no_memory(rd);
	buf_free(&b);
	return (rc);
}

/* Is ${v} a list without elements? */
static int
is_empty(struct jspan v)
{
	struct jspan_iter it;

	return (
	    jspan_iter(&it, v) == 0 && !it.object && !jspan_step(&it, NULL));
}

/*
 * What the item says came of the run; ${o} stays NULL if it says nothing.  An
 * empty list says nothing either: clients write one where they were not shown
 * the outputs.
 */
static int
read_outcome(struct reader *rd, struct jspan v, struct outcome **o)
{
	struct jspan outputs, status;
	struct text logs;
	char *message;

	if (!reader_member(v, "outputs", &outputs) || is_empty(outputs))
		return (0);
	if (read_logs(rd, outputs, &logs))
		return (-1);
	if ((*o = arena_alloc(rd->talk->mem, sizeof(**o))) == NULL)
		return (reader_no_memory(rd));
	(*o)->tool = OUR_CODE;
	(*o)->files_end = &(*o)->files;
	if (!reader_member(v, "status", &status) ||
	    !jspan_is(status, "failed")) {
		(*o)->out = logs;
		return (0);
	}
	/* Why it failed is in the logs, in words. */
	message = arena_strndup(
	    rd->talk->mem, logs.p, logs.len < NOTE_MAX ? logs.len : NOTE_MAX);
	if (message == NULL)
		return (reader_no_memory(rd));
	(*o)->kind = OUTCOME_BAD_INPUT;
	(*o)->message = message;
	return (0);
}

/* Tell as the assistant's own text what cannot be told as a call. */
static int
note_run(struct reader *rd, struct text code, const struct outcome *o)
{
	static const struct outcome_bounds bounds = {.max_text = NOTE_MAX / 8};
	struct buf b = BUF_INIT(4 * NOTE_MAX);
	struct text x;
	int rc;

	buf_puts(&b, "\n[code_execution ");
	jput_text(&b, code.p, code.len < NOTE_MAX / 2 ? code.len : 0);
	buf_puts(&b, "]\n");
	if (o != NULL) {
		buf_puts(&b, "[result: ");
		outcome_text(&b, o, &bounds);
		buf_puts(&b, "]\n");
	}
	rc = !buf_ok(&b) || talk_text(rd->talk, b.p, b.len, &x);
	buf_free(&b);
	return (rc ? reader_no_memory(rd) : openai_say(rd, TALK_ASSISTANT, x));
}

static int
add_call(struct reader *rd, const char *id, struct text code)
{
	struct buf b = BUF_INIT(LOGS_MAX);
	struct part *p;
	int rc = 0;

	if ((p = reader_call(rd)) == NULL)
		return (-1);
	p->ours = 1;
	p->id = id;
	p->name = rd->talk->our_name[OUR_CODE];
	buf_puts(&b, "{\"code\":");
	jput_text(&b, code.p, code.len);
	if (buf_puts(&b, "}") || talk_text(rd->talk, b.p, b.len, &p->text))
		rc = reader_no_memory(rd);
	buf_free(&b);
	return (rc);
}

/* The last container of ours in the history is used again if it is there. */
static void
ask_again(struct reader *rd, struct jspan v)
{
	struct talk_ask *ask = &rd->talk->ask;
	struct jspan m;
	const char *s;

	if ((ask->id != NULL && !ask->mild) ||
	    !reader_member(v, "container_id", &m) ||
	    (s = pick_str(rd->talk->mem, m)) == NULL ||
	    (s = container_id_bare(s)) == NULL)
		return;
	ask->id = s;
	ask->mild = 1;
}

int
responses_read_run(struct reader *rd, struct jspan v, struct outcome **o)
{
	struct text code = {"", 0};
	struct jspan m;
	const char *id;
	struct part *p;

	*o = NULL;
	ask_again(rd, v);
	if (reader_get_str(rd, v, "id", &id) ||
	    (reader_member(v, "code", &m) &&
		reader_get_text(rd, v, "code", &code)) ||
	    read_outcome(rd, v, o))
		return (-1);
	if (rd->talk->our_name[OUR_CODE] == NULL)
		return (note_run(rd, code, *o));
	if (add_call(rd, id, code))
		return (-1);
	if (*o == NULL)
		return (0);
	if ((p = talk_add(rd->talk, TALK_ASSISTANT, PART_RESULT)) == NULL ||
	    (p->where = reader_where(rd)) == NULL)
		return (reader_no_memory(rd));
	p->ours = 1;
	p->id = id;
	p->outcome = *o;
	return (0);
}

static int
add_file(struct reader *rd, const char *id, struct outcome *o)
{
	struct outcome_file *f;
	size_t n = 0;

	for (f = o->files; f != NULL; f = f->next)
		if (strcmp(f->id, id) == 0 || ++n == FILES_MAX)
			return (0);
	if ((f = arena_alloc(rd->talk->mem, sizeof(*f))) == NULL ||
	    (f->id = arena_strndup(rd->talk->mem, id, strlen(id))) == NULL)
		return (reader_no_memory(rd));
	*o->files_end = f;
	o->files_end = &f->next;
	return (0);
}

int
responses_read_cited(struct reader *rd, struct jspan part, struct outcome *o)
{
	char id[FILE_IDMAX + 1];
	struct jspan list, v, m;
	struct jspan_iter it;
	const char *s;

	if (!reader_member(part, "annotations", &list) ||
	    jspan_iter(&it, list) || it.object)
		return (0);
	while (jspan_next(&it, NULL, &v)) {
		if (!reader_member(v, "type", &m) ||
		    !jspan_is(m, "container_file_citation") ||
		    !reader_member(v, "file_id", &m) ||
		    (s = pick_str(rd->talk->mem, m)) == NULL ||
		    file_id_parse(s, id))
			continue;
		if (add_file(rd, id, o))
			return (-1);
	}
	return (0);
}
