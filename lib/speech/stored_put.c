#include <string.h>

#include "base/buf.h"
#include "base/jput.h"

#include "speech/stored.h"

/* Anthropic's source of the bytes. */
static void
put_base64(struct buf *b, const struct shown *x)
{

	buf_printf(b, "{\"type\":\"base64\",\"media_type\":\"%s\",\"data\":\"",
	    x->mime);
	buf_put(b, x->data.p, x->data.len);
	buf_puts(b, "\"}");
}

/* A text as a JSON string: what names the file, and what it says. */
static void
put_words(struct buf *b, const struct shown *x)
{

	buf_puts(b, "\"");
	jput_chars(b, x->head.p, x->head.len);
	if (x->said.len > 0)
		buf_puts(b, "\\n");
	jput_chars(b, x->said.p, x->said.len);
	buf_puts(b, "\"");
}

/* Anthropic's source of a text; text that is stored as such needs no name. */
static void
put_text_source(struct buf *b, const struct shown *x)
{

	buf_puts(b,
	    "{\"type\":\"text\",\"media_type\":\"text/plain\","
	    "\"data\":");
	if (x->plain && x->said.len > 0)
		jput_text(b, x->said.p, x->said.len);
	else
		put_words(b, x);
	buf_puts(b, "}");
}

static void
put_text_block(struct buf *b, const struct stored *s, const struct shown *x)
{
	const int input =
	    s->form == STORED_INPUT_FILE || s->form == STORED_INPUT_IMAGE;

	buf_printf(
	    b, "{\"type\":\"%s\",\"text\":", input ? "input_text" : "text");
	put_words(b, x);
	buf_puts(b, "}");
}

/* The block "container_upload" becomes one of the file itself. */
static void
put_upload(struct buf *b, const char *name, const struct shown *x)
{

	if (x->as == SHOWN_IMAGE)
		buf_puts(b, "{\"type\":\"image\",\"source\":");
	else {
		buf_puts(b, "{\"type\":\"document\",\"title\":");
		jput_str(b, name);
		buf_puts(b, ",\"source\":");
	}
	if (x->as == SHOWN_TEXT)
		put_text_source(b, x);
	else
		put_base64(b, x);
	buf_puts(b, "}");
}

/* OpenAI's members that hold the bytes. */
static void
put_members(struct buf *b, const struct stored *s, const char *name,
    const struct shown *x)
{

	buf_printf(b, "\"%s\":\"data:%s;base64,",
	    s->form == STORED_INPUT_IMAGE ? "image_url" : "file_data", x->mime);
	buf_put(b, x->data.p, x->data.len);
	buf_puts(b, "\"");
	if (s->form == STORED_INPUT_IMAGE || s->named)
		return;
	buf_puts(b, ",\"filename\":");
	jput_str(b, name);
}

int
stored_put(const struct stored *s, const char *name, const struct shown *x,
    struct buf *b, struct jspan *at)
{
	const int anthropic =
	    s->form == STORED_IMAGE || s->form == STORED_DOCUMENT;

	*at = s->block;
	if (s->form == STORED_UPLOAD)
		put_upload(b, name, x);
	else if (x->as != SHOWN_TEXT && anthropic) {
		*at = s->source;
		put_base64(b, x);
	} else if (s->form == STORED_DOCUMENT) {
		*at = s->source;
		put_text_source(b, x);
	} else if (x->as != SHOWN_TEXT) {
		*at = s->member;
		put_members(b, s, name, x);
	} else
		put_text_block(b, s, x);
	return (buf_ok(b) ? 0 : -1);
}

int
stored_put_text(
    const struct stored *s, const char *text, struct buf *b, struct jspan *at)
{
	const struct shown x = {.head = {text, strlen(text)}};

	*at = s->block;
	put_text_block(b, s, &x);
	return (buf_ok(b) ? 0 : -1);
}
