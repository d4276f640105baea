#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/jput.h"

#include "speech/dialect.h"
#include "speech/messages_block.h"
#include "speech/outcome.h"
#include "speech/talk.h"

static void
put_files(struct buf *b, const struct outcome *o)
{
	const struct outcome_file *f;
	char id[FILE_PRINTMAX];

	for (f = o->files; f != NULL; f = f->next) {
		buf_printf(b, "{\"type\":\"%s_output\",\"file_id\":",
		    our_rows[o->tool].name);
		jput_str(b, file_id_print(f->id, id));
		buf_puts(b, f->next != NULL ? "}," : "}");
	}
}

static void
put_ran(struct buf *b, const struct outcome *o)
{

	buf_printf(
	    b, "{\"type\":\"%s_result\",\"stdout\":", our_rows[o->tool].name);
	jput_text(b, o->out.p, o->out.len);
	buf_puts(b, ",\"stderr\":");
	jput_text(b, o->err.p, o->err.len);
	buf_printf(b, ",\"return_code\":%d,\"content\":[", o->code);
	put_files(b, o);
	buf_puts(b, "]}");
}

static void
put_view(struct buf *b, const struct outcome *o)
{

	buf_printf(b,
	    "{\"type\":\"%s_view_result\",\"file_type\":\"text\","
	    "\"content\":",
	    our_rows[o->tool].name);
	jput_text(b, o->out.p, o->out.len);
	buf_printf(b,
	    ",\"start_line\":%" PRIu64 ",\"num_lines\":%" PRIu64
	    ",\"total_lines\":%" PRIu64 "}",
	    o->start, o->lines, o->total);
}

/* The lines of the change, one string each. */
static void
put_lines(struct buf *b, struct text x)
{
	const char *nl;
	size_t n;

	for (; x.len > 0; x.p += n, x.len -= n) {
		nl = memchr(x.p, '\n', x.len);
		n = nl != NULL ? (size_t)(nl - x.p) : x.len;
		jput_text(b, x.p, n);
		if (nl != NULL)
			n++;
		if (n < x.len)
			buf_puts(b, ",");
	}
}

static void
put_replace(struct buf *b, const struct outcome *o)
{

	buf_printf(b,
	    "{\"type\":\"%s_str_replace_result\",\"old_start\":%" PRIu64
	    ",\"old_lines\":%" PRIu64 ",\"new_start\":%" PRIu64
	    ",\"new_lines\":%" PRIu64 ",\"lines\":[",
	    our_rows[o->tool].name, o->start, o->lines, o->new_start,
	    o->new_lines);
	put_lines(b, o->out);
	buf_puts(b, "]}");
}

static void
put_error(struct buf *b, const struct outcome *o)
{

	buf_printf(b,
	    "{\"type\":\"%s_tool_result_error\",\"error_code\":\"%s\"",
	    our_rows[o->tool].name, outcome_error_name(o->kind));
	if (o->tool == OUR_EDITOR) {
		buf_puts(b, ",\"error_message\":");
		jput_str(b, o->message);
	}
	buf_puts(b, "}");
}

int
messages_put_result(struct buf *b, const char *id, const struct outcome *o)
{

	buf_printf(b, "{\"type\":\"%s_tool_result\",\"tool_use_id\":",
	    our_rows[o->tool].name);
	jput_str(b, id);
	buf_puts(b, ",\"content\":");
	switch (o->kind) {
	case OUTCOME_RAN:
		put_ran(b, o);
		break;
	case OUTCOME_VIEW:
		put_view(b, o);
		break;
	case OUTCOME_CREATE:
		buf_printf(b,
		    "{\"type\":\"%s_create_result\",\"is_file_update\":%s}",
		    our_rows[o->tool].name, o->update ? "true" : "false");
		break;
	case OUTCOME_REPLACE:
		put_replace(b, o);
		break;
	case OUTCOME_TIMEOUT:
	case OUTCOME_UNAVAILABLE:
	case OUTCOME_BAD_INPUT:
	case OUTCOME_TOO_MANY:
	case OUTCOME_NO_FILE:
		put_error(b, o);
		break;
	}
	return (buf_puts(b, "}"));
}

int
messages_put_caller(struct buf *b, const struct event *ev)
{
	/* All that the types of an answer know, whichever was declared. */
	static const char older[] = "code_execution_20250825";
	static const char newest[] = "code_execution_20260120";

	if (ev->run == NULL)
		return (buf_puts(b, "{\"type\":\"direct\"}"));
	buf_printf(b, "{\"type\":\"%s\",\"tool_id\":",
	    strcmp(ev->caller, older) == 0 ? older : newest);
	jput_str(b, ev->run);
	return (buf_puts(b, "}"));
}

static void
put_or_null(struct buf *b, const char *key, int has, uint64_t n)
{

	buf_printf(b, ",\"%s\":", key);
	if (has)
		buf_printf(b, "%" PRIu64, n);
	else
		buf_puts(b, "null");
}

static void
put_details(struct buf *b, const struct usage *u)
{

	buf_puts(b, ",\"output_tokens_details\":");
	if (u->has_reasoning)
		buf_printf(
		    b, "{\"thinking_tokens\":%" PRIu64 "}", u->reasoning);
	else
		buf_puts(b, "null");
}

int
messages_put_usage(struct buf *b, const struct usage *u)
{

	buf_printf(b,
	    "{\"input_tokens\":%" PRIu64 ",\"output_tokens\":%" PRIu64
	    ",\"cache_creation\":null,\"cache_creation_input_tokens\":null",
	    u->input, u->output);
	put_or_null(b, "cache_read_input_tokens", u->has_cached, u->cached);
	buf_puts(b, ",\"inference_geo\":null");
	put_details(b, u);
	return (buf_puts(b,
	    ",\"server_tool_use\":null,"
	    "\"service_tier\":\"standard\",\"speed\":null}"));
}

int
messages_put_delta_usage(struct buf *b, const struct usage *u)
{

	buf_printf(b,
	    "{\"input_tokens\":%" PRIu64 ",\"output_tokens\":%" PRIu64
	    ",\"cache_creation_input_tokens\":null",
	    u->input, u->output);
	put_or_null(b, "cache_read_input_tokens", u->has_cached, u->cached);
	put_details(b, u);
	return (buf_puts(b, ",\"server_tool_use\":null}"));
}

int
messages_put_container(struct buf *b, const struct talk_container *c)
{
	char when[CLOCK_RFC3339_SIZE];

	if (c == NULL)
		return (buf_puts(b, "null"));
	clock_rfc3339(c->expires * 1000, when);
	return (buf_printf(b,
	    "{\"id\":\"container_gw_%s\",\"expires_at\":\"%.19sZ\","
	    "\"skills\":null}",
	    c->id, when));
}

const char *
messages_stop_reason(enum stop s)
{
	static const char *const words[] = {
	    [STOP_END] = "end_turn",
	    [STOP_LENGTH] = "max_tokens",
	    [STOP_CALLS] = "tool_use",
	    [STOP_SEQUENCE] = "stop_sequence",
	    [STOP_FILTER] = "refusal",
	    [STOP_PAUSE] = "pause_turn",
	};

	return (words[s]);
}
