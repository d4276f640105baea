#include <inttypes.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/jput.h"

#include "speech/dialect.h"
#include "speech/model_card.h"

static void
put_openai(struct buf *b, const struct model_card *c)
{

	buf_puts(b, "{\"id\":");
	jput_str(b, c->id);
	buf_printf(b,
	    ",\"object\":\"model\",\"created\":%" PRIu64
	    ",\"owned_by\":\"gateway\"",
	    c->created);
	/* As vLLM says it. */
	if (c->max_input != 0)
		buf_printf(b, ",\"max_model_len\":%" PRIu64, c->max_input);
	buf_puts(b, "}");
}

static void
put_count(struct buf *b, const char *key, uint64_t n)
{

	if (n == 0)
		buf_printf(b, ",\"%s\":null", key);
	else
		buf_printf(b, ",\"%s\":%" PRIu64, key, n);
}

static void
put_anthropic(struct buf *b, const struct model_card *c)
{
	char when[CLOCK_RFC3339_SIZE];

	clock_rfc3339(c->created * 1000, when);
	buf_puts(b, "{\"type\":\"model\",\"id\":");
	jput_str(b, c->id);
	buf_puts(b, ",\"display_name\":");
	jput_str(b, c->name != NULL ? c->name : c->id);
	buf_printf(b, ",\"created_at\":\"%s\"", when);
	put_count(b, "max_input_tokens", c->max_input);
	put_count(b, "max_tokens", c->max_output);
	buf_puts(b,
	    ",\"capabilities\":null,\"deprecated_at\":null,"
	    "\"lifecycle\":\"active\",\"line\":null,\"retires_at\":null}");
}

int
model_card_put(
    struct buf *b, const struct dialect *d, const struct model_card *c)
{

	if (d == &dialect_anthropic)
		put_anthropic(b, c);
	else
		put_openai(b, c);
	return (buf_ok(b) ? 0 : -1);
}

int
model_cards_put(struct buf *b, const struct dialect *d,
    const struct model_card *cards, size_t n, int has_more)
{
	size_t i;

	buf_puts(b, d->list_begin);
	for (i = 0; i < n; i++) {
		if (i > 0)
			buf_puts(b, ",");
		(void)model_card_put(b, d, &cards[i]);
	}
	buf_puts(b, has_more ? "],\"has_more\":true" : "],\"has_more\":false");
	buf_puts(b, ",\"first_id\":");
	jput_str(b, n > 0 ? cards[0].id : NULL);
	buf_puts(b, ",\"last_id\":");
	jput_str(b, n > 0 ? cards[n - 1].id : NULL);
	buf_puts(b, "}");
	return (buf_ok(b) ? 0 : -1);
}
