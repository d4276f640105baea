#ifndef REQUEST_H_
#define REQUEST_H_

/*
 * What the fuzz targets of the callers' dialects share: a request of any bytes
 * is refused with a position and words, or written to the chat wire as JSON in
 * which every call has its result right after it and no result stands alone.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/jspan.h"
#include "base/utf8.h"
#include "speech/outcome.h"
#include "speech/refusal.h"
#include "speech/talk.h"
#include "speech/wire_chat.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

typedef int request_read(struct jspan, struct talk *, struct refusal *);

/* What run/ does before a model is asked. */
static void
settle(struct talk *t)
{
	static const struct outcome_bounds bounds = {20, 1000, 100};
	struct buf b = BUF_INIT(1 << 20);
	struct turn *u;
	struct part *p;

	for (u = t->first; u != NULL; u = u->next)
		for (p = u->first; p != NULL; p = p->next) {
			if (p->outcome == NULL)
				continue;
			buf_drop(&b, b.len);
			if (outcome_text(&b, p->outcome, &bounds) ||
			    talk_text(t, b.p, b.len, &p->text))
				abort();
		}
	buf_free(&b);
}

/* How many calls the message ${m} makes. */
static size_t
calls_in(struct jspan m)
{
	struct jspan_iter it;
	struct jspan v;
	size_t n = 0;

	if (jspan_get(m, "tool_calls", &v) == 0)
		return (0);
	for (jspan_iter(&it, v); jspan_next(&it, NULL, &v);)
		n++;
	return (n);
}

static void
check(const struct buf *b)
{
	struct jspan_info info;
	struct jspan list, m, role;
	struct jspan_iter it;
	size_t open = 0;

	if (jspan_check(b->p, b->len, 200, &info) != JSPAN_OK ||
	    jspan_get(info.root, "messages", &list) != 1)
		abort();
	for (jspan_iter(&it, list); jspan_next(&it, NULL, &m);) {
		if (jspan_get(m, "role", &role) != 1)
			abort();
		if (jspan_is(role, "tool")) {
			if (open-- == 0)
				abort();
			continue;
		}
		if (open != 0)
			abort();
		open = calls_in(m);
	}
	if (open != 0)
		abort();
}

static void
request_translate(request_read *read, struct jspan root, unsigned int ours)
{
	static const struct conf_provider provider;
	static const struct round r = {.provider = &provider, .model = "m"};
	struct arena *mem = arena_new(64 << 20);
	struct talk *t = talk_new(mem);
	struct refusal why = {.kind = P_COUNT};
	struct buf b = BUF_INIT(64 << 20);

	t->ours = ours;
	if (read(root, t, &why)) {
		if (why.kind == P_COUNT || why.message[0] == '\0' ||
		    !utf8_valid(why.message, strlen(why.message)))
			abort();
	} else {
		settle(t);
		if (wire_chat_write(&b, t, &r))
			abort();
		check(&b);
	}
	buf_free(&b);
	arena_free(mem);
}

/* The request of ${len} bytes at ${data}, without code and with ${ours}. */
static int
request_fuzz(
    request_read *read, const uint8_t *data, size_t len, unsigned int ours)
{
	struct jspan_info info;

	if (jspan_check((const char *)data, len, 128, &info) != JSPAN_OK ||
	    info.root.p[0] != '{')
		return (0);
	request_translate(read, info.root, 0);
	request_translate(read, info.root, ours);
	return (0);
}

#endif /* !REQUEST_H_ */
