#include <string.h>

#include "base/buf.h"
#include "base/jput.h"

#include "speech/pick.h"
#include "speech/reader.h"
#include "speech/unecho.h"
#include "speech/wire_put.h"

#define CODE_MAX 65536  /* Of a program that is told of. */
#define CALL_ID_SIZE 64 /* Of an id of ours. */

int
unecho_may(const char *p, size_t len)
{

	return (memmem(p, len, "_gw_", 4) != NULL ||
	    memmem(p, len, "gw_unsigned", 11) != NULL);
}

/* Does the string member ${key} of ${o} begin so?  Then write it. */
static int
begins(struct jspan o, const char *key, const char *with,
    char s[static CALL_ID_SIZE])
{
	const size_t len = strlen(with);
	struct jspan v;

	if (!reader_member(o, key, &v) || !pick_is(v, '"') ||
	    v.len - 2 >= CALL_ID_SIZE || v.len - 2 < len ||
	    memcmp(v.p + 1, with, len) != 0)
		return (0);
	memcpy(s, v.p + 1, v.len - 2);
	s[v.len - 2] = '\0';
	return (1);
}

/* ---- A run as text */

static void
put_code(struct buf *b, struct jspan code)
{
	struct buf plain = BUF_INIT(CODE_MAX);

	if (pick_is(code, '"') && jspan_str(&plain, code) == 0)
		jput_chars(b, plain.p, plain.len);
	else if (!pick_is(code, '"') && code.len <= CODE_MAX)
		jput_chars(b, code.p, code.len);
	else
		buf_puts(b, "(a long program)");
	buf_free(&plain);
}

/* The inside of a JSON string that tells of a run, up to its result. */
static void
put_run(struct buf *b, struct jspan code)
{

	buf_puts(b,
	    "[earlier in this conversation this command was run in a "
	    "sandbox]\\n");
	put_code(b, code);
	buf_puts(b, "\\n[its result]\\n");
}

/* ---- Messages */

static int
is_result(struct jspan v)
{
	static const char end[] = "_tool_result\"";
	const size_t len = sizeof(end) - 1;
	struct jspan type;

	return (reader_member(v, "type", &type) && type.len > len &&
	    memcmp(type.p + type.len - len, end, len) == 0);
}

static int
is_type(struct jspan v, const char *type)
{
	struct jspan x;

	return (reader_member(v, "type", &x) && jspan_is(x, type));
}

/* Whose a block is. */
enum block { OTHERS, CALLERS, RUN, RESULT, THOUGHT };

static enum block
block_of(struct jspan v, char id[static CALL_ID_SIZE])
{

	if (is_type(v, "server_tool_use") &&
	    begins(v, "id", "srvtoolu_gw_", id))
		return (RUN);
	if (is_result(v) && begins(v, "tool_use_id", "srvtoolu_gw_", id))
		return (RESULT);
	if (is_type(v, "thinking") && begins(v, "signature", "gw_", id))
		return (THOUGHT);
	return (is_type(v, "tool_use") ? CALLERS : OTHERS);
}

/* Who made the caller's call ${v}, if that was code of ours. */
static int
by_our_code(struct jspan v, struct jspan *caller)
{
	char id[CALL_ID_SIZE];

	return (is_type(v, "tool_use") && reader_member(v, "caller", caller) &&
	    begins(*caller, "tool_id", "srvtoolu_gw_", id));
}

/* A provider knows no code of ours: there the model made the call. */
static void
put_callers(struct buf *b, struct jspan v)
{
	struct jspan_edit edit = {.text = TEXT_LIT("{\"type\":\"direct\"}")};

	put_comma(b);
	if (!by_our_code(v, &edit.at))
		buf_put(b, v.p, v.len);
	else if (jspan_splice(b, v, &edit, 1))
		b->spoiled = 1;
}

static int
has_ours(struct jspan content)
{
	char id[CALL_ID_SIZE];
	struct jspan_iter it;
	struct jspan v, x;
	enum block k;

	if (jspan_iter(&it, content) || it.object)
		return (0);
	while (jspan_next(&it, NULL, &v))
		if (((k = block_of(v, id)) != OTHERS && k != CALLERS) ||
		    by_our_code(v, &x))
			return (1);
	return (0);
}

