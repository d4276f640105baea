#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"

#include "data/container.h"

#include "speech/foreign.h"
#include "speech/openai_read.h"
#include "speech/pick.h"
#include "speech/refusal.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define SAID_MAX (64U << 20)
#define NOTE_MAX 65536

int
openai_say(struct reader *rd, enum speaker who, struct text x)
{
	struct part *p;

	if (x.len == 0)
		return (0);
	if ((p = talk_add(rd->talk, who, PART_TEXT)) == NULL)
		return (reader_no_memory(rd));
	p->text = x;
	return (0);
}

int
openai_note(struct reader *rd, enum speaker who, const char *fmt, ...)
{
	char line[1024];
	struct text x;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (n < 0 ||
	    talk_text(rd->talk, line,
		(size_t)n < sizeof(line) ? (size_t)n : sizeof(line) - 1, &x))
		return (reader_no_memory(rd));
	return (openai_say(rd, who, x));
}

int
openai_foreign(
    struct reader *rd, enum speaker who, const char *type, struct jspan v)
{
	struct text x;

	return (foreign_line(rd->talk, type, v, &x) ? reader_no_memory(rd)
						    : openai_say(rd, who, x));
}

/* Add to the system's text, with room for more of it so that many small pieces
 * cost no more than their length. */
static int
add_system(struct reader *rd, struct text x)
{
	struct talk *t = rd->talk;
	size_t len = t->system.len, need = len + 2 + x.len;
	char *p;

	if (need > rd->room) {
		if (need > SAID_MAX ||
		    (p = arena_alloc(t->mem, 2 * need)) == NULL)
			return (reader_no_memory(rd));
		if (len > 0)
			memcpy(p, t->system.p, len);
		rd->room = 2 * need;
		rd->system = p;
	}
	p = rd->system + len;
	if (len > 0) {
		memcpy(p, "\n\n", 2);
		p += 2;
	}
	memcpy(p, x.p, x.len);
	t->system.p = rd->system;
	t->system.len = (size_t)(p - rd->system) + x.len;
	return (0);
}

int
openai_instruct(struct reader *rd, struct text x, int developer)
{

	if (x.len == 0)
		return (0);
	if (rd->talk->last != NULL)
		return (talk_instruct(rd->talk, x, developer)
			? reader_no_memory(rd)
			: 0);
	rd->talk->developer |= developer;
	return (add_system(rd, x));
}

/* Parts that are text, and the member in which they hold it. */
/* clang-format off */
static const struct { const char *type, *key; } texts[] = {
	{ "text", "text" }, { "input_text", "text" },
	{ "output_text", "text" }, { "refusal", "refusal" },
	{ "summary_text", "text" }, { "reasoning_text", "text" },
};
/* clang-format on */

static int
put_part(struct reader *rd, struct jspan v, struct buf *b)
{
	const char *type;
	struct text x;
	size_t i;

	if (!pick_is(v, '{'))
		return (reader_refuse(rd, "must be an object"));
	if (reader_get_str(rd, v, "type", &type))
		return (-1);
	for (i = 0; i < NELEM(texts); i++)
		if (strcmp(texts[i].type, type) == 0)
			break;
	if (i == NELEM(texts)) {
		if (foreign_line(rd->talk, type, v, &x))
			return (reader_no_memory(rd));
	} else if (reader_get_text(rd, v, texts[i].key, &x))
		return (-1);
	return (buf_put(b, x.p, x.len) ? reader_no_memory(rd) : 0);
}

int
openai_text_of(struct reader *rd, struct jspan v, struct text *x)
{
	struct buf b = BUF_INIT(SAID_MAX);
	struct jspan_iter it;
	struct jspan part;
	size_t i = 0, mark;
	int rc = 0;

	if (pick_is(v, '"'))
		return (reader_text(rd, v, x));
	if (jspan_iter(&it, v) || it.object)
		return (reader_refuse(rd, "must be a string or a list"));
	while (rc == 0 && jspan_next(&it, NULL, &part)) {
		mark = reader_at(rd, i++);
		if ((rc = put_part(rd, part, &b)) == 0)
			reader_out(rd, mark);
	}
	if (rc == 0 && talk_text(rd->talk, b.p, b.len, x))
		rc = reader_no_memory(rd);
	buf_free(&b);
	return (rc);
}

/* ---- Containers */

int
openai_container(struct reader *rd, struct jspan v)
{
	const char *id;

	if (reader_str(rd, v, &id))
		return (-1);
	if ((id = container_id_bare(id)) == NULL)
		return (0);
	if ((rd->talk->ask.where = reader_where(rd)) == NULL)
		return (reader_no_memory(rd));
	rd->talk->ask.id = id;
	return (0);
}

int
openai_refuse_member(
    struct reader *rd, struct jspan root, const char *key, const char *why)
{
	struct jspan_iter it;
	struct jspan v, first;

	if (!reader_member(root, key, &v) || pick_is(v, 'f') ||
	    (jspan_iter(&it, v) == 0 && !jspan_next(&it, NULL, &first)))
		return (0);
	return (refuse(rd->why, P_BAD_REQUEST, key, "%s: %s", key, why));
}

int
openai_part(struct reader *rd, struct jspan root, const char *key,
    struct jspan *turns, struct jspan *rest)
{
	struct jspan_edit edit = {.text = {"null", 4}};
	struct buf b = BUF_INIT(root.len + 4);
	struct text x;
	int rc;

	if (!reader_member(root, key, turns))
		return (refuse(
		    rd->why, P_MISSING_PARAMETER, key, "%s: is required", key));
	edit.at = *turns;
	rc = jspan_splice(&b, root, &edit, 1) ||
	    talk_text(rd->talk, b.p, b.len, &x);
	buf_free(&b);
	if (rc)
		return (reader_no_memory(rd));
	rest->p = x.p;
	rest->len = x.len;
	return (0);
}
