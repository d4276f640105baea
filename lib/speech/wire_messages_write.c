#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/jput.h"

#include "speech/talk.h"
#include "speech/wire_messages.h"
#include "speech/wire_put.h"

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))
#define TOKENS_UNSAID 8192 /* The wire wants a limit. */
#define BUDGET_MIN 1024    /* The least that the vendor thinks with. */

/* ---- Blocks */

static void
put_text(struct buf *b, struct text x)
{

	put_comma(b);
	buf_puts(b, "{\"type\":\"text\",\"text\":");
	jput_text(b, x.p, x.len);
	buf_puts(b, "}");
}

/* An image or a document, by its bytes or by its address. */
static void
put_media(struct buf *b, const struct media *m)
{

	put_comma(b);
	buf_printf(b, "{\"type\":\"%s\",", m->image ? "image" : "document");
	if (!m->image && m->name != NULL) {
		buf_puts(b, "\"title\":");
		jput_str(b, m->name);
		buf_puts(b, ",");
	}
	if (m->data.p != NULL) {
		buf_puts(b, "\"source\":{\"type\":\"base64\",\"media_type\":");
		jput_str(b, m->mime);
		buf_puts(b, ",\"data\":\"");
		buf_put(b, m->data.p, m->data.len);
		buf_puts(b, "\"}}");
		return;
	}
	buf_puts(b, "\"source\":{\"type\":\"url\",\"url\":");
	jput_text(b, m->url.p, m->url.len);
	buf_puts(b, "}}");
}

static void
put_result(struct buf *b, const struct part *p)
{

	put_comma(b);
	buf_puts(b, "{\"type\":\"tool_result\",\"tool_use_id\":");
	put_call_id(b, p->id);
	buf_puts(b, ",\"content\":");
	if (p->text.len > 0)
		jput_text(b, p->text.p, p->text.len);
	else
		buf_puts(b, "\"(empty result)\"");
	buf_puts(b, p->is_error ? ",\"is_error\":true}" : "}");
}

static void
put_call(struct buf *b, const struct part *p)
{

	put_comma(b);
	buf_puts(b, "{\"type\":\"tool_use\",\"id\":");
	put_call_id(b, p->id);
	buf_puts(b, ",\"name\":");
	jput_str(b, p->name);
	buf_puts(b, ",\"input\":");
	buf_put(b, p->text.p, p->text.len);
	buf_puts(b, "}");
}

/* ---- Turns */

/* The end of what an assistant is to go on from must not be space. */
static struct text
trimmed(struct text x)
{

	while (x.len > 0 && strchr(" \t\r\n", x.p[x.len - 1]) != NULL &&
	    x.p[x.len - 1] != '\0')
		x.len--;
	return (x);
}

static void
put_part(struct buf *b, const struct turn *u, const struct part *p)
{

	if (part_shows(p))
		put_media(b, p->media);
	if (part_says(p))
		put_text(b,
		    u->who == TALK_ASSISTANT && u->next == NULL &&
			    p->next == NULL
			? trimmed(p->text)
			: p->text);
	if (p->kind == PART_RESULT)
		put_result(b, p);
	else if (p->kind == PART_CALL)
		put_call(b, p);
}

/* Append the message of a turn, if there is anything in it. */
static void
put_turn(struct buf *b, const struct turn *u)
{
	const struct part *p;
	int any = 0;

	for (p = u->first; p != NULL; p = p->next)
		any |= part_says(p) || part_shows(p) ||
		    p->kind == PART_RESULT || p->kind == PART_CALL;
	if (!any)
		return;
	put_comma(b);
	buf_printf(b, "{\"role\":\"%s\",\"content\":[",
	    u->who == TALK_USER ? "user" : "assistant");
	for (p = u->first; p != NULL; p = p->next)
		put_part(b, u, p);
	buf_puts(b, "]}");
}

static void
put_messages(struct buf *b, const struct talk *t)
{
	const struct turn *u;
	size_t begun;

	buf_puts(b, ",\"messages\":[");
	begun = b->len;
	if (t->first != NULL && t->first->who == TALK_ASSISTANT)
		buf_puts(b, "{\"role\":\"user\",\"content\":\"(begin)\"}");
	for (u = t->first; u != NULL; u = u->next)
		put_turn(b, u);
	if (b->len == begun)
		buf_puts(b, "{\"role\":\"user\",\"content\":\"(empty)\"}");
	buf_puts(b, "]");
}

/* What form the answer is to have, for a server that is not told otherwise. */
static void
put_form(struct buf *b, const struct talk *t, int schema)
{

	if (!schema && !t->json_only)
		return;
	if (t->system.len > 0)
		buf_puts(b, "\\n\\n");
	buf_puts(b,
	    schema ? "Answer with nothing but JSON that fits this schema: "
		   : "Answer with nothing but a JSON object.");
	if (schema)
		jput_chars(b, t->format.p, t->format.len);
}

static void
put_system(struct buf *b, const struct talk *t, int schema)
{

	if (t->system.len == 0 && !schema && !t->json_only)
		return;
	buf_puts(b, ",\"system\":\"");
	jput_chars(b, t->system.p, t->system.len);
	put_form(b, t, schema);
	buf_puts(b, "\"");
}

/* ---- Tools */

static void
put_tool(struct buf *b, const char *name, struct text description,
    struct jspan schema, int strict)
{