static void
put_run_block(struct buf *b, struct jspan v, const char *id, unecho_fn *result,
    void *cookie)
{
	struct text x = TEXT_LIT("(result not available)");
	struct jspan input = {"{}", 2}, code, path;

	(void)reader_member(v, "input", &input);
	result(cookie, id, &x, &input);
	code = input; /* All of it, if it is the editor's. */
	if (!reader_member(input, "path", &path) &&
	    !reader_member(input, "code", &code))
		(void)reader_member(input, "command", &code);
	put_comma(b);
	buf_puts(b, "{\"type\":\"text\",\"text\":\"");
	put_run(b, code);
	jput_chars(b, x.p, x.len);
	buf_puts(b, "\"}");
}

int
unecho_messages(
    struct buf *b, struct jspan content, unecho_fn *result, void *cookie)
{
	char id[CALL_ID_SIZE];
	struct jspan_iter it;
	struct jspan v;
	size_t begun;
	int callers;

	if (!has_ours(content))
		return (0);
	buf_puts(b, "[");
	begun = b->len;
	/* The caller's own calls come last, as the vendor has them. */
	for (callers = 0; callers < 2; callers++) {
		(void)jspan_iter(&it, content);
		while (jspan_next(&it, NULL, &v))
			switch (block_of(v, id)) {
			case RUN:
				if (!callers)
					put_run_block(b, v, id, result, cookie);
				break;
			case OTHERS:
			case CALLERS:
				if (callers != is_type(v, "tool_use"))
					break;
				put_callers(b, v);
				break;
			case RESULT:
			case THOUGHT:
				break;
			}
	}
	if (b->len == begun)
		buf_puts(b, "{\"type\":\"text\",\"text\":\"(no text)\"}");
	buf_puts(b, "]");
	return (buf_ok(b) ? 1 : -1);
}

/* ---- Responses */

/* The item of a run as a message of the assistant's. */
static void
put_run_item(struct buf *b, struct jspan v)
{
	struct jspan code = {"\"\"", 2}, list, o, logs;
	struct jspan_iter it;
	int any = 0;

	(void)reader_member(v, "code", &code);
	buf_puts(b,
	    "{\"type\":\"message\",\"role\":\"assistant\",\"content\":"
	    "[{\"type\":\"output_text\",\"text\":\"");
	put_run(b, code);
	if (reader_member(v, "outputs", &list) && jspan_iter(&it, list) == 0)
		while (jspan_next(&it, NULL, &o))
			if (reader_member(o, "logs", &logs) &&
			    pick_is(logs, '"')) {
				any = 1;
				put_code(b, logs);
			}
	if (!any)
		buf_puts(b, "(result not available)");
	buf_puts(b, "\"}]}");
}

/* The member "id" of ${v}, with the comma that goes with it. */
static struct jspan
id_of(struct jspan v)
{
	const char *from = NULL, *before = NULL;
	struct jspan_iter it;
	struct jspan key, x;

	(void)jspan_iter(&it, v);
	while (jspan_next(&it, &key, &x)) {
		if (from != NULL) /* Up to the next one. */
			return ((struct jspan){from, (size_t)(key.p - from)});
		if (!jspan_is(key, "id")) {
			before = x.p + x.len;
			continue;
		}
		from = key.p;
		v.p = x.p + x.len;
	}
	if (before != NULL) /* The last: with what stands before it. */
		from = before;
	return ((struct jspan){from, (size_t)(v.p - from)});
}

static int
is_our_item(struct jspan v)
{
	static const char *const forms[] = {
	    "ci_gw_", "msg_gw_", "fc_gw_", "rs_gw_", "ctc_gw_"};
	char id[CALL_ID_SIZE];
	size_t i;

	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (begins(v, "id", forms[i], id))
			return (1);
	return (0);
}

int
unecho_item(struct buf *b, struct jspan v, struct jspan *at)
{

	*at = v;
	if (!is_our_item(v))
		return (0);
	if (is_type(v, "code_interpreter_call"))
		put_run_item(b, v);
	else if (!is_type(v, "reasoning"))
		*at = id_of(v);
	return (buf_ok(b) ? 1 : -1);
}
