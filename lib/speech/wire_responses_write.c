#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/jput.h"

#include "speech/talk.h"
#include "speech/wire_put.h"
#include "speech/wire_responses.h"

#define TOKENS_MIN 16 /* The vendor refuses less. */

/* ---- Items */

static void
put_text(struct buf *b, const char *type, struct text x)
{

	put_comma(b);
	buf_printf(b, "{\"type\":\"%s\",\"text\":", type);
	jput_text(b, x.p, x.len);
	buf_puts(b, "}");
}

/* The bytes of ${m} as a URL. */
static void
put_data_url(struct buf *b, const struct media *m)
{

	buf_puts(b, "\"data:");
	jput_chars(b, m->mime, strlen(m->mime));
	buf_puts(b, ";base64,");
	buf_put(b, m->data.p, m->data.len);
	buf_puts(b, "\"");
}

static void
put_image(struct buf *b, const struct media *m)
{

	put_comma(b);
	buf_puts(b, "{\"type\":\"input_image\",\"detail\":");
	jput_str(b, m->detail != NULL ? m->detail : "auto");
	buf_puts(b, ",\"image_url\":");
	if (m->data.p != NULL)
		put_data_url(b, m);
	else
		jput_text(b, m->url.p, m->url.len);
	buf_puts(b, "}");
}

static void
put_file(struct buf *b, const struct media *m)
{

	put_comma(b);
	buf_puts(b, "{\"type\":\"input_file\"");
	if (m->data.p != NULL) {
		buf_puts(b, ",\"filename\":");
		jput_str(b, m->name != NULL ? m->name : "file");
		buf_puts(b, ",\"file_data\":");
		put_data_url(b, m);
	} else {
		buf_puts(b, ",\"file_url\":");
		jput_text(b, m->url.p, m->url.len);
	}
	buf_puts(b, "}");
}

static void
put_result(struct buf *b, const struct part *p)
{

	put_comma(b);
	buf_puts(b, "{\"type\":\"function_call_output\",\"call_id\":");
	put_call_id(b, p->id);
	buf_puts(b, ",\"output\":\"");
	if (p->is_error)
		buf_puts(b, "[tool error] ");
	if (p->text.len > 0)
		jput_chars(b, p->text.p, p->text.len);
	else
		buf_puts(b, "(empty result)");
	buf_puts(b, "\"}");
}

static void
put_call(struct buf *b, const struct part *p)
{

	put_comma(b);
	buf_puts(b, "{\"type\":\"function_call\",\"call_id\":");
	put_call_id(b, p->id);
	buf_puts(b, ",\"name\":");
	jput_str(b, p->name);
	buf_puts(b, ",\"arguments\":");
	jput_text(b, p->text.p, p->text.len);
	buf_puts(b, "}");
}

/* ---- Turns */

static void
put_user(struct buf *b, const struct turn *u)
{
	const struct part *p;
	int any = 0;

	for (p = u->first; p != NULL; p = p->next) {
		if (p->kind == PART_RESULT)
			put_result(b, p);
		any |= part_says(p) || part_shows(p);
	}
	if (!any)
		return;
	put_comma(b);
	buf_puts(b, "{\"type\":\"message\",\"role\":\"user\",\"content\":[");
	for (p = u->first; p != NULL; p = p->next) {
		if (part_shows(p))
			p->media->image ? put_image(b, p->media)
					: put_file(b, p->media);
		if (part_says(p))
			put_text(b, "input_text", p->text);
	}
	buf_puts(b, "]}");
}

/* What was said and what was called are items of their own, in their order. */
static void
put_assistant(struct buf *b, const struct turn *u)
{
	const struct part *p;
	int open = 0;

	for (p = u->first; p != NULL; p = p->next) {
		if (part_says(p)) {
			if (!open) {
				put_comma(b);
				buf_puts(b,
				    "{\"type\":\"message\",\"role\":"
				    "\"assistant\",\"content\":[");
			}
			open = 1;
			put_text(b, "output_text", p->text);
		}
		if (p->kind != PART_CALL)
			continue;
		if (open)
			buf_puts(b, "]}");
		open = 0;
		put_call(b, p);
	}
	if (open)
		buf_puts(b, "]}");
}

