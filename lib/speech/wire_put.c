#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/jput.h"

#include "speech/pick.h"
#include "speech/talk.h"
#include "speech/wire_put.h"

#define CALL_ID_MAX 64
#define MADE_ID_LEN 24

void
put_comma(struct buf *b)
{

	if (b->len > 0 && b->p[b->len - 1] != '[' && b->p[b->len - 1] != '{')
		buf_puts(b, ",");
}

void
put_member(struct buf *b, const char *key, struct jspan v)
{

	if (v.p == NULL)
		return;
	buf_printf(b, ",\"%s\":", key);
	buf_put(b, v.p, v.len);
}

void
put_schema(struct buf *b, struct jspan schema)
{
	struct jspan_iter it;
	struct jspan v;

	if (schema.p == NULL || jspan_iter(&it, schema) || !it.object ||
	    !jspan_next(&it, NULL, &v)) {
		buf_puts(b, "{\"type\":\"object\",\"properties\":{}}");
		return;
	}
	if (jspan_get(schema, "type", &v) == 0) {
		buf_puts(b, "{\"type\":\"object\",");
		buf_put(b, schema.p + 1, schema.len - 1);
		return;
	}
	buf_put(b, schema.p, schema.len);
}

void
put_tools(struct buf *b, const struct talk *t, put_tool_fn *fn)
{
	const struct our_row *row;
	const struct tool *x;
	int i;

	if (t->tools == NULL && t->ours == 0)
		return;
	buf_puts(b, ",\"tools\":[");
	for (x = t->tools; x != NULL; x = x->next)
		fn(b, x->name, x->description, x->schema, x->strict);
	for (i = 0; i < OUR_COUNT; i++) {
		row = &our_rows[i];
		if (t->our_name[i] != NULL)
			fn(b, t->our_name[i],
			    talk_our_words(t, (enum our_tool)i),
			    (struct jspan){row->schema, strlen(row->schema)},
			    -1);
	}
	buf_puts(b, "]");
}

void
put_call_id(struct buf *b, const char *id)
{
	char hex[HASH_SIZE];
	size_t len = strlen(id);

	if (len > 0 && len <= CALL_ID_MAX &&
	    strspn(id,
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		"0123456789_-") == len)
		(void)jput_text(b, id, len);
	else if (hash_sha256(id, len, hex) == 0)
		buf_printf(b, "\"toolu_gw_%.*s\"", MADE_ID_LEN, hex);
	else
		b->spoiled = 1;
}

int
part_says(const struct part *p)
{
	size_t i;

	if (p->kind != PART_TEXT && p->kind != PART_FILE &&
	    p->kind != PART_MEDIA)
		return (0);
	for (i = 0; i < p->text.len; i++)
		if (strchr(" \t\r\n", p->text.p[i]) == NULL ||
		    p->text.p[i] == '\0')
			return (1);
	return (0);
}

int
part_shows(const struct part *p)
{

	return ((p->kind == PART_FILE || p->kind == PART_MEDIA) &&
	    p->media != NULL &&
	    (p->media->data.p != NULL || p->media->url.p != NULL));
}
