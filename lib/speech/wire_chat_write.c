#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/jput.h"

#include "speech/talk.h"
#include "speech/wire_chat.h"
#include "speech/wire_put.h"

#define NINE 9

/* Some templates take no other ids than nine letters and digits. */
static void
put_id(struct buf *b, const struct conf_provider *to, const char *id)
{
	char hex[HASH_SIZE];

	if (!to->nine ||
	    (strlen(id) == NINE &&
		strspn(id,
		    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		    "0123456789") == NINE))
		jput_str(b, id);
	else if (hash_sha256(id, strlen(id), hex) == 0)
		jput_text(b, hex, NINE);
	else
		b->spoiled = 1;
}

static void
put_result(struct buf *b, const struct conf_provider *to, const struct part *p)
{

	put_comma(b);
	buf_puts(b, "{\"role\":\"tool\",\"tool_call_id\":");
	put_id(b, to, p->id);
	buf_puts(b, ",\"content\":\"");
	if (p->is_error)
		buf_puts(b, "[tool error] ");
	if (p->text.len > 0)
		jput_chars(b, p->text.p, p->text.len);
	else
		buf_puts(b, "(empty result)");
	buf_puts(b, "\"}");
}

static int
is_said(const struct part *p)
{

	return ((p->kind == PART_TEXT || p->kind == PART_FILE ||
		    p->kind == PART_MEDIA) &&
	    p->text.len > 0);
}

/* The texts from ${p} up to ${end} with ${between} between them. */
static void
put_texts(struct buf *b, const struct part *p, const struct part *end,
    const char *between)
{
	int first = 1;

	for (; p != end; p = p->next) {
		if (!is_said(p))
			continue;
		if (!first)
			buf_puts(b, between);
		first = 0;
		jput_chars(b, p->text.p, p->text.len);
	}
}

static void
put_said(struct buf *b, const struct part *p, const struct part *end,
    const char *between)
{

	buf_puts(b, "\"");
	put_texts(b, p, end, between);
	buf_puts(b, "\"");
}

/* Where the bytes of ${m} are, as a URL. */
static void
put_url(struct buf *b, const struct media *m)
{

	if (m->data.p == NULL) {
		jput_text(b, m->url.p, m->url.len);
		return;
	}
	buf_puts(b, "\"data:");
	jput_chars(b, m->mime, strlen(m->mime));
	buf_puts(b, ";base64,");
	buf_put(b, m->data.p, m->data.len);
	buf_puts(b, "\"");
}

static void
put_media(struct buf *b, const struct media *m)
{

	put_comma(b);
	if (m->image) {
		buf_puts(b, "{\"type\":\"image_url\",\"image_url\":{");
		if (m->detail != NULL) {
			buf_puts(b, "\"detail\":");
			jput_str(b, m->detail);
			buf_puts(b, ",");
		}
		buf_puts(b, "\"url\":");
		put_url(b, m);
		buf_puts(b, "}}");
		return;
	}
	buf_puts(b, "{\"type\":\"file\",\"file\":{\"filename\":");
	jput_str(b, m->name != NULL ? m->name : "file");
	buf_puts(b, ",\"file_data\":");
	put_url(b, m);
	buf_puts(b, "}}");
}

/* What a user says and shows, part by part. */
static void
put_parts(struct buf *b, const struct part *p, const struct part *end)
{

	buf_puts(b, "[");
	for (; p != end; p = p->next) {
		if (part_shows(p))
			put_media(b, p->media);
		if (!is_said(p))
			continue;
		put_comma(b);
		buf_puts(b, "{\"type\":\"text\",\"text\":");
		jput_text(b, p->text.p, p->text.len);
		buf_puts(b, "}");
	}
	buf_puts(b, "]");
}

/* The message of what a user says and shows from ${p} up to ${end}, if that is
 * anything. */
static void
put_stretch(struct buf *b, const struct part *p, const struct part *end)
{
	const struct part *x;
	int said = 0, shows = 0;

	for (x = p; x != end; x = x->next) {
		said |= is_said(x);
		shows |= part_shows(x);
	}
	if (!said && !shows)
		return;
	put_comma(b);
	buf_puts(b, "{\"role\":\"user\",\"content\":");
	if (shows)
		put_parts(b, p, end);
	else
		put_said(b, p, end, "\\n");
	buf_puts(b, "}");
}

/* Begin a message that instructs the model, up to its text. */
static void
begin_instruction(struct buf *b, const struct conf_provider *to, int developer)
{

	put_comma(b);
	buf_printf(b, "{\"role\":\"%s\",\"content\":",
	    developer && to->developer_role ? "developer" : "system");
}