	(void)strict; /* The wire knows no such thing. */
	put_comma(b);
	buf_puts(b, "{\"name\":");
	jput_str(b, name);
	if (description.len > 0) {
		buf_puts(b, ",\"description\":");
		jput_text(b, description.p, description.len);
	}
	buf_puts(b, ",\"input_schema\":");
	put_schema(b, schema);
	buf_puts(b, "}");
}

static enum choice
choice_now(const struct talk *t, const struct round *r)
{

	if (t->tools == NULL && t->ours == 0)
		return (CHOICE_UNSAID);
	if (r->last)
		return (CHOICE_NONE);
	if (r->relaxed &&
	    (t->choice == CHOICE_ANY || t->choice == CHOICE_NAMED))
		return (CHOICE_AUTO);
	return (t->choice);
}

static void
put_choice(struct buf *b, const struct talk *t, enum choice c)
{
	static const char *const words[] = {[CHOICE_UNSAID] = "auto",
	    [CHOICE_AUTO] = "auto",
	    [CHOICE_ANY] = "any",
	    [CHOICE_NAMED] = "tool",
	    [CHOICE_NONE] = "none"};
	int single = t->parallel == 0 && c != CHOICE_NONE;

	if ((t->tools == NULL && t->ours == 0) ||
	    (c == CHOICE_UNSAID && !single))
		return;
	buf_printf(b, ",\"tool_choice\":{\"type\":\"%s\"", words[c]);
	if (c == CHOICE_NAMED) {
		buf_puts(b, ",\"name\":");
		jput_str(b, t->choice_name);
	}
	if (single)
		buf_puts(b, ",\"disable_parallel_tool_use\":true");
	buf_puts(b, "}");
}

/* ---- Parameters */

/*
 * Tokens to think with; 0: do not.  The vendor refuses thinking together with
 * a forced call, and in a conversation that goes on from a call before which
 * the thoughts are missing.
 */
static uint64_t
budget_of(const struct talk *t, enum choice c, uint64_t max_tokens)
{
	/* clang-format off */
	static const struct { const char *word; uint64_t budget; } rows[] = {
		{ "low", 2048 }, { "medium", 8192 }, { "high", 24576 },
		{ "xhigh", 32768 }, { "max", 32768 },
	};
	/* clang-format on */
	uint64_t budget = 0;
	size_t i;

	for (i = 0; t->effort != NULL && i < NELEM(rows); i++)
		if (strcmp(t->effort, rows[i].word) == 0)
			budget = rows[i].budget;
	if (c == CHOICE_ANY || c == CHOICE_NAMED ||
	    (t->last != NULL && t->last->prev != NULL &&
		t->last->prev->ncalls > 0))
		return (0);
	if (budget >= max_tokens)
		budget = max_tokens / 2;
	return (budget >= BUDGET_MIN ? budget : 0);
}

/* A number of at most 1, which is this wire's warmest. */
static void
put_temperature(struct buf *b, struct jspan v)
{
	char s[32];

	if (v.p != NULL && v.len < sizeof(s)) {
		memcpy(s, v.p, v.len);
		s[v.len] = '\0';
		if (strtod(s, NULL) > 1.0)
			v = (struct jspan){"1", 1};
	}
	put_member(b, "temperature", v);
}

static void
put_stops(struct buf *b, const struct talk *t)
{
	size_t i, n = 0;

	for (i = 0; i < t->nstops; i++) {
		if (trimmed(t->stops[i]).len == 0)
			continue; /* The vendor refuses mere space. */
		buf_puts(b, n++ == 0 ? ",\"stop_sequences\":[" : ",");
		jput_text(b, t->stops[i].p, t->stops[i].len);
	}
	if (n > 0)
		buf_puts(b, "]");
}

static void
put_parameters(
    struct buf *b, const struct talk *t, const struct round *r, enum choice c)
{
	uint64_t most = r->max_tokens != 0 ? r->max_tokens : TOKENS_UNSAID;
	uint64_t budget = budget_of(t, c, most);

	buf_printf(b, ",\"max_tokens\":%" PRIu64, most);
	if (budget > 0)
		buf_printf(b,
		    ",\"thinking\":{\"type\":\"enabled\","
		    "\"budget_tokens\":%" PRIu64 "}",
		    budget);
	else {
		put_temperature(b, t->temperature);
		put_member(b, "top_p", t->top_p);
		put_member(b, "top_k", t->top_k);
	}
	put_stops(b, t);
	if (t->user != NULL) {
		buf_puts(b, ",\"metadata\":{\"user_id\":");
		jput_str(b, t->user);
		buf_puts(b, "}");
	}
}

int
wire_messages_write(struct buf *b, const struct talk *t, const struct round *r)
{
	const enum choice c = choice_now(t, r);
	const int format = t->format.p != NULL;
	const int native = format && r->provider->json_schema;

	buf_puts(b, "{\"model\":");
	jput_str(b, r->model);
	if (t->stream)
		buf_puts(b, ",\"stream\":true");
	put_system(b, t, format && !native);
	put_messages(b, t);
	put_tools(b, t, put_tool);
	put_choice(b, t, c);
	put_parameters(b, t, r, c);
	if (native) {
		buf_puts(b,
		    ",\"output_config\":{\"format\":{\"type\":"
		    "\"json_schema\",\"schema\":");
		buf_put(b, t->format.p, t->format.len);
		buf_puts(b, "}}");
	}
	if (t->passed_to == WIRE_MESSAGES)
		buf_put(b, t->passed.p, t->passed.len);
	buf_puts(b, "}");
	return (buf_ok(b) ? 0 : -1);
}
