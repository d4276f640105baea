/*
 * Requests of any bytes that name stored files: what they become with the files
 * in their places is JSON still, and names no file of ours any more where a
 * provider can be given one.  And replies that name a provider's own.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/jspan.h"
#include "speech/held.h"
#include "speech/stored.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

#define EDITS 64

static struct shown shown[] = {
    {.as = SHOWN_IMAGE, .mime = "image/png", .data = TEXT_LIT("iVBO")},
    {.as = SHOWN_PDF, .mime = "application/pdf", .data = TEXT_LIT("JVBE")},
    {.as = SHOWN_TEXT,
	.mime = "text/csv",
	.head = TEXT_LIT("[file \"a\"]"),
	.said = TEXT_LIT("a\n\"b\"")},
};

struct changes {
	struct jspan_edit list[EDITS];
	struct buf text[EDITS];
	size_t n;
};

static int
see(void *cookie, const struct stored *s)
{
	struct changes *c = cookie;
	struct jspan at;
	size_t i = c->n;

	if (memchr(s->where, '\0', sizeof(s->where)) == NULL)
		abort();
	if (s->form == STORED_CITED || s->form == STORED_MADE ||
	    s->form == STORED_OTHER || i == EDITS)
		return (0);
	c->text[i] = (struct buf)BUF_INIT(65536);
	if (stored_put(s, "a \"b\"", &shown[i % 3], &c->text[i], &at))
		abort();
	/* A file inside another's block goes with it. */
	if (i > 0 && at.p < c->list[i - 1].at.p + c->list[i - 1].at.len) {
		buf_free(&c->text[i]);
		return (0);
	}
	c->list[c->n++] =
	    (struct jspan_edit){at, {c->text[i].p, c->text[i].len}};
	return (0);
}

/* What a reply names has the form that was asked for. */
static int
hear(void *cookie, const struct held *h)
{

	(void)cookie;
	if (h->id.p[0] != '"' ||
	    (h->name.p[0] == '"' && h->container.p[0] != '"'))
		abort();
	return (0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const struct jspan text = {(const char *)data, len};
	struct buf b = BUF_INIT(64 << 20);
	struct changes c = {.n = 0};
	struct jspan_info info;
	size_t i;

	if (jspan_check(text.p, len, 128, &info) != JSPAN_OK)
		return (0);
	(void)stored_each(info.root, (int)(len & 1), see, &c);
	(void)held_each(info.root, hear, NULL);
	if (jspan_splice(&b, text, c.list, c.n) ||
	    jspan_check(b.p, b.len, 130, &info) != JSPAN_OK)
		abort();
	for (i = 0; i < c.n; i++)
		buf_free(&c.text[i]);
	buf_free(&b);
	return (0);
}
