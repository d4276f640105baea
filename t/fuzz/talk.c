/*
 * Conversations of any history: refused with a reason, or written so that every
 * call has its one result in the message after it, on each wire.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <json.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/conf.h"
#include "speech/refusal.h"
#include "speech/talk.h"
#include "speech/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static const char *const ids[] = {"c0", "c1", "c2", "c3", "c4", "c5", "c6"};

/* What one byte says: who, what, and of which call. */
static int
add(struct talk *t, unsigned int byte)
{
	static const struct {
		enum speaker who;
		enum part_kind kind;
		int ours;
	} rows[] = {
	    {TALK_USER, PART_TEXT, 0},
	    {TALK_ASSISTANT, PART_TEXT, 0},
	    {TALK_ASSISTANT, PART_REASONING, 0},
	    {TALK_ASSISTANT, PART_CALL, 0},
	    {TALK_ASSISTANT, PART_CALL, 1},
	    {TALK_USER, PART_RESULT, 0},
	    {TALK_USER, PART_RESULT, 1},
	    {TALK_USER, PART_FILE, 0},
	};
	const unsigned int row = byte % 8, id = byte / 8 % 8;
	struct part *p = talk_add(t, rows[row].who, rows[row].kind);

	if (p == NULL)
		return (-1);
	p->text.p = rows[row].kind == PART_CALL ? "{}" : "x";
	p->text.len = strlen(p->text.p) - (id == 7);
	p->id = ids[id % 7];
	p->name = "f";
	p->where = "messages[0]";
	p->ours = rows[row].ours;
	p->is_error = byte >= 128;
	return (0);
}

/* ---- The chat wire, read as a server does */

static const char *
str(json_object *o, const char *key)
{
	json_object *v;

	return (json_object_object_get_ex(o, key, &v)
		? json_object_get_string(v)
		: NULL);
}

static void
see_message(json_object *open, json_object *m)
{
	json_object *calls = NULL;
	const char *id = str(m, "tool_call_id");
	size_t i;

	if (id != NULL) {
		if (!json_object_object_get_ex(open, id, NULL))
			abort();
		json_object_object_del(open, id);
		return;
	}
	if (json_object_object_length(open) != 0)
		abort();
	json_object_object_get_ex(m, "tool_calls", &calls);
	for (i = 0; calls != NULL && i < json_object_array_length(calls); i++) {
		id = str(json_object_array_get_idx(calls, i), "id");
		if (json_object_object_get_ex(open, id, NULL))
			abort();
		json_object_object_add(open, id, json_object_new_int(1));
	}
}

static void
see_chat(json_object *root)
{
	json_object *open = json_object_new_object(), *list;
	size_t i;

	json_object_object_get_ex(root, "messages", &list);
	for (i = 0; i < json_object_array_length(list); i++)
		see_message(open, json_object_array_get_idx(list, i));
	if (json_object_object_length(open) != 0)
		abort();
	json_object_put(open);
}

static void
write_one(const struct talk *t, enum conf_wire kind)
{
	const struct conf_provider provider = {.wire = (int)kind};
	const struct round r = {
	    .provider = &provider, .model = "m", .max_tokens = 9};
	struct buf b = BUF_INIT(16 << 20);
	json_object *o;

	if (wire_of(kind)->write(&b, t, &r) ||
	    (o = json_tokener_parse(b.p)) == NULL)
		abort();
	if (kind == WIRE_CHAT)
		see_chat(o);
	json_object_put(o);
	buf_free(&b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct arena *mem = arena_new(8 << 20);
	struct talk *t = talk_new(mem);
	struct refusal why = {0};
	size_t i;

	if (len > 4096)
		len = 4096;
	for (i = 0; i < len && add(t, data[i]) == 0; i++)
		continue;
	if (i == len && talk_offer(t) == 0) {
		if (talk_settle(t, &why) == 0) {
			write_one(t, WIRE_CHAT);
			write_one(t, WIRE_RESPONSES);
			write_one(t, WIRE_MESSAGES);
		} else if (why.message[0] == '\0')
			abort();
	}
	arena_free(mem);
	return (0);
}
