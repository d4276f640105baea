/*
 * Multipart bodies: whatever they are cut into, the outcome is one and the
 * same.  An input is a line with the Content-Type, a line whose bytes are the
 * sizes of the pieces, and the body.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "http/multipart.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

struct seen {
	struct buf text;
	int open; /* Inside a part. */
};

static void
say(struct buf *b, const char *s, size_t len)
{

	if (s != NULL && s[len] != '\0')
		abort();
	(void)buf_printf(b, "|%d %zu ", s != NULL, len);
	(void)buf_put(b, s, len);
}

static int
on_begin(void *cookie, const struct multipart_part *p)
{
	struct seen *s = cookie;

	if (s->open++)
		abort();
	say(&s->text, p->name, strlen(p->name));
	say(&s->text, p->filename, p->filename_len);
	say(&s->text, p->filename_ext, p->filename_ext_len);
	say(&s->text, p->type, p->type_len);
	(void)buf_puts(&s->text, "\n");
	return (0);
}

static int
on_data(void *cookie, const char *p, size_t len)
{
	struct seen *s = cookie;

	if (!s->open || len == 0)
		abort();
	(void)buf_put(&s->text, p, len);
	return (0);
}

static int
on_end(void *cookie)
{
	struct seen *s = cookie;

	if (s->open-- != 1)
		abort();
	(void)buf_puts(&s->text, "\nend\n");
	return (0);
}

/* Feed ${body}, in one piece if there are no ${sizes}. */
static enum multipart_rc
run(const char *type, const uint8_t *sizes, size_t nsizes, const char *body,
    size_t len, struct seen *s)
{
	const struct multipart_cb cb = {on_begin, on_data, on_end, s, 0};
	struct multipart *M;
	enum multipart_rc rc;
	size_t at, n, i = 0;
	char *piece;

	if ((rc = multipart_new(type, &cb, &M)) != MULTIPART_OK)
		return (rc);
	for (at = 0; at < len && rc == MULTIPART_OK; at += n) {
		n = nsizes == 0 ? len : sizes[i++ % nsizes] + 1U;
		if (n > len - at)
			n = len - at;
		if ((piece = malloc(n)) == NULL)
			abort();
		memcpy(piece, body + at, n);
		rc = multipart_feed(M, piece, n);
		free(piece);
	}
	if (multipart_end(M) == MULTIPART_OK && s->open)
		abort();
	rc = multipart_end(M);
	multipart_free(M);
	return (rc);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct seen whole = {.text = BUF_INIT(1 << 22)};
	struct seen pieces = {.text = BUF_INIT(1 << 22)};
	const uint8_t *end = data + len, *sizes, *body;
	char type[300];

	if ((sizes = memchr(data, '\n', len)) == NULL ||
	    (size_t)(sizes - data) >= sizeof(type))
		return (0);
	memcpy(type, data, (size_t)(sizes - data));
	type[sizes++ - data] = '\0';
	if ((body = memchr(sizes, '\n', (size_t)(end - sizes))) == NULL)
		return (0);
	body++;

	if (run(type, NULL, 0, (const char *)body, (size_t)(end - body),
		&whole) !=
	    run(type, sizes, (size_t)(body - 1 - sizes), (const char *)body,
		(size_t)(end - body), &pieces))
		abort();
	if (whole.text.len != pieces.text.len ||
	    (whole.text.len > 0 &&
		memcmp(whole.text.p, pieces.text.p, whole.text.len) != 0))
		abort();
	buf_free(&whole.text);
	buf_free(&pieces.text);
	return (0);
}
