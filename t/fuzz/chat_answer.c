/*
 * Answers of chat servers of any bytes: no answer, or a Messages answer that is
 * JSON; and their errors, in which nothing of the provider shows.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/conf.h"
#include "base/jspan.h"
#include "base/utf8.h"
#include "speech/messages.h"
#include "speech/model_dialect.h"
#include "speech/refusal.h"
#include "speech/talk.h"
#include "speech/wire_chat.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static char name[] = "p", url[] = "http://gpu7.example/v1", key[] = "sk-key";
static const struct conf_provider provider = {
    .name = name, .base_url = url, .api_key = key};

/* Give a call without an id one, as the turn loop does. */
static int
pass(void *cookie, const struct event *ev)
{
	struct writer *w = cookie;
	struct event copy = *ev;

	if (copy.kind == EVENT_CALL && copy.id == NULL)
		copy.id = "c";
	return (w->event(w, &copy));
}

static void
answer(struct jspan root)
{
	struct arena *mem = arena_new(64 << 20);
	const struct talk talk = {.model = "m", .mem = mem};
	struct writer *w = messages_gather(&talk);
	struct buf b = BUF_INIT(64 << 20);
	struct jspan_info info;

	if (wire_chat_read(NULL, root, pass, w) == 0 &&
	    (w->finish(w, &b) ||
		jspan_check(b.p, b.len, 200, &info) != JSPAN_OK))
		abort();
	w->free(w);
	arena_free(mem);
	buf_free(&b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const int statuses[] = {400, 404, 429, 500};
	const char *text = (const char *)data;
	struct jspan_info info;
	struct refusal why;
	size_t i;

	for (i = 0; i < 4; i++) {
		memset(&why, 0, sizeof(why));
		if (wire_refuse(&provider, statuses[i], "1", text, len, &why) !=
			-1 ||
		    why.message[0] == '\0' ||
		    strstr(why.message, key) != NULL ||
		    strcasestr(why.message, "gpu7.example") != NULL ||
		    !utf8_valid(why.message, strlen(why.message)))
			abort();
	}
	if (jspan_check(text, len, 128, &info) == JSPAN_OK)
		answer(info.root);
	return (0);
}
