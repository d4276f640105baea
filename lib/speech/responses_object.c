#include <inttypes.h>

#include "base/jput.h"

#include "speech/pick.h"
#include "speech/reader.h"
#include "speech/responses_item.h"

/* JSON as it was sent, on one line: outside its strings a line's end is but
 * space. */
static void
put_line(struct buf *b, struct jspan v)
{
	const char *end = v.p + v.len, *p;

	for (; v.p < end; v.p = p + 1) {
		for (p = v.p; p < end && *p != '\n' && *p != '\r'; p++)
			continue;
		buf_put(b, v.p, (size_t)(p - v.p));
		if (p < end)
			buf_puts(b, " ");
	}
}

/* The member ${key}, as it was asked for or else as it is by default; without a
 * default it is left out. */
static void
put_asked(
    struct buf *b, const struct talk *t, const char *key, const char *other)
{
	struct jspan v;
	int asked = reader_member(t->asked, key, &v);

	if (!asked && other == NULL)
		return;
	buf_printf(b, ",\"%s\":", key);
	if (asked)
		put_line(b, v);
	else
		buf_puts(b, other);
}

/* While it is not known it is left out: the vendor's type has no null here. */
static void
put_usage(struct buf *b, const struct usage *u)
{

	if (u == NULL)
		return;
	buf_printf(b,
	    ",\"usage\":{\"input_tokens\":%" PRIu64
	    ",\"input_tokens_details\":{\"cached_tokens\":%" PRIu64
	    ",\"cache_write_tokens\":0},\"output_tokens\":%" PRIu64
	    ",\"output_tokens_details\":{\"reasoning_tokens\":%" PRIu64
	    "},\"total_tokens\":%" PRIu64 "}",
	    u->input + u->cached, u->cached, u->output, u->reasoning,
	    u->input + u->cached + u->output);
}

static void
put_error(struct buf *b, const struct response *r)
{

	buf_puts(b, ",\"error\":");
	if (r->error_code != NULL) {
		buf_printf(b, "{\"code\":\"%s\",\"message\":", r->error_code);
		jput_str(b, r->error_message);
		buf_puts(b, "}");
	} else
		buf_puts(b, "null");
	buf_puts(b, ",\"incomplete_details\":");
	if (r->reason != NULL)
		buf_printf(b, "{\"reason\":\"%s\"}", r->reason);
	else
		buf_puts(b, "null");
}

/* A member that clients take to be there, whatever was sent of it. */
static void
put_reasoning(struct buf *b, const struct talk *t)
{
	struct jspan asked, v;
	int has = reader_member(t->asked, "reasoning", &asked);

	buf_puts(b, ",\"reasoning\":{\"effort\":");
	if (has && reader_member(asked, "effort", &v))
		put_line(b, v);
	else
		buf_puts(b, "null");
	buf_puts(b, ",\"summary\":");
	if (has && reader_member(asked, "summary", &v))
		put_line(b, v);
	else
		buf_puts(b, "null");
	buf_puts(b, "}");
}

int
response_put(struct buf *b, const struct response *r, const struct talk *t)
{

	buf_printf(b,
	    "{\"id\":\"resp_gw_%s\",\"object\":\"response\","
	    "\"created_at\":%" PRIu64 ",\"status\":\"%s\","
	    "\"background\":false",
	    r->id, t->now, r->status);
	put_error(b, r);
	put_asked(b, t, "instructions", "null");
	put_asked(b, t, "max_output_tokens", "null");
	put_asked(b, t, "max_tool_calls", NULL);
	put_asked(b, t, "metadata", "{}");
	buf_puts(b, ",\"model\":");
	jput_str(b, t->model);
	buf_puts(b, ",\"output\":[");
	if (r->items != NULL && r->items->len > 0)
		buf_put(b, r->items->p, r->items->len);
	buf_puts(b, "]");
	put_asked(b, t, "parallel_tool_calls", "true");
	put_asked(b, t, "previous_response_id", "null");
	put_reasoning(b, t);
	buf_puts(b, ",\"service_tier\":\"default\"");
	put_asked(b, t, "temperature", "1.0");
	put_asked(b, t, "text", "{\"format\":{\"type\":\"text\"}}");
	put_asked(b, t, "tool_choice", "\"auto\"");
	put_asked(b, t, "tools", "[]");
	put_asked(b, t, "top_p", "1.0");
	put_asked(b, t, "truncation", "\"disabled\"");
	put_usage(b, r->usage);
	put_asked(b, t, "user", NULL);
	return (buf_puts(b, "}"));
}