static void
put_user(struct buf *b, const struct conf_provider *to, const struct turn *u)
{
	const struct part *p, *begin = u->first;

	for (p = u->first; p != NULL; p = p->next)
		if (p->kind == PART_RESULT)
			put_result(b, to, p);
	for (p = u->first; p != NULL; p = p->next) {
		if (p->instruct.p == NULL || !to->mid_system)
			continue;
		put_stretch(b, begin, p);
		begin_instruction(b, to, p->developer);
		jput_text(b, p->instruct.p, p->instruct.len);
		buf_puts(b, "}");
		begin = p->next;
	}
	put_stretch(b, begin, NULL);
}

static void
put_call(struct buf *b, const struct conf_provider *to, const struct part *p)
{

	put_comma(b);
	buf_puts(b, "{\"id\":");
	put_id(b, to, p->id);
	buf_puts(b, ",\"type\":\"function\",\"function\":{\"name\":");
	jput_str(b, p->name);
	buf_puts(b, ",\"arguments\":");
	jput_text(b, p->text.p, p->text.len);
	buf_puts(b, "}}");
}

/* What the model thought in this turn, in one string. */
static void
put_thought(struct buf *b, const struct turn *u)
{
	const struct part *p;

	for (p = u->first; p != NULL; p = p->next)
		if (p->kind == PART_REASONING)
			jput_chars(b, p->text.p, p->text.len);
}

static int
has_thought(const struct turn *u)
{
	const struct part *p;

	for (p = u->first; p != NULL; p = p->next)
		if (p->kind == PART_REASONING && p->text.len > 0)
			return (1);
	return (0);
}

static void
put_content(struct buf *b, const struct turn *u, int said, int tags)
{

	if (tags) {
		buf_puts(b, "\"<think>");
		put_thought(b, u);
		buf_puts(b, "</think>\\n\\n");
		put_texts(b, u->first, NULL, "");
		buf_puts(b, "\"");
	} else if (said)
		put_said(b, u->first, NULL, "");
	else
		buf_puts(b, "null");
}

static void
put_assistant(
    struct buf *b, const struct conf_provider *to, const struct turn *u)
{
	const char *field = to->reasoning_in == REASONING_CONTENT
	    ? "reasoning_content"
	    : to->reasoning_in == REASONING_PLAIN ? "reasoning"
						  : NULL;
	const struct part *p;
	int said = 0, calls = 0, thought = has_thought(u);

	for (p = u->first; p != NULL; p = p->next) {
		said |= is_said(p);
		calls |= p->kind == PART_CALL;
	}
	if (!said && !calls)
		return;
	put_comma(b);
	buf_puts(b, "{\"role\":\"assistant\",\"content\":");
	put_content(b, u, said, thought && to->reasoning_in == REASONING_TAGS);
	if (thought && field != NULL) {
		buf_printf(b, ",\"%s\":\"", field);
		put_thought(b, u);
		buf_puts(b, "\"");
	}
	if (calls) {
		buf_puts(b, ",\"tool_calls\":[");
		for (p = u->first; p != NULL; p = p->next)
			if (p->kind == PART_CALL)
				put_call(b, to, p);
		buf_puts(b, "]");
	}
	buf_puts(b, "}");
}

static void
put_system(struct buf *b, const struct conf_provider *to, const struct talk *t)
{
	int format =
	    t->format.p != NULL && !t->format_passed && !to->json_schema;

	if (t->system.len == 0 && !format)
		return;
	begin_instruction(b, to, t->developer);
	buf_puts(b, "\"");
	jput_chars(b, t->system.p, t->system.len);
	if (format) {
		if (t->system.len > 0)
			buf_puts(b, "\\n\\n");
		buf_puts(b,
		    "Answer with nothing but JSON that fits this "
		    "schema: ");
		jput_chars(b, t->format.p, t->format.len);
	}
	buf_puts(b, "\"}");
}

static void
put_messages(
    struct buf *b, const struct conf_provider *to, const struct talk *t)
{
	const struct turn *u;

	buf_puts(b, ",\"messages\":[");
	put_system(b, to, t);
	for (u = t->first; u != NULL; u = u->next)
		if (u->who == TALK_USER)
			put_user(b, to, u);
		else
			put_assistant(b, to, u);
	buf_puts(b, "]");
}

static void
put_function(struct buf *b, const char *name, struct text description,
    struct jspan schema, int strict)
{

	put_comma(b);
	buf_puts(b, "{\"type\":\"function\",\"function\":{\"name\":");
	jput_str(b, name);
	if (description.p != NULL) {
		buf_puts(b, ",\"description\":");
		jput_text(b, description.p, description.len);
	}
	if (schema.p != NULL) {
		buf_puts(b, ",\"parameters\":");
		buf_put(b, schema.p, schema.len);
	}
	if (strict != -1)
		buf_puts(b, strict ? ",\"strict\":true" : ",\"strict\":false");
	buf_puts(b, "}}");
}

