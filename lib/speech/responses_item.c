#include <inttypes.h>
#include <string.h>

#include "base/jput.h"

#include "data/response.h"

#include "speech/dialect.h"
#include "speech/outcome.h"
#include "speech/responses_item.h"

static const char *const prefixes[] = {
    [ITEM_MESSAGE] = "msg_gw_",
    [ITEM_REASONING] = "rs_gw_",
    [ITEM_FUNCTION] = "fc_gw_",
    [ITEM_CUSTOM] = "ctc_gw_",
    [ITEM_RUN] = "ci_gw_",
};

static const char *const words[] = {
    [ITEM_OPEN] = "in_progress",
    [ITEM_DONE] = "completed",
    [ITEM_CUT] = "incomplete",
    [ITEM_FAILED] = "failed",
};

const char *
item_prefix(enum item_kind kind)
{

	return (prefixes[kind]);
}

const char *
item_id_bare(const char *id)
{
	static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
	size_t i, n;

	for (i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		n = strlen(prefixes[i]);
		if (strncmp(id, prefixes[i], n) == 0 &&
		    strlen(id + n) == RESPONSE_IDLEN &&
		    strspn(id + n, digits) == RESPONSE_IDLEN)
			return (id + n);
	}
	return (NULL);
}

static void
put_container(struct buf *b, const struct talk *t)
{

	buf_puts(b, "cntr_gw_");
	if (t->container != NULL)
		buf_puts(b, t->container->id);
}

static void
put_body(struct buf *b, const struct item *it)
{

	if (it->status == ITEM_OPEN)
		buf_puts(b, "\"\"");
	else
		jput_text(b, it->body.p, it->body.len);
}

int
item_put_part(struct buf *b, const struct item *it)
{

	if (it->kind == ITEM_REASONING) {
		buf_puts(b, "{\"type\":\"reasoning_text\",\"text\":");
		put_body(b, it);
		return (buf_puts(b, "}"));
	}
	buf_puts(b, "{\"type\":\"output_text\",\"text\":");
	put_body(b, it);
	buf_puts(b, ",\"annotations\":[");
	if (it->annotations.len > 0)
		buf_put(b, it->annotations.p, it->annotations.len);
	return (buf_puts(b, "],\"logprobs\":[]}"));
}

/* The list of the item's content: empty until it is done. */
static void
put_content(struct buf *b, const struct item *it)
{

	buf_puts(b, "[");
	if (it->status != ITEM_OPEN)
		item_put_part(b, it);
	buf_puts(b, "]");
}

static void
put_call(struct buf *b, const struct item *it)
{
	int custom = it->kind == ITEM_CUSTOM;

	buf_printf(b, "{\"type\":\"%s\",\"id\":\"%s\",\"call_id\":",
	    custom ? "custom_tool_call" : "function_call", it->id);
	jput_str(b, it->call_id);
	buf_puts(b, ",\"name\":");
	jput_str(b, it->name);
	buf_puts(b, custom ? ",\"input\":" : ",\"arguments\":");
	put_body(b, it);
	buf_printf(b, ",\"status\":\"%s\"}", words[it->status]);
}

static void
put_run(struct buf *b, const struct item *it, const struct talk *t)
{

	buf_printf(b,
	    "{\"type\":\"code_interpreter_call\",\"id\":\"%s\","
	    "\"status\":\"%s\",\"code\":",
	    it->id, words[it->status]);
	put_body(b, it);
	buf_puts(b, ",\"container_id\":\"");
	put_container(b, t);
	buf_puts(b, "\",\"outputs\":");
	if (it->outputs.len > 0)
		buf_put(b, it->outputs.p, it->outputs.len);
	else
		buf_puts(b, "null");
	buf_puts(b, "}");
}