static void
put_input(struct buf *b, const struct talk *t)
{
	const struct turn *u;

	if (t->system.len > 0) {
		buf_puts(b, ",\"instructions\":");
		jput_text(b, t->system.p, t->system.len);
	}
	buf_puts(b, ",\"input\":[");
	for (u = t->first; u != NULL; u = u->next)
		if (u->who == TALK_USER)
			put_user(b, u);
		else
			put_assistant(b, u);
	buf_puts(b, "]");
}

/* ---- Tools */

/* Strict is said always: here it is the default, which callers do not mean. */
static void
put_function(struct buf *b, const char *name, struct text description,
    struct jspan schema, int strict)
{

	put_comma(b);
	buf_puts(b, "{\"type\":\"function\",\"name\":");
	jput_str(b, name);
	if (description.len > 0) {
		buf_puts(b, ",\"description\":");
		jput_text(b, description.p, description.len);
	}
	buf_puts(b, ",\"parameters\":");
	put_schema(b, schema);
	buf_puts(b, strict == 1 ? ",\"strict\":true}" : ",\"strict\":false}");
}

static void
put_choice(struct buf *b, const struct talk *t, const struct round *r)
{
	static const char *const words[] = {[CHOICE_AUTO] = "auto",
	    [CHOICE_ANY] = "required",
	    [CHOICE_NONE] = "none"};
	enum choice c = t->choice;

	if (t->tools == NULL && t->ours == 0)
		return;
	if (r->last)
		c = CHOICE_NONE;
	else if (r->relaxed && (c == CHOICE_ANY || c == CHOICE_NAMED))
		c = CHOICE_AUTO;
	if (c == CHOICE_NAMED) {
		buf_puts(b,
		    ",\"tool_choice\":{\"type\":\"function\","
		    "\"name\":");
		jput_str(b, t->choice_name);
		buf_puts(b, "}");
	} else if (c != CHOICE_UNSAID)
		buf_printf(b, ",\"tool_choice\":\"%s\"", words[c]);
	if (t->parallel == 0)
		buf_puts(b, ",\"parallel_tool_calls\":false");
}

/* ---- Parameters */

/* What form the answer is to have, and how long it is to be. */
static void
put_form(struct buf *b, const struct talk *t)
{
	const int format = t->format.p != NULL;

	if (!format && !t->json_only && t->verbosity == NULL)
		return;
	buf_puts(b, ",\"text\":{");
	if (format) {
		buf_puts(b, "\"format\":{\"type\":\"json_schema\",\"name\":");
		jput_str(b, t->format_name != NULL ? t->format_name : "output");
		buf_printf(b, ",\"strict\":%s,\"schema\":",
		    t->format_strict == 0 ? "false" : "true");
		buf_put(b, t->format.p, t->format.len);
		buf_puts(b, "}");
	} else if (t->json_only)
		buf_puts(b, "\"format\":{\"type\":\"json_object\"}");
	if (t->verbosity != NULL) {
		put_comma(b);
		buf_puts(b, "\"verbosity\":");
		jput_str(b, t->verbosity);
	}
	buf_puts(b, "}");
}

static void
put_parameters(struct buf *b, const struct talk *t, const struct round *r)
{

	if (r->max_tokens != 0)
		buf_printf(b, ",\"max_output_tokens\":%" PRIu64,
		    r->max_tokens < TOKENS_MIN ? TOKENS_MIN : r->max_tokens);
	put_member(b, "temperature", t->temperature);
	put_member(b, "top_p", t->top_p);
	put_form(b, t);
	if (t->effort != NULL) {
		buf_puts(b, ",\"reasoning\":{\"effort\":");
		jput_str(b, t->effort);
		buf_puts(b, "}");
	}
	if (t->user != NULL) {
		buf_puts(b, ",\"user\":");
		jput_str(b, t->user);
	}
}

int
wire_responses_write(struct buf *b, const struct talk *t, const struct round *r)
{

	buf_puts(b, "{\"model\":");
	jput_str(b, r->model);
	if (t->stream)
		buf_puts(b, ",\"stream\":true");
	buf_puts(b, ",\"store\":false");
	put_input(b, t);
	put_tools(b, t, put_function);
	put_choice(b, t, r);
	put_parameters(b, t, r);
	if (t->passed_to == WIRE_RESPONSES)
		buf_put(b, t->passed.p, t->passed.len);
	buf_puts(b, "}");
	return (buf_ok(b) ? 0 : -1);
}