static void
put_choice(struct buf *b, const struct talk *t, const struct round *r)
{
	enum choice c = t->choice;

	if (t->tools == NULL && t->ours == 0)
		return;
	if (r->last)
		c = CHOICE_NONE;
	else if ((c == CHOICE_ANY || c == CHOICE_NAMED) &&
	    (r->relaxed || r->provider->no_required))
		c = CHOICE_AUTO;
	switch (c) {
	case CHOICE_UNSAID:
		break;
	case CHOICE_AUTO:
		buf_puts(b, ",\"tool_choice\":\"auto\"");
		break;
	case CHOICE_ANY:
		buf_puts(b, ",\"tool_choice\":\"required\"");
		break;
	case CHOICE_NONE:
		buf_puts(b, ",\"tool_choice\":\"none\"");
		break;
	case CHOICE_NAMED:
		buf_puts(b,
		    ",\"tool_choice\":{\"type\":\"function\","
		    "\"function\":{\"name\":");
		jput_str(b, t->choice_name);
		buf_puts(b, "}}");
		break;
	}
	if (t->parallel == 0 && !r->provider->no_parallel)
		buf_puts(b, ",\"parallel_tool_calls\":false");
}

static void
put_number(struct buf *b, const char *key, struct jspan v)
{

	if (v.p == NULL)
		return;
	buf_printf(b, ",\"%s\":", key);
	buf_put(b, v.p, v.len);
}

/* How hard the model is to think. */
static void
put_effort(struct buf *b, const struct conf_provider *to, const struct talk *t)
{

	if (to->effort == EFFORT_SWITCH &&
	    (t->hide_reasoning || t->effort != NULL))
		buf_printf(b,
		    ",\"chat_template_kwargs\":{\"enable_thinking\":%s}",
		    t->hide_reasoning ? "false" : "true");
	if (to->effort == EFFORT_WORD && t->effort != NULL) {
		buf_puts(b, ",\"reasoning_effort\":");
		jput_str(b, t->effort);
	}
}

/* What form the answer must have, where the server can be told. */
static void
put_format(struct buf *b, const struct conf_provider *to, const struct talk *t)
{

	if (t->format_passed)
		return;
	if (t->json_only)
		buf_puts(b, ",\"response_format\":{\"type\":\"json_object\"}");
	if (t->format.p == NULL || !to->json_schema)
		return;
	buf_puts(b,
	    ",\"response_format\":{\"type\":\"json_schema\","
	    "\"json_schema\":{\"name\":");
	jput_str(b, t->format_name != NULL ? t->format_name : "output");
	buf_printf(b, ",\"strict\":%s,\"schema\":",
	    t->format_strict == 0 ? "false" : "true");
	buf_put(b, t->format.p, t->format.len);
	buf_puts(b, "}}");
}

static void
put_stops(struct buf *b, const struct talk *t)
{
	size_t i;

	buf_puts(b, ",\"stop\":[");
	for (i = 0; i < t->nstops; i++) {
		put_comma(b);
		jput_text(b, t->stops[i].p, t->stops[i].len);
	}
	buf_puts(b, "]");
}

static void
put_parameters(struct buf *b, const struct talk *t, const struct round *r)
{
	const struct conf_provider *to = r->provider;

	if (r->max_tokens != 0)
		buf_printf(b, ",\"%s\":%" PRIu64,
		    to->completion_tokens ? "max_completion_tokens"
					  : "max_tokens",
		    r->max_tokens);
	put_number(b, "temperature", t->temperature);
	put_number(b, "top_p", t->top_p);
	if (to->top_k)
		put_number(b, "top_k", t->top_k);
	if (t->nstops > 0)
		put_stops(b, t);
	put_effort(b, to, t);
	if (to->verbosity && t->verbosity != NULL) {
		buf_puts(b, ",\"verbosity\":");
		jput_str(b, t->verbosity);
	}
	put_format(b, to, t);
	if (t->user != NULL) {
		buf_puts(b, ",\"user\":");
		jput_str(b, t->user);
	}
	if (t->passed_to == WIRE_CHAT && t->passed.len > 0)
		buf_put(b, t->passed.p, t->passed.len);
	if (to->prefill && t->last != NULL && t->last->who == TALK_ASSISTANT)
		buf_puts(b,
		    ",\"continue_final_message\":true,"
		    "\"add_generation_prompt\":false");
	if (t->stream)
		buf_puts(b, ",\"stream\":true");
	if (t->stream && !to->no_stream_usage)
		buf_puts(b, ",\"stream_options\":{\"include_usage\":true}");
}

int
wire_chat_write(struct buf *b, const struct talk *t, const struct round *r)
{

	buf_puts(b, "{\"model\":");
	jput_str(b, r->model);
	put_messages(b, r->provider, t);
	if (!r->provider->no_tools) {
		put_tools(b, t, put_function);
		put_choice(b, t, r);
	}
	put_parameters(b, t, r);
	buf_puts(b, "}");
	return (buf_ok(b) ? 0 : -1);
}
