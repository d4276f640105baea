/*
 * Streams of chat servers of any bytes: wherever they are cut the same, and
 * what is streamed on is whole events of good JSON, whose blocks follow each
 * other and whose own calls can be parsed.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/conf.h"
#include "base/jspan.h"
#include "http/sse.h"
#include "speech/answer.h"
#include "speech/messages.h"
#include "speech/model_dialect.h"
#include "speech/pick.h"
#include "speech/problem.h"
#include "speech/refusal.h"
#include "speech/talk.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

#define MAX (32U << 20)

static char base_url[] = "http://gpu7.example/v1";
static struct conf_provider provider = {.base_url = base_url};
static const struct talk talk = {.model = "m", .stream = 1};

/* ---- From the server to the client */

/* Pass an event on as the turn loop does. */
static int
pass(void *cookie, const struct event *ev)
{
	struct writer *w = cookie;
	struct event copy = *ev;

	if (copy.kind == EVENT_CALL && copy.id == NULL)
		copy.id = "c";
	if (copy.kind == EVENT_CALL)
		copy.ours = copy.name[0] == 'b';
	return (w->event(w, &copy));
}

/* What the client is sent of an answer that comes in pieces of ${step}. */
static int
answer(const char *p, size_t len, size_t step, struct buf *out)
{
	struct writer *w = messages_stream(&talk, out);
	struct answer *A = answer_new(&provider, pass, w);
	struct refusal why;
	size_t i, n;
	int rc;

	for (i = 0; i < len; i += n) {
		n = len - i < step ? len - i : step;
		if (answer_feed(A, p + i, n) != ANSWER_MORE)
			break;
	}
	if ((rc = answer_end(A, 0, &why)) == 0)
		w->finish(w, out);
	else
		w->fail(w, problem_row(why.kind), why.message, "req_1");
	if (!buf_ok(out))
		abort();
	answer_free(A);
	w->free(w);
	return (rc);
}

/* ---- What the client sees */

struct view {
	uint64_t index; /* Of the block that is open or comes next. */
	int open, ours, over;
	struct buf args;
};

static int
is_object(const struct buf *b)
{
	struct jspan_info info;

	return (b->len > 0 &&
	    jspan_check(b->p, b->len, 512, &info) == JSPAN_OK &&
	    pick_is(info.root, '{'));
}

static void
see_block(struct view *v, struct jspan root, const char *name)
{
	uint64_t index;

	if (pick_u64(pick_member(root, "index"), &index) || index != v->index)
		abort();
	if (strcmp(name, "content_block_start") == 0) {
		if (v->open)
			abort();
		v->open = 1;
		v->ours = jspan_is(
		    pick_member(pick_member(root, "content_block"), "type"),
		    "server_tool_use");
		buf_drop(&v->args, v->args.len);
		return;
	}
	if (!v->open)
		abort();
	if (strcmp(name, "content_block_delta") == 0) {
		(void)jspan_str(&v->args,
		    pick_member(pick_member(root, "delta"), "partial_json"));
		return;
	}
	if (v->ours && !is_object(&v->args))
		abort();
	v->open = 0;
	v->index++;
}

static void
see(struct view *v, const struct sse_event *ev)
{
	struct jspan_info info;

	if (jspan_check(ev->data, ev->len, 512, &info) != JSPAN_OK ||
	    !jspan_is(pick_member(info.root, "type"), ev->name) || v->over)
		abort();
	if (strncmp(ev->name, "content_block_", 14) == 0)
		see_block(v, info.root, ev->name);
	v->over = strcmp(ev->name, "message_stop") == 0 ||
	    strcmp(ev->name, "error") == 0;
}

static void
check(const struct buf *out)
{
	struct view v = {.args = BUF_INIT(MAX)};
	struct sse *sse = sse_new();
	struct sse_event ev;
	const char *p = out->p;
	size_t len = out->len;

	while (sse_next(sse, &p, &len, &ev) == SSE_EVENT)
		see(&v, &ev);
	if (!v.over || sse_end(sse, &ev) != SSE_MORE)
		abort();
	sse_free(sse);
	buf_free(&v.args);
}

/* Where the id that each message has of its own ends. */
static const char *
after_id(const struct buf *out)
{
	const char *p = strstr(out->p, "msg_gw_");

	return (p != NULL ? p + 27 : out->p);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char *text = (const char *)data + 1;
	struct buf one = BUF_INIT(MAX), two = BUF_INIT(MAX);

	if (len < 1)
		return (0);
	provider.reasoning_out = data[0] % 5;
	len--;
	if (answer(text, len, len + 1, &one) !=
		answer(text, len, 1 + data[0] % 7, &two) ||
	    strcmp(after_id(&one), after_id(&two)) != 0)
		abort();
	check(&one);
	check(&two);
	buf_free(&one);
	buf_free(&two);
	return (0);
}