int
item_put(struct buf *b, const struct item *it, const struct talk *t)
{

	switch (it->kind) {
	case ITEM_MESSAGE:
		buf_printf(b,
		    "{\"type\":\"message\",\"id\":\"%s\",\"status\":\"%s\","
		    "\"role\":\"assistant\",\"content\":",
		    it->id, words[it->status]);
		put_content(b, it);
		buf_puts(b, "}");
		break;
	case ITEM_REASONING:
		buf_printf(b,
		    "{\"type\":\"reasoning\",\"id\":\"%s\",\"summary\":[],"
		    "\"content\":",
		    it->id);
		put_content(b, it);
		buf_printf(b, ",\"status\":\"%s\"}", words[it->status]);
		break;
	case ITEM_FUNCTION:
	case ITEM_CUSTOM:
		put_call(b, it);
		break;
	case ITEM_RUN:
		put_run(b, it, t);
		break;
	}
	return (buf_ok(b) ? 0 : -1);
}

/* ---- Files */

/* "cfile_" before our own digits: one of two names of the same file. */
static void
put_file_id(struct buf *b, const char *id)
{
	char printed[FILE_PRINTMAX];

	file_id_print(id, printed);
	if (strncmp(printed, "file-", 5) == 0)
		buf_printf(b, "cfile_%s", printed + 5);
	else
		jput_chars(b, printed, strlen(printed));
}

int
item_put_citation(
    struct buf *b, const struct cited *c, struct text x, const struct talk *t)
{
	struct cite_range r;

	cite_find(x, c->path, &r);
	buf_puts(
	    b, "{\"type\":\"container_file_citation\",\"container_id\":\"");
	put_container(b, t);
	buf_puts(b, "\",\"file_id\":\"");
	put_file_id(b, c->id);
	buf_puts(b, "\",\"filename\":");
	jput_str(b, cite_name(c->path));
	return (buf_printf(
	    b, ",\"start_index\":%zu,\"end_index\":%zu}", r.start, r.end));
}

/* Why nothing, or not all, could be run; NULL: it was. */
static const char *
failure(const struct outcome *o)
{

	switch (o->kind) {
	case OUTCOME_TIMEOUT:
		return ("stopped at the time limit");
	case OUTCOME_UNAVAILABLE:
		return ("sandbox unavailable");
	case OUTCOME_BAD_INPUT:
		return ("the arguments were no JSON with a string \"code\"");
	case OUTCOME_TOO_MANY:
		return ("too many calls in one message");
	case OUTCOME_NO_FILE:
		return ("no such file");
	case OUTCOME_RAN:
	case OUTCOME_VIEW:
	case OUTCOME_CREATE:
	case OUTCOME_REPLACE:
		break;
	}
	return (NULL);
}

/* Does what was printed last end its line? */
static int
ends_line(const struct outcome *o)
{
	struct text x = o->err.len > 0 ? o->err : o->out;

	return (x.len == 0 || x.p[x.len - 1] == '\n');
}

/* An image: itself, or where it can be had. */
static void
put_image(struct buf *b, const struct outcome_file *f, const struct talk *t)
{

	buf_puts(b, ",{\"type\":\"image\",\"url\":\"");
	if (f->data.p != NULL) {
		buf_printf(b, "data:%s;base64,", f->image);
		buf_put(b, f->data.p, f->data.len);
	} else {
		jput_chars(b, t->base, strlen(t->base));
		buf_puts(b, "/v1/containers/");
		put_container(b, t);
		buf_puts(b, "/files/");
		put_file_id(b, f->id);
		buf_puts(b, "/content");
	}
	buf_puts(b, "\"}");
}

int
item_put_outputs(struct buf *b, const struct outcome *o, const struct talk *t)
{
	const struct outcome_file *f;
	const char *why = failure(o);

	buf_puts(b, "[{\"type\":\"logs\",\"logs\":\"");
	jput_chars(b, o->out.p, o->out.len);
	jput_chars(b, o->err.p, o->err.len);
	if (why != NULL) {
		if (!ends_line(o))
			buf_puts(b, "\\n");
		jput_chars(b, why, strlen(why));
	}
	buf_puts(b, "\"}");
	for (f = o->files; f != NULL; f = f->next)
		if (f->image != NULL)
			put_image(b, f, t);
	return (buf_puts(b, "]"));
}
